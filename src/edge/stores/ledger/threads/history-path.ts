// A session's thread as numbered turns, and what compactions hide of it.
import type { Statement } from "../../sql/database.ts";
import { integer, text } from "../../sql/read-row.ts";
import { needSession } from "../sessions/session-rows.ts";
import type { Store } from "../store.ts";
import {
  keptPath,
  latestCompaction,
  wholePath,
  type Segment,
  type TurnCut,
} from "./thread-path.ts";
import { rangesSql, rangeValues } from "./threads.ts";
import type { TurnPlace } from "../turns/turn-rows.ts";

export interface HistoryPath {
  /** In order. The first has number 1. */
  readonly turns: readonly NumberedTurn[];
  /** The open turn is included as far as it got. */
  readonly openTurnId: string | null;
  /** Null if no compaction hides anything. */
  readonly hidden: Hidden | null;
}

export interface NumberedTurn extends TurnPlace {
  readonly id: string;
  readonly number: number;
}

export interface Hidden {
  readonly segments: readonly Segment[];
  /** The turn whose messages before an index are hidden. Null for none. */
  readonly cut: TurnCut | null;
}

export async function readHistoryPath(store: Store, sessionId: string): Promise<HistoryPath> {
  const { record } = await needSession(store, sessionId);
  const { openTurnId } = record;
  const end = openTurnId ?? record.headTurnId;
  if (end === null) return { turns: [], openTurnId, hidden: null };
  const segments = await wholePath(store, end);
  const rows = await store.database.query(
    `${rangesSql(segments)} SELECT t.id, t.branch_id, t.seq FROM ranges r
      JOIN turns t ON t.branch_id = r.branch_id AND t.seq BETWEEN r.low AND r.high
      WHERE t.turn_type = 'normal' AND (t.status = 'completed' OR t.id = ?) ORDER BY r.number, t.seq`,
    [...rangeValues(segments), openTurnId],
  );
  const turns = rows.map((row, index) => ({
    id: text(row, "id"),
    number: index + 1,
    branchId: integer(row, "branch_id"),
    seq: integer(row, "seq"),
  }));
  const compaction = await latestCompaction(store, end);
  if (compaction === null) return { turns, openTurnId, hidden: null };
  const { segments: kept, cut } = await keptPath(store, segments, compaction);
  return { turns, openTurnId, hidden: { segments: before(segments, kept[0], cut), cut } };
}

/** The part of a path before the kept part, including the turn that is kept in part. */
function before(
  segments: readonly Segment[],
  kept: Segment | undefined,
  cut: TurnCut | null,
): readonly Segment[] {
  const at = segments.findIndex(({ branchId }) => branchId === kept?.branchId);
  return segments
    .slice(0, at === -1 ? segments.length : at + 1)
    .map((segment, index) => {
      if (index !== at || kept === undefined) return segment;
      const last = cut === null ? kept.from - 1 : kept.from;
      return { ...segment, through: Math.min(segment.through, last) };
    })
    .filter(({ from, through }) => from <= through);
}

/** A condition on rows with branch, turn and index: selects the hidden ones. */
export function isHidden(alias: string, { cut }: Hidden): Statement {
  return cut === null
    ? { sql: "1 = 1", values: [] }
    : {
        sql: `NOT (${alias}.branch_id = ? AND ${alias}.turn_seq = ? AND ${alias}.idx >= ?)`,
        values: [cut.branchId, cut.seq, cut.index],
      };
}

/** Numbers hidden messages from the first one, so that their order is known. */
export interface MessagePlaces {
  readonly messageCount: number;
  /** Undefined for a turn that is not on the thread, such as a failed one. */
  readonly turnAt: (branchId: number, seq: number) => PlacedTurn | undefined;
}

interface PlacedTurn extends NumberedTurn {
  /** The position of its first message. */
  readonly position: number;
}

export async function countMessages(
  { database }: Store,
  { turns }: HistoryPath,
  { segments }: Hidden,
): Promise<MessagePlaces> {
  const rows = await database.query(
    `${rangesSql(segments)} SELECT m.branch_id, m.turn_seq, COUNT(*) AS count FROM ranges r
      JOIN message_terms m ON m.branch_id = r.branch_id AND m.turn_seq BETWEEN r.low AND r.high
      WHERE m.part = 0 GROUP BY m.branch_id, m.turn_seq`,
    rangeValues(segments),
  );
  const counts = new Map(
    rows.map((row) => [
      `${integer(row, "branch_id")} ${integer(row, "turn_seq")}`,
      integer(row, "count"),
    ]),
  );
  let messageCount = 0;
  const known = new Map<string, PlacedTurn>();
  for (const turn of turns) {
    const place = `${turn.branchId} ${turn.seq}`;
    known.set(place, { ...turn, position: messageCount });
    messageCount += counts.get(place) ?? 0;
  }
  return { messageCount, turnAt: (branchId, seq) => known.get(`${branchId} ${seq}`) };
}
