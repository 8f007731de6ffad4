// Checks the ledger: its place, whether it exists and is writable, and its schema.
import { accessSync, constants, existsSync } from "node:fs";
import { dirname } from "node:path";
import type { Environment } from "../../core/config/environment.ts";
import { messageOf, StrataError } from "../../core/strata-error.ts";

export interface Finding {
  readonly name: string;
  /** `absent` is for optional parts: nothing is wrong, some commands are not available. `warning`: Strata runs, but it may cost. */
  readonly state: "ok" | "absent" | "warning" | "failed";
  readonly detail: string;
}

/** Creates and changes nothing. The place is the one every other command would use. */
export async function checkStore(env: Environment): Promise<Finding> {
  const name = "ledger";
  try {
    // Loaded here, so that doctor can report a Node without SQLite.
    const { atLedgerPlace } = await import("../../host/ledger/ledger-place.ts");
    const detail = await atLedgerPlace(
      { env, store: undefined },
      async (place) => `${place.name} (from ${place.origin}), ${await describe(place.where)}`,
    );
    return { name, state: "ok", detail };
  } catch (error) {
    const hint = error instanceof StrataError ? `; ${error.hint}` : "";
    return { name, state: "failed", detail: `${messageOf(error)}${hint}` };
  }
}

async function describe(where: string): Promise<string> {
  const { openUnmigrated } = await import("../../edge/stores/open-store.ts");
  const { readSchema } = await import("../../edge/stores/sql/migrate.ts");
  const { isConnectionString } = await import("../../edge/stores/open-ledger.ts");
  const { migrations } = await import("../../edge/stores/sql/migrations.ts");
  const isFile = !isConnectionString(where);
  if (isFile) checkWritable(where);
  const database = await openUnmigrated(where);
  if (database === null) return "created when first needed";
  try {
    const [schema, latest] = [await readSchema(database), migrations.at(-1)?.number ?? 0];
    if (schema === null) return "empty; its tables are created when first needed";
    if (schema > latest) {
      throw new StrataError(
        "store-unavailable",
        `the ledger has schema ${schema}, and this program knows schemas up to ${latest}`,
        "use the version of strata that wrote it, or a later one",
      );
    }
    const now = schema === latest ? "" : `, updated to ${latest} when it is opened`;
    return `schema ${schema}${now}${isFile ? ", can be written" : ""}`;
  } finally {
    await database.close();
  }
}

/** SQLite writes files beside the ledger, so its folder must be writable too. */
function checkWritable(file: string): void {
  try {
    accessSync(nearestExisting(dirname(file)), constants.W_OK | constants.X_OK);
    if (existsSync(file)) accessSync(file, constants.R_OK | constants.W_OK);
  } catch (cause) {
    throw new StrataError(
      "store-unavailable",
      `the ledger ${file} cannot be written: ${messageOf(cause)}`,
      "give this user write permission on the file and its folder, or set STRATA_STORE",
      { cause },
    );
  }
}

/** The path, or the nearest folder above it that exists. */
export function nearestExisting(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestExisting(dirname(path));
}
