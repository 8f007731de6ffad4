// Bare PostgreSQL: records the statements of a ledger once and sends them again on one connection.
import { Client } from "pg";
import { composeCommit } from "../../src/edge/stores/postgres/compose-commit.ts";
import { numberPlaces } from "../../src/edge/stores/postgres/to-postgres-sql.ts";
import type { Database } from "../../src/edge/stores/sql/database.ts";
import type { Value } from "../../src/edge/stores/sql/tables.ts";

export interface Sent {
  readonly sql: string;
  readonly values: readonly (Value | readonly Value[])[];
  readonly isCommit: boolean;
}

export interface Recording {
  readonly database: Database;
  taken(): readonly Sent[];
  /** Commits with more than one statement. */
  divided(): number;
}

export function recordSent(database: Database): Recording {
  let sent: Sent[] = [];
  let divided = 0;
  return {
    database: {
      ...database,
      query: (sql, values = []) => {
        sent.push({ sql: numberPlaces(sql), values, isCommit: false });
        return database.query(sql, values);
      },
      commit: (commit) => {
        const whole = composeCommit(commit);
        if (whole === null) divided += 1;
        else sent.push({ ...whole, isCommit: true });
        return database.commit(commit);
      },
    },
    taken: () => {
      const taken = sent;
      sent = [];
      return taken;
    },
    divided: () => divided,
  };
}

export interface BarePostgres {
  send(sent: readonly Sent[]): Promise<void>;
  /** The same for reading; parses every message. */
  read(sent: readonly Sent[]): Promise<number>;
  close(): Promise<void>;
}

export async function openBarePostgres(url: string): Promise<BarePostgres> {
  const client = new Client({ connectionString: url, pipeline: true });
  await client.connect();
  const names = new Map<string, string>();
  const run = ({ sql, values }: Sent): Promise<{ rows: readonly { content?: unknown }[] }> => {
    const name = names.get(sql) ?? `bare_${names.size}`;
    names.set(sql, name);
    return client.query({ name, text: sql, values: values as unknown[] });
  };
  return {
    send: async (sent) => {
      for (const each of sent) await run(each);
    },
    read: async (sent) => {
      let messages = 0;
      for (const each of sent) {
        for (const { content } of (await run(each)).rows) {
          if (typeof content !== "string") continue;
          JSON.parse(content);
          messages += 1;
        }
      }
      return messages;
    },
    close: () => client.end(),
  };
}
