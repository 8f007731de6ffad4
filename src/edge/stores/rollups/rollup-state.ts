// How far sums are stored, and which hours changed since.
import type { Database } from "../sql/database.ts";
import { integer, text } from "../sql/read-row.ts";
import { layoutHash } from "./cubes.ts";
import type { Caught } from "./grains.ts";

export interface RollupState extends Caught {
  /** Rows that come to an hour before it leave a mark. */
  readonly targetHour: number;
  readonly version: number;
  /** Whether the sums are told apart as this program does it. If not, they are made again. */
  readonly isOurs: boolean;
}

/** Within a snapshot all of it belongs together. */
export async function readState(query: Database["query"]): Promise<RollupState> {
  const [row] = await query(
    "SELECT position_hour, target_hour, version, bands FROM rollup_state WHERE id = 1",
  );
  const isOurs = row !== undefined && text(row, "bands") === layoutHash;
  const positionHour = isOurs ? integer(row, "position_hour") : 0;
  const stale = await query("SELECT DISTINCT hour FROM changed_hours WHERE hour < ?", [
    positionHour,
  ]);
  return {
    positionHour,
    targetHour: row === undefined ? 0 : integer(row, "target_hour"),
    staleHours: new Set(stale.map((each) => integer(each, "hour"))),
    version: row === undefined ? 0 : integer(row, "version"),
    isOurs,
  };
}
