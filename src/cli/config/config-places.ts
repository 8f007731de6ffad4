// Finds the configuration files of a command from --workspace and --config.
import { basename, resolve } from "node:path";
import type { ConfigPlace } from "../../edge/config/find-config-files.ts";
import { readConfigFile } from "../../edge/config/read-config-file.ts";
import { watchFile } from "../../edge/config/watch-file.ts";
import { findConfigPlaces } from "../../host/config/read-config-once.ts";
import type { CommandInput, Io } from "../command.ts";
import { checkFolder } from "../check-folder.ts";

/** Weakest first. */
export function readConfigPlaces(
  { values }: CommandInput,
  { env }: Pick<Io, "env">,
): readonly ConfigPlace[] {
  const workspace = resolve(values.get("workspace") ?? ".");
  checkFolder(workspace);
  return findConfigPlaces({ env, workspace, configFile: values.get("config") });
}

export interface PlaceState extends Pick<ConfigPlace, "path" | "reason"> {
  readonly state: "read" | "missing" | "refused";
  /** What the file may set. */
  readonly rights: string;
}

/** Each place after the files that it includes. */
export async function withIncluded(
  places: readonly ConfigPlace[],
): Promise<readonly ConfigPlace[]> {
  const all = await Promise.all(
    places.map(async (place) => {
      const files = (await watchFile({ ...place, isNamed: false })).files().slice(0, -1);
      const reason = `included by ${basename(place.path)}`;
      return [...files.map(({ file }) => ({ ...file, reason })), place];
    }),
  );
  return all.flat();
}

/** Looks at each file: whether it exists, and what it may set. */
export async function describePlace(place: ConfigPlace): Promise<PlaceState> {
  const { path, reason } = place;
  const reading = await readConfigFile(place);
  const isUntrusted = reading.kind === "read" && reading.isUntrusted;
  const isRefused = reading.kind === "read" && reading.root === null;
  const state = reading.kind === "absent" ? "missing" : isRefused ? "refused" : "read";
  return { path, reason, state, rights: describeRights(place, isUntrusted) };
}

function describeRights({ isFound, trust }: ConfigPlace, isUntrusted: boolean): string {
  if (isFound) return "only allowed keys: it was found in a workspace";
  if (isUntrusted) return "nothing: it lies in the workspace, and its content is not trusted";
  return trust === undefined ? "all keys" : "all keys: its content is trusted";
}
