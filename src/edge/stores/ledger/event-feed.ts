// Events in the order in which they became visible, so that who goes on from a position misses none, whichever process wrote it.
import type { StrataEvent } from "../../../core/events/event.ts";
import { isEventType } from "../../../core/events/event-catalogue.ts";
import type { Database, ResultRow } from "../sql/database.ts";
import { integer, integerOrNull, text } from "../sql/read-row.ts";
import { selected } from "../sql/tables.ts";
import { toEvent } from "./event-rows.ts";

export interface PlacedEvent {
  readonly position: number;
  /** Null for a type that a later version of the program wrote. */
  readonly event: StrataEvent | null;
}

export interface FeedEnds {
  /** The first event that is kept; null if there is none. */
  readonly oldest: number | null;
  /** The last one that is visible, for who begins now. */
  readonly newest: number;
  /** Every event up to here is visible or will never be. 0 if there was none yet. */
  readonly settled: number;
}

export interface EventFeed {
  ends(): Promise<FeedEnds>;
  /** After a position and up to a settled one, oldest first. */
  read(range: FeedRange): Promise<readonly PlacedEvent[]>;
}

export interface FeedRange {
  readonly after: number;
  readonly upTo: number;
  readonly limit: number;
}

/** Keeps what it knows of transactions that run, so one is made for a whole connection. */
export function createEventFeed(database: Pick<Database, "kind" | "query">): EventFeed {
  const findEnds = database.kind === "sqlite" ? findNewest : createSettling(database);
  return {
    ends: async () => {
      const found = await findEnds(database);
      const [row] = await database.query("SELECT MIN(position) AS oldest FROM events");
      return { ...found, oldest: row === undefined ? null : integerOrNull(row, "oldest") };
    },
    read: async ({ after, upTo, limit }) => {
      const rows = await database.query(
        `SELECT position, ${selected("events")} FROM events WHERE position > ? AND position <= ? ORDER BY position LIMIT ?`,
        [after, upTo, limit],
      );
      return rows.map(toPlaced);
    },
  };
}

type Newest = Pick<FeedEnds, "newest" | "settled">;

/** One writer at a time: what is visible is in order. */
async function findNewest({ query }: Pick<Database, "query">): Promise<Newest> {
  const [row] = await query(
    "SELECT COALESCE((SELECT seq FROM sqlite_sequence WHERE name = 'events'), 0) AS newest",
  );
  const newest = row === undefined ? 0 : integer(row, "newest");
  return { newest, settled: newest };
}

/** Transactions may end in another order than they took their numbers. Once all that ran at a look have ended, no earlier event can still appear. */
function createSettling({ query }: Pick<Database, "query">): () => Promise<Newest> {
  let settled = 0;
  let waiting: { readonly upTo: number; readonly until: bigint } | null = null;
  return async () => {
    const [row] = await query(
      `SELECT COALESCE((SELECT MAX(position) FROM events), 0) AS newest,
        CAST(pg_snapshot_xmin(s) AS TEXT) AS running_from, CAST(pg_snapshot_xmax(s) AS TEXT) AS next
      FROM (SELECT pg_current_snapshot() AS s) now`,
    );
    if (row === undefined) return { newest: settled, settled };
    const newest = Math.max(settled, integer(row, "newest"));
    const [runningFrom, next] = [BigInt(text(row, "running_from")), BigInt(text(row, "next"))];
    if (waiting !== null && runningFrom >= waiting.until) {
      settled = Math.max(settled, waiting.upTo);
      waiting = null;
    }
    if (runningFrom === next) [settled, waiting] = [newest, null];
    else waiting ??= { upTo: newest, until: next };
    return { newest, settled };
  };
}

function toPlaced(row: ResultRow): PlacedEvent {
  const event = isEventType(text(row, "type")) ? toEvent(row) : null;
  return { position: integer(row, "position"), event };
}
