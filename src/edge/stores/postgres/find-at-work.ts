// Asks the server over a separate connection which connections it is working for.
import type { Client } from "pg";
import type { ResultRow } from "../sql/database.ts";
import { endClient, withinTime } from "./deadline.ts";
import { isServersWord } from "./postgres-errors.ts";

/** A server configured to hide activity counts as working. */
const atWorkSql = `SELECT pid FROM pg_stat_activity WHERE pid = ANY ($1::int[])
  AND (state = 'disabled' OR state = 'active' AND wait_event_type IS DISTINCT FROM 'Client')`;

/** By process id. Null if the server refuses to say. Throws if it cannot be reached. */
export async function findAtWork(
  connect: () => Promise<Client>,
  forMs: number,
  pids: readonly number[],
): Promise<ReadonlySet<number> | null> {
  try {
    const client = await connect();
    try {
      const { rows } = await withinTime(client, forMs, () =>
        client.query<ResultRow>(atWorkSql, [pids]),
      );
      return new Set(rows.map(({ pid }) => Number(pid)));
    } finally {
      void endClient(client, forMs);
    }
  } catch (error) {
    // A refusal is also an answer.
    if (isServersWord(error)) return null;
    throw error;
  }
}
