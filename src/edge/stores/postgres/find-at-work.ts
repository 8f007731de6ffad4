// Which connections the server works for just now, asked over a connection of its own.
import type { Client } from "pg";
import type { ResultRow } from "../sql/database.ts";
import { endClient, withinTime } from "./deadline.ts";
import { isServersWord } from "./postgres-errors.ts";

/** Also a server that was told not to say what its connections do counts as one that works. */
const atWorkSql = `SELECT pid FROM pg_stat_activity WHERE pid = ANY ($1::int[])
  AND (state = 'disabled' OR state = 'active' AND wait_event_type IS DISTINCT FROM 'Client')`;

/** By the server's numbers for them; null where it refuses to say. Throws where it cannot be reached. */
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
    // Who is refused was answered.
    if (isServersWord(error)) return null;
    throw error;
  }
}
