// A thread as branches: the path from the root to a turn, as one range of places per branch.
import type { CompactionRecord } from "../../../../core/ledger/compaction-record.ts";
import type { ModelName, ThreadOf } from "../../../../core/ledger/ledger.ts";
import type { TurnFoundation } from "../../../../core/ledger/turn-record.ts";
import { integer, jsonOrNull, text, textOrNull } from "../../sql/read-row.ts";
import { compactionColumns, toCompaction } from "../compactions/compaction-rows.ts";
import { needSession } from "../sessions/session-rows.ts";
import { notFound, seqStep, type Store } from "../store.ts";
import type { TurnPlace } from "../turns/turn-rows.ts";

/** Turns of one branch, both ends included. */
export interface Segment {
  readonly branchId: number;
  readonly from: number;
  readonly through: number;
}

/** The branches from a turn up to the root, nearest first. */
const path = `WITH RECURSIVE path (branch_id, through, depth) AS (
  SELECT branch_id, seq, 0 FROM turns WHERE id = ?
  UNION ALL
  SELECT b.parent_branch_id, b.fork_seq, p.depth + 1 FROM path p JOIN branches b ON b.id = p.branch_id WHERE b.parent_branch_id IS NOT NULL
)`;

/** The last turn of a thread. Null if a session has none yet. */
export async function endOf(store: Store, of: ThreadOf): Promise<string | null> {
  if ("sessionId" in of) return (await needSession(store, of.sessionId)).record.headTurnId;
  const [row] = await store.database.query("SELECT 1 AS found FROM turns WHERE id = ?", [
    of.turnId,
  ]);
  if (row === undefined) throw notFound(`turn ${of.turnId}`);
  return of.turnId;
}

export async function wholePath({ database }: Store, turnId: string): Promise<readonly Segment[]> {
  const rows = await database.query(
    `${path} SELECT branch_id, through FROM path ORDER BY depth DESC`,
    [turnId],
  );
  let from = 0;
  return rows.map((row) => {
    const segment = { branchId: integer(row, "branch_id"), from, through: integer(row, "through") };
    // Places continue from the fork.
    from = segment.through + 1;
    return segment;
  });
}

/** Whether a completed turn is on the path to another one. */
export async function isOnPath(store: Store, turnId: string, end: string): Promise<boolean> {
  const [row] = await store.database.query(
    "SELECT branch_id, seq FROM turns WHERE id = ? AND status = 'completed'",
    [turnId],
  );
  if (row === undefined) return false;
  const [branchId, seq] = [integer(row, "branch_id"), integer(row, "seq")];
  return (await wholePath(store, end)).some(
    (segment) => segment.branchId === branchId && seq >= segment.from && seq <= segment.through,
  );
}

/** The latest compaction on the path to a turn. Null for none. */
export async function latestCompaction(
  { database }: Store,
  turnId: string | null,
): Promise<CompactionRecord | null> {
  if (turnId === null) return null;
  const [row] = await database.query(
    `${path} SELECT ${compactionColumns} FROM path p
      JOIN turns t ON t.branch_id = p.branch_id AND t.seq <= p.through AND t.turn_type = 'compaction' AND t.status = 'completed'
      JOIN compactions_v1 c ON c.turn_id = t.id
      ORDER BY p.depth, t.seq DESC LIMIT 1`,
    [turnId],
  );
  return row === undefined ? null : toCompaction(row);
}

export async function findCompaction(store: Store, of: ThreadOf): Promise<CompactionRecord | null> {
  return latestCompaction(store, await endOf(store, of));
}

export async function readCompactions(
  { database }: Store,
  sessionId: string,
  limit = 20,
): Promise<readonly CompactionRecord[]> {
  const rows = await database.query(
    `SELECT ${compactionColumns} FROM compactions_v1 c WHERE c.session_id = ? ORDER BY c.compacted_at DESC, c.turn_id DESC LIMIT ?`,
    [sessionId, limit],
  );
  return rows.map(toCompaction);
}

/** The foundation that a turn on the path, or its end, brought for a model since the latest compaction. */
export async function findFoundation(
  store: Store,
  of: ThreadOf,
  { model, provider }: ModelName,
): Promise<TurnFoundation | null> {
  const turnId = await endOf(store, of);
  if (turnId === null) return null;
  const [row] = await store.database.query(
    `${path} SELECT t.id, t.foundation_hash, t.setup_json FROM path p
      JOIN turns t ON t.branch_id = p.branch_id AND t.seq <= p.through
      WHERE (t.turn_type = 'compaction' AND t.status = 'completed')
        OR (t.foundation_hash IS NOT NULL AND t.model = ? AND t.provider = ? AND (t.status = 'completed' OR t.id = ?))
      ORDER BY p.depth, t.seq DESC LIMIT 1`,
    [turnId, model, provider, turnId],
  );
  const foundationHash = row === undefined ? null : textOrNull(row, "foundation_hash");
  if (row === undefined || foundationHash === null) return null;
  return { turnId: text(row, "id"), foundationHash, setupJson: jsonOrNull(row, "setup_json") };
}

export interface KeptPath {
  readonly segments: readonly Segment[];
  /** The turn whose messages before an index are hidden too. Null if all turns are complete. */
  readonly cut: TurnCut | null;
}

export interface TurnCut extends TurnPlace {
  readonly index: number;
}

/** What a compaction keeps of a path: from the first kept turn on, or after what it summarized. */
export async function keptPath(
  { database }: Store,
  segments: readonly Segment[],
  compaction: CompactionRecord,
): Promise<KeptPath> {
  const start = compaction.firstKeptTurnId ?? compaction.summarizedThroughTurnId;
  const [row] = await database.query("SELECT branch_id, seq FROM turns WHERE id = ?", [start]);
  if (row === undefined) throw notFound(`turn ${start}, which a compaction refers to`);
  const [branchId, seq] = [integer(row, "branch_id"), integer(row, "seq")];
  const from = compaction.firstKeptTurnId === null ? seq + 1 : seq;
  const at = segments.findIndex((segment) => segment.branchId === branchId);
  // A turn that was compacted while it ran may be off the path: it failed, or the path left its branch before.
  return {
    segments: segments
      .slice(Math.max(at, 0))
      .map((segment, index) => (index === 0 && at !== -1 ? { ...segment, from } : segment)),
    cut:
      compaction.firstKeptIndex === 0 ? null : { branchId, seq, index: compaction.firstKeptIndex },
  };
}

/** Cuts a path into pages of at most `turnsMax` turns, so that reading any thread takes little memory. */
export function pagesOf(
  segments: readonly Segment[],
  turnsMax: number,
): readonly (readonly Segment[])[] {
  const pages: Segment[][] = [];
  let page: Segment[] = [];
  let room = turnsMax;
  for (const { branchId, from, through } of segments) {
    for (let start = from; start <= through;) {
      const end = Math.min(through, start + room * seqStep - 1);
      page.push({ branchId, from: start, through: end });
      room -= Math.ceil((end - start + 1) / seqStep);
      start = end + 1;
      if (room > 0) continue;
      pages.push(page);
      page = [];
      room = turnsMax;
    }
  }
  return page.length === 0 ? pages : [...pages, page];
}
