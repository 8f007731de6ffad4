// Removes deleted rows from the tables with a VACUUM, which the server may refuse, or which may run too early.
import { setTimeout as wait } from "node:timers/promises";
import { tableNames } from "../sql/tables.ts";
import type { Connections } from "./connections.ts";
import type { Notice } from "./lines.ts";
import type { Address } from "./connection-string.ts";
import { explainFailure } from "./postgres-errors.ts";

/** All tables with content; branches are only numbers. Verbose, to detect a run that was too early. */
const vacuumSql = `VACUUM (VERBOSE) ${[...tableNames, "rollup_names"].filter((name) => name !== "branches").join(", ")}`;

const waitForMs = 1000;

/** Null once deleted rows are gone from the tables. Otherwise why not, and what to do. Never throws. */
export async function scrubTables(
  connections: Pick<Connections, "use">,
  address: Address,
): Promise<string | null> {
  try {
    const endMs = performance.now() + waitForMs;
    const horizon = await readHorizon(connections);
    for (let pauseMs = 20; ; pauseMs *= 2) {
      const { warning, isEarly } = await vacuum(connections, horizon);
      if (warning !== null) return refused(warning);
      if (!isEarly) return null;
      if (performance.now() >= endMs) return tooEarly;
      await wait(pauseMs);
    }
  } catch (error) {
    const { message } = explainFailure(error, address);
    return `the tables could not be vacuumed, so that deleted rows stay in the server's files until autovacuum comes to them, or you run VACUUM: ${message}`;
  }
}

/** Everything deleted so far is older than this transaction number. */
async function readHorizon({ use }: Pick<Connections, "use">): Promise<number> {
  const { rows } = await use((run) =>
    run(
      "SELECT CAST(CAST(CAST(pg_snapshot_xmax(pg_current_snapshot()) AS text) AS numeric) % 4294967296 AS bigint) AS number",
    ),
  );
  return Number(rows[0]?.["number"] ?? 0);
}

interface Vacuumed {
  /** The server's message if it skipped a table. */
  readonly warning: string | null;
  /** Whether a transaction could still see the deleted rows. */
  readonly isEarly: boolean;
}

async function vacuum({ use }: Pick<Connections, "use">, horizon: number): Promise<Vacuumed> {
  const notices: Notice[] = [];
  await use(
    (run) => run(vacuumSql),
    (notice) => notices.push(notice),
  );
  const warning = notices.find(({ code }) => code?.startsWith("01") === true);
  const cutoffs = notices.flatMap(({ message = "", detail = "" }) =>
    [...`${message} ${detail}`.matchAll(/(?:removable cutoff|oldest xmin): (\d+)/g)].map(
      ([, number]) => Number(number),
    ),
  );
  return {
    warning: warning === undefined ? null : (warning.message ?? ""),
    // Transaction numbers wrap around.
    isEarly: cutoffs.some((cutoff) => ((cutoff - horizon) | 0) < 0),
  };
}

function refused(warning: string): string {
  return `the tables could not be vacuumed (${warning}), so deleted rows stay in the server's files until autovacuum runs; run VACUUM as the owner of the tables, and let this user do it from now on: GRANT MAINTAIN ON ALL TABLES IN SCHEMA public TO it (PostgreSQL 17 and later), or make it the owner`;
}

const tooEarly =
  "a transaction that began before the deletion is still open, a backup for example, so that deleted rows stay in the server's files; run VACUUM when it has ended, or wait for autovacuum";
