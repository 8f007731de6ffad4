// Lists, and on request deletes, what providers still keep under a name for sessions that do not run any more.
import type { Environment } from "../../core/config/environment.ts";
import { messageOf } from "../../core/strata-error.ts";
import type { Stray, Strays } from "../../host/recorded/stored-strays.ts";
import type { Finding } from "./check-store.ts";

const name = "stored prefixes";

/** None where prefixes were never stored. */
export async function checkStrays(env: Environment, deletes: boolean): Promise<readonly Finding[]> {
  try {
    const { atLedgerPlace } = await import("../../host/ledger/ledger-place.ts");
    const strays = await atLedgerPlace({ env, store: undefined }, ({ where }) =>
      readStrays(env, where, deletes),
    );
    return strays === null ? [] : toFindings(strays, deletes);
  } catch (error) {
    // A ledger that cannot be read is reported by its own check.
    return deletes ? [{ name, state: "failed", detail: messageOf(error) }] : [];
  }
}

/** A ledger of an older schema has none, and is left as it is. */
async function readStrays(
  env: Environment,
  where: string,
  deletes: boolean,
): Promise<Strays | null> {
  const { openUnmigrated } = await import("../../edge/stores/open-store.ts");
  const { readSchema } = await import("../../edge/stores/sql/migrate.ts");
  const { migrations } = await import("../../edge/stores/sql/migrations.ts");
  const { createLedger } = await import("../../edge/stores/ledger/create-ledger.ts");
  const { findStrays } = await import("../../host/recorded/stored-strays.ts");
  const database = await openUnmigrated(where);
  if (database === null) return null;
  try {
    if ((await readSchema(database)) !== migrations.at(-1)?.number) return null;
    const { findConfigPlaces, readConfigOnce } =
      await import("../../host/config/read-config-once.ts");
    // A file of the workspace may not say where keys are sent.
    const files = findConfigPlaces({ env }).filter(({ isFound }) => !isFound);
    const { config } = await readConfigOnce({ files, env });
    return await findStrays({ ledger: await createLedger(database), config, deletes });
  } finally {
    await database.close();
  }
}

function toFindings(
  { found, inUse, others, problems }: Strays,
  deletes: boolean,
): readonly Finding[] {
  const used = `${inUse} in use${others === 0 ? "" : `, ${others} that this ledger did not make`}`;
  return [
    ...(found.length === 0
      ? [{ name, state: "ok" as const, detail: `none is left; ${used}` }]
      : []),
    ...found.map((stray) => toFinding(stray, deletes)),
    ...problems.map((problem) => ({
      name,
      state: "warning" as const,
      detail: `a provider could not be asked: ${problem}`,
    })),
  ];
}

function toFinding(
  { id, name: known, sessionId, model, expiresMs, left }: Stray,
  deletes: boolean,
): Finding {
  const whose = sessionId === "" ? "a deleted session" : `session ${sessionId}`;
  const until = expiresMs === null ? "" : `, kept until ${new Date(expiresMs).toISOString()}`;
  const what = `${known ?? `"strata ${id}"`} of ${whose} on ${model}${until}`;
  if (deletes && left === null) return { name, state: "ok", detail: `deleted: ${what}` };
  const advice = deletes
    ? `could not be deleted: ${left ?? ""}`
    : "delete it with strata doctor --delete-strays";
  return { name, state: "warning", detail: `left behind: ${what}; ${advice}` };
}
