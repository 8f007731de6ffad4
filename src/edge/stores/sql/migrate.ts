// Brings a database to this program's schema, step by step, and refuses one that is ahead of it.
import { StrataError } from "../../../core/strata-error.ts";
import type { Database } from "./database.ts";
import { migrations, type Migration } from "./migrations.ts";

export interface Migrated {
  readonly from: number;
  readonly to: number;
}

export function migrate(
  database: Pick<Database, "exclusive">,
  nowMs: number,
  steps: readonly Migration[] = migrations,
): Promise<Migrated> {
  return database.exclusive(async (query) => {
    await query(
      "CREATE TABLE IF NOT EXISTS strata_schema (number BIGINT PRIMARY KEY, name TEXT NOT NULL, applied_ms BIGINT NOT NULL)",
    );
    const [row] = await query("SELECT COALESCE(MAX(number), 0) AS number FROM strata_schema");
    const from = Number(row?.["number"] ?? 0);
    const to = steps.at(-1)?.number ?? 0;
    if (from > to) throw tooNew(from, to);
    for (const step of steps.filter(({ number }) => number > from)) {
      for (const statement of step.statements) await query(statement);
      await query("INSERT INTO strata_schema (number, name, applied_ms) VALUES (?, ?, ?)", [
        step.number,
        step.name,
        nowMs,
      ]);
    }
    return { from, to };
  });
}

function tooNew(found: number, known: number): StrataError {
  return new StrataError(
    "store-unavailable",
    `the ledger has schema ${found}, and this program knows schemas up to ${known}`,
    "use the version of strata that wrote it, or a later one",
  );
}
