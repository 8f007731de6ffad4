// Numbers hidden messages from the first one, so that their order is known.
import { integer } from "../../sql/read-row.ts";
import type { Hidden, HistoryPath, NumberedTurn } from "./history-path.ts";
import type { Store } from "../store.ts";
import { rangesSql, rangeValues } from "./threads.ts";

export interface MessagePlaces {
  readonly messageCount: number;
  /** Undefined for a turn that is not on the thread, such as a failed one. */
  readonly turnAt: (branchId: number, seq: number) => PlacedTurn | undefined;
}

export interface PlacedTurn extends NumberedTurn {
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
