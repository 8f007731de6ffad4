// What only the given sessions use: their branches, each cut to what others need.
import type { Deletion } from "../../../../core/ledger/ledger.ts";
import { integer, integerOrNull } from "../../sql/read-row.ts";
import { type Store } from "../store.ts";

/** The deleted part of a branch: everything after a place, and the branch itself if nothing stays. */
export interface Cut {
  readonly branchId: number;
  readonly parentId: number | null;
  /** Null if nothing stays. */
  readonly keepThrough: number | null;
}

/** The branches of these sessions, and ancestors that only they used, each cut to what others need. */
export async function cutsFor(
  { database }: Store,
  ids: readonly string[],
): Promise<readonly Cut[]> {
  const places = ids.map(() => "?").join(", ");
  const rows = await database.query(
    `SELECT DISTINCT branch_id FROM session_history WHERE session_id IN (${places})`,
    ids,
  );
  const cuts = new Map<number, Cut>();
  let open = rows.map((row) => integer(row, "branch_id"));
  while (open.length > 0) {
    const parents = new Set<number>();
    for (const branchId of open) {
      const [others] = await database.query(
        `SELECT COUNT(*) AS count FROM session_history WHERE branch_id = ? AND session_id NOT IN (${places})`,
        [branchId, ...ids],
      );
      if (others === undefined || integer(others, "count") > 0) continue;
      const children = await database.query(
        "SELECT id, fork_seq FROM branches WHERE parent_branch_id = ?",
        [branchId],
      );
      const needed = children
        .filter((child) => cuts.get(integer(child, "id"))?.keepThrough !== null)
        .map((child) => integer(child, "fork_seq"));
      const keepThrough = needed.length === 0 ? null : Math.max(...needed);
      if (cuts.has(branchId) && cuts.get(branchId)?.keepThrough === keepThrough) continue;
      const [branch] = await database.query("SELECT parent_branch_id FROM branches WHERE id = ?", [
        branchId,
      ]);
      const parentId = branch === undefined ? null : integerOrNull(branch, "parent_branch_id");
      cuts.set(branchId, { branchId, parentId, keepThrough });
      if (parentId !== null) parents.add(parentId);
    }
    open = [...parents];
  }
  return childrenFirst([...cuts.values()]);
}

/** A turn can only be deleted after the turns that follow it. */
function childrenFirst(cuts: readonly Cut[]): readonly Cut[] {
  const ordered: Cut[] = [];
  for (let left = cuts; left.length > 0;) {
    const parents = new Set(left.map(({ parentId }) => parentId));
    ordered.push(...left.filter(({ branchId }) => !parents.has(branchId)));
    left = left.filter(({ branchId }) => parents.has(branchId));
  }
  return ordered;
}

export async function countTurns(
  { database }: Store,
  cuts: readonly Cut[],
): Promise<Pick<Deletion, "turns" | "turnsKept">> {
  let turns = 0;
  let turnsKept = 0;
  for (const { branchId, keepThrough } of cuts) {
    const [row] = await database.query(
      "SELECT COUNT(*) AS count, COALESCE(SUM(CASE WHEN seq <= ? AND status = 'completed' THEN 1 ELSE 0 END), 0) AS kept FROM turns WHERE branch_id = ?",
      [keepThrough ?? -1, branchId],
    );
    const kept = row === undefined ? 0 : Number(row["kept"]);
    turnsKept += kept;
    turns += (row === undefined ? 0 : integer(row, "count")) - kept;
  }
  return { turns, turnsKept };
}
