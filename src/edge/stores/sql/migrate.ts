// Brings a database to this program's schema, step by step. Refuses a newer schema.
import { StrataError } from "../../../core/strata-error.ts";
import type { Database } from "./database.ts";
import { migrations, type Migration } from "./migrations.ts";

export interface Migrated {
  readonly from: number;
  readonly to: number;
}

export async function migrate(
  database: Pick<Database, "exclusive" | "hasTable" | "kind" | "query">,
  nowMs: number,
  steps: readonly Migration[] = migrations,
): Promise<Migrated> {
  const last = steps.at(-1)?.number ?? 0;
  // Locks and writes nothing if the schema is current: most users may only read and write rows.
  if ((await readSchema(database)) === last) return { from: last, to: last };
  return database.exclusive(async (query) => {
    await query(
      "CREATE TABLE IF NOT EXISTS strata_schema (number BIGINT PRIMARY KEY, name TEXT NOT NULL, applied_ms BIGINT NOT NULL)",
    );
    const from = await lastStep(query);
    if (from > last) throw tooNew(from, last);
    for (const step of steps.filter(({ number }) => number > from)) {
      for (const each of step.statements) {
        for (const statement of typeof each === "string" ? [each] : each[database.kind]) {
          await query(statement);
        }
      }
      await query("INSERT INTO strata_schema (number, name, applied_ms) VALUES (?, ?, ?)", [
        step.number,
        step.name,
        nowMs,
      ]);
    }
    return { from, to: last };
  });
}

/** The last applied step. Null if there is no ledger yet. */
export async function readSchema(
  database: Pick<Database, "hasTable" | "query">,
): Promise<number | null> {
  return (await database.hasTable("strata_schema")) ? lastStep(database.query) : null;
}

async function lastStep(query: Database["query"]): Promise<number> {
  const [row] = await query("SELECT COALESCE(MAX(number), 0) AS number FROM strata_schema");
  return Number(row?.["number"] ?? 0);
}

function tooNew(found: number, known: number): StrataError {
  return new StrataError(
    "store-unavailable",
    `the ledger has schema ${found}, and this program knows schemas up to ${known}`,
    "use the version of strata that wrote it, or a later one",
  );
}
