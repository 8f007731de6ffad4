// What can only be seen when everything is together: names that stand for nothing, limits that contradict each other.
import {
  builtInCatalogue,
  createCatalogue,
  type Catalogue,
  type CatalogueChanges,
} from "../models/catalogue.ts";
import { findModel, nearestIds } from "../models/resolve-model.ts";
import { StrataError } from "../strata-error.ts";
import type { Origin } from "./config-node.ts";
import type { ConfigProblem } from "./config-problem.ts";
import { maskText } from "./mask-secrets.ts";
import type { StrataConfig } from "./schema.ts";
import { joinPath } from "./spec.ts";

type OriginAt = (path: readonly string[]) => Origin;

export function checkWhole(config: StrataConfig, originAt: OriginAt): readonly ConfigProblem[] {
  const { catalogue, problems } = checkCatalogue(config, originAt);
  return [
    ...problems,
    ...checkAliases(config, originAt),
    ...checkNames(config, originAt, catalogue),
    ...checkLimits(config, originAt),
  ];
}

/** As `createCatalogue` takes it; null where nobody adds or changes anything. */
export function toCatalogueChanges(
  { models: { add, override } }: Pick<StrataConfig, "models">,
  origin = "the configuration",
): CatalogueChanges | null {
  if (add === null && override === null) return null;
  return {
    origin,
    ...(add === null ? {} : { add }),
    ...(override === null ? {} : { override }),
  };
}

function checkCatalogue(
  config: StrataConfig,
  originAt: OriginAt,
): { readonly catalogue: Catalogue | null; readonly problems: readonly ConfigProblem[] } {
  const changes = toCatalogueChanges(config, "models");
  if (changes === null) return { catalogue: builtInCatalogue, problems: [] };
  try {
    return { catalogue: createCatalogue(changes), problems: [] };
  } catch (cause) {
    if (!(cause instanceof StrataError)) throw cause;
    const message = maskText(cause.message);
    const origin = placeOf(cause.message, config, originAt);
    return {
      catalogue: null,
      problems: [{ severity: "error", origin, message, hint: cause.hint }],
    };
  }
}

/** Complaints name the model and the field, as `models: mine.prices.0`: the nearest place that was written. */
function placeOf(
  complaint: string,
  { models: { add, override } }: StrataConfig,
  originAt: OriginAt,
): Origin {
  const named = /^models: (\S+)/.exec(complaint)?.[1] ?? "";
  const places = Object.entries({ override, add }).flatMap(([key, changes]) =>
    Object.keys(typeof changes === "object" && changes !== null ? changes : {})
      .filter((id) => named === id || named.startsWith(`${id}.`))
      .map((id) => ["models", key, id, ...named.slice(id.length + 1).split(".")]),
  );
  const [longest = ["models", override === null ? "add" : "override"]] = places.toSorted(
    (left, right) => (right[2] ?? "").length - (left[2] ?? "").length,
  );
  for (let length = longest.length; length > 1; length -= 1) {
    const origin = originAt(longest.slice(0, length));
    if (origin.kind !== "default") return origin;
  }
  return originAt(["models"]);
}

/** One step is enough: a name for a name would be hard to follow. */
function checkAliases({ models: { aliases } }: StrataConfig, originAt: OriginAt): ConfigProblem[] {
  return [...aliases].flatMap(([name, model]) =>
    aliases.has(model)
      ? [
          {
            severity: "error" as const,
            origin: originAt(["models", "aliases", name]),
            message: `${["models", "aliases", name].reduce(joinPath, "")} stands for ${maskText(model)}, which is ${model === name ? "itself" : "another alias"}`,
            hint: toEnd(aliases, model),
          },
        ]
      : [],
  );
}

function toEnd(aliases: ReadonlyMap<string, string>, alias: string): string {
  const end = aliases.get(alias) ?? alias;
  return aliases.has(end) ? "name a model" : `write ${maskText(end)}`;
}

/** A warning: a model may be served that nobody has facts about. */
function checkNames(
  config: StrataConfig,
  originAt: OriginAt,
  catalogue: Catalogue | null,
): ConfigProblem[] {
  if (catalogue === null) return [];
  const { models, routing, agents, providers, subAgents, compaction } = config;
  const named: readonly (readonly [readonly string[], string | null])[] = [
    [["models", "default"], models.default],
    [["routing", "workspace_default"], routing.workspaceDefault],
    [["llm", "context_optimization", "compaction", "summarizer_model"], compaction.summarizerModel],
    [["sub_agents", "worker_model"], subAgents.workerModel],
    ...[...models.aliases].map(([name, model]) => [["models", "aliases", name], model] as const),
    ...[...agents].map(([id, { model }]) => [["agents", id, "model"], model] as const),
    ...[...providers].flatMap(([name, { modelNames }]) =>
      [...modelNames.keys()].map((id) => [["providers", name, "model_names", id], id] as const),
    ),
    ...routing.rules.map(({ model }) => [["routing", "rules"], model] as const),
    ...routing.patterns.map(({ model }) => [["routing", "patterns"], model] as const),
  ];
  const problems: ConfigProblem[] = [];
  for (const [path, name] of named) {
    if (problems.length >= unknownNamesMax) break;
    // A provider's names are by model, not by what people call one.
    const isAlias = path[0] !== "providers" && name !== null && models.aliases.has(name);
    if (name === null || name === "" || isAlias) continue;
    if (findModel(name, catalogue) !== null) continue;
    const near = [...nearestIds(name, catalogue), ...models.aliases.keys()].slice(0, 1);
    const hint = near[0] === undefined ? "" : `did you mean ${near[0]}? `;
    problems.push({
      severity: "warning",
      origin: originAt(path),
      message: `${path.reduce(joinPath, "")} names the model ${JSON.stringify(maskText(name.slice(0, 80)))}, which is unknown`,
      hint: `${hint}A model of your own is described under models.add`,
    });
  }
  return problems;
}

/** Each is compared with all that are known; nobody reads more of them. */
const unknownNamesMax = 50;

function checkLimits({ skills, tools }: StrataConfig, originAt: OriginAt): ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  if (skills.tokensAdvised > skills.tokensMax) {
    problems.push({
      severity: "error",
      origin: originAt(["skills", "tokens_advised"]),
      message: `skills.tokens_advised is ${skills.tokensAdvised}, above skills.tokens_max, ${skills.tokensMax}`,
      hint: "lower the first or raise the second",
    });
  }
  const known: readonly string[] = ["read", "write", "execute", "network"];
  const unknown = tools.confirmed.find((effect) => !known.includes(effect));
  if (unknown !== undefined) {
    problems.push({
      severity: "error",
      origin: originAt(["tools", "confirm"]),
      message: `tools.confirm has ${JSON.stringify(unknown.slice(0, 40))}, which is no side effect`,
      hint: `choose of ${known.join(", ")}`,
    });
  }
  return problems;
}
