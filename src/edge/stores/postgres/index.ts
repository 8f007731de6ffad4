// strata-context/postgres: a ledger that many nodes share. Needs the `pg` package.
import type { Ledger } from "../../../core/ledger/ledger.ts";
import { createLedger, type LedgerOptions } from "../ledger/create-ledger.ts";
import { openPostgres, type PostgresOptions } from "./open-postgres.ts";

export type { LedgerOptions, PostgresOptions };

/** Migrates the schema. If several nodes start together, one of them does it. */
export async function openPostgresLedger(
  options: PostgresOptions & LedgerOptions,
): Promise<Ledger> {
  return createLedger(await openPostgres(options), options);
}
