// Says what is in force here: configuration files, keys of providers, and who answers. Never shows a key.
import { relative } from "node:path";
import type { Environment } from "../../core/config/environment.ts";
import { originOf, type Setting } from "../../core/config/settings.ts";
import type { StrataConfig } from "../../core/config/schema.ts";
import { messageOf, StrataError } from "../../core/strata-error.ts";
import type { Finding } from "./check-store.ts";

/** Loaded here, so that doctor can report a Node on which nothing else runs. */
export async function checkAnswers(env: Environment): Promise<readonly Finding[]> {
  try {
    const { readConfigPlaces, describePlace } = await import("../config/config-places.ts");
    const { readConfigOnce } = await import("../../host/config/read-config-once.ts");
    const files = readConfigPlaces(
      { values: new Map(), operands: [], switches: new Set() },
      { env },
    );
    const places = await Promise.all(files.map(describePlace));
    const read = places.filter(({ state }) => state !== "missing");
    const { config, settings } = await readConfigOnce({ files, env });
    const refused = read.some(({ state }) => state === "refused");
    return [
      {
        name: "configuration",
        state: refused ? "warning" : "ok",
        detail:
          read.length === 0
            ? noFile(places.map(({ path }) => path))
            : read.map(spellPlace).join("; "),
      },
      checkKeys(config, settings),
      await checkModel(config, env),
    ];
  } catch (error) {
    const hint = error instanceof StrataError ? `; ${error.hint}` : "";
    return [{ name: "configuration", state: "failed", detail: `${messageOf(error)}${hint}` }];
  }
}

function noFile(paths: readonly string[]): string {
  return `no file, so defaults and variables hold; one would be read from ${paths.map(shortPath).join(" or ")}`;
}

function spellPlace({
  path,
  state,
  reason,
}: {
  path: string;
  state: string;
  reason: string;
}): string {
  return `${shortPath(path)} (${state === "read" ? reason : `${reason}, refused: strata config check says why`})`;
}

/** A path below this folder is shown without the folder. */
function shortPath(path: string): string {
  const here = relative(process.cwd(), path);
  return here.startsWith("..") ? path : here;
}

/** Which providers have a key or other credentials, and from where; not what they are. */
function checkKeys({ providers }: StrataConfig, settings: readonly Setting[]): Finding {
  const held = [...providers].flatMap(([name, { apiKey, credentials, headers, baseUrl }]) => {
    const from = settings.find(({ path }) => path === `providers.${name}.api_key`);
    if (apiKey !== null)
      return [`${name} (from ${from === undefined ? "the configuration" : originOf(from)})`];
    if (credentials !== null) return [`${name} (credentials of ${credentials})`];
    if (headers.size > 0) return [`${name} (headers)`];
    return baseUrl === null ? [] : [`${name} (an address, no key)`];
  });
  return held.length === 0
    ? {
        name: "keys",
        state: "absent",
        detail: "no provider has a key; set one, such as ANTHROPIC_API_KEY or OPENAI_API_KEY",
      }
    : { name: "keys", state: "ok", detail: held.join(", ") };
}

/** The model of a session that names none, and whether a provider or the simulator answers. */
async function checkModel(config: StrataConfig, env: Environment): Promise<Finding> {
  const name = "answers";
  const { isSimulatedModel, usualModel } = await import("../../host/config/choose-model.ts");
  const { chooseLedgerPlace } = await import("../../host/ledger/choose-ledger-place.ts");
  const model = usualModel(config, "agent");
  const isSimulated = isSimulatedModel(config, model);
  const { place } = chooseLedgerPlace({
    env,
    config,
    store: undefined,
    agent: undefined,
    model,
    isResumed: false,
  });
  return isSimulated
    ? {
        name,
        state: "warning",
        detail: `simulated, as ${model}: no key for it is in force, and nothing is paid; sessions go to ${place.name}`,
      }
    : { name, state: "ok", detail: `${model}, by its provider; sessions go to ${place.name}` };
}
