// Runs statements on a connection: prepares repeated ones, and never waits forever for an answer.
import { hashContent } from "../../../core/hash.ts";
import type { Client } from "pg";
import type { ResultRow } from "../sql/database.ts";
import type { NumberedStatement } from "./compose-commit.ts";

import type { SilenceWatch } from "./watch-silence.ts";

/** Sends a statement immediately. Statements sent before an answer share the round trip. */
export type Run = (
  sql: string,
  values?: NumberedStatement["values"],
) => Promise<{ readonly rows: readonly ResultRow[]; readonly rowCount: number }>;

export interface ClientRun {
  readonly run: Run;
  /** Whether the server holds too many prepared statements for this connection. */
  readonly isFull: () => boolean;
}

export function createToRun(watch: SilenceWatch): (client: Client) => ClientRun {
  const nameOf = createStatementNames();
  return (client) => {
    const names = new Set<string>();
    return {
      run: async (sql, values = []) => {
        const name = values.length === 0 ? undefined : nameOf(sql);
        if (name !== undefined) names.add(name);
        const query = name === undefined ? { text: sql } : { text: sql, name };
        const answered = watch.sent(client, () => charactersOf(sql, values));
        try {
          const { rows, rowCount } = await client.query<ResultRow>(query, [...values]);
          return { rows, rowCount: rowCount ?? 0 };
        } finally {
          answered();
        }
      },
      isFull: () => names.size > 2 * namesMax,
    };
  };
}

function charactersOf(sql: string, values: NumberedStatement["values"]): number {
  let characters = sql.length;
  for (const value of values.flat()) characters += typeof value === "string" ? value.length : 8;
  return characters;
}

/** How many statements have a name at a time. */
const namesMax = 200;
const seenMax = 2000;

/** Chooses which statements the server keeps prepared: repeated ones, most recently used. A statement's name is always the same, and
 * undefined for its first use. */
export function createStatementNames(
  limit: number = namesMax,
): (sql: string) => string | undefined {
  /** The least recently used comes first. */
  const names = new Map<string, string>();
  let seen = new Set<string>();
  return (sql) => {
    const known = names.get(sql);
    if (known === undefined && !seen.delete(sql)) {
      if (seen.size >= seenMax) seen = new Set();
      seen.add(sql);
      return undefined;
    }
    const name = known ?? `strata_${hashContent(sql).slice(0, 32)}`;
    names.delete(sql);
    names.set(sql, name);
    const [oldest] = names.keys();
    if (names.size > limit && oldest !== undefined) names.delete(oldest);
    return name;
  };
}
