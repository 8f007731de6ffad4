// Checks of the whole configuration: names without a model, limits that contradict each other.
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
import { namedModels } from "./resolve-agent.ts";
import type { StrataConfig } from "./schema.ts";
import { joinPath } from "./spec.ts";
import { checkFoundModels } from "./workspace-file.ts";
import { didYouMean } from "../nearest-names.ts";
import type { AgentConfig } from "./schema/agents.ts";

type OriginAt = (path: readonly string[]) => Origin;

export function checkWhole(
  config: StrataConfig,
  originAt: OriginAt,
  own: StrataConfig | null,
): readonly ConfigProblem[] {
  const { catalogue, problems } = checkCatalogue(config, originAt);
  return [
    ...problems,
    ...checkAliases(config, originAt),
    ...checkNames(config, originAt, catalogue),
    ...checkLimits(config, originAt),
    ...checkAgents(config, originAt),
    ...(catalogue === null ? [] : checkGuidance(config, originAt, catalogue)),
    ...(own === null || catalogue === null
      ? []
      : checkFoundModels({ all: config, own, catalogue, originAt })),
  ];
}

/** As `createCatalogue` takes it; null if nothing is added or changed. */
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

/** A complaint names model and field, as `models: mine.prices.0`. Finds the nearest place that was written. */
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

/** An alias of an alias would be hard to follow. */
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

/** A warning: a provider may serve models without facts. */
function checkNames(
  config: StrataConfig,
  originAt: OriginAt,
  catalogue: Catalogue | null,
): ConfigProblem[] {
  if (catalogue === null) return [];
  const { aliases } = config.models;
  const problems: ConfigProblem[] = [];
  for (const [path, name] of namedModels(config)) {
    if (problems.length >= unknownNamesMax) break;
    // The names in model_names are ids of models, not aliases.
    const isAlias = path[0] !== "providers" && name !== null && aliases.has(name);
    if (name === null || name === "" || isAlias) continue;
    if (findModel(name, catalogue) !== null) continue;
    const near = [...nearestIds(name, catalogue), ...aliases.keys()].slice(0, 1);
    const hint = near[0] === undefined ? "" : `did you mean ${near[0]}? `;
    problems.push({
      severity: "warning",
      origin: originAt(path),
      message: `${path.reduce(joinPath, "")} names the model ${JSON.stringify(maskText(name.slice(0, 80)))}, which is unknown`,
      hint: `${hint}Your own models are described under models.add`,
    });
  }
  return problems;
}

/** Each name is compared with all known ones, and a longer list helps no reader. */
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
      message: `tools.confirm has ${JSON.stringify(maskText(unknown).slice(0, 40))}, which is not a side effect`,
      hint: `choose from ${known.join(", ")}`,
    });
  }
  return problems;
}

function checkAgents({ agents }: StrataConfig, originAt: OriginAt): ConfigProblem[] {
  return [...agents].flatMap(([id, agent]) => [
    ...checkBinding(id, agent, originAt),
    ...checkPrompt(id, agent, originAt),
  ]);
}

function checkBinding(
  id: string,
  { binding, bindings }: AgentConfig,
  originAt: OriginAt,
): ConfigProblem[] {
  if (binding === null || bindings.has(binding)) return [];
  const path = ["agents", id, "binding"];
  const message = `${path.reduce(joinPath, "")} names ${JSON.stringify(maskText(binding).slice(0, 80))}, which is not below bindings`;
  const otherwise = "write it below bindings, or remove it";
  const hint = didYouMean(binding, [...bindings.keys()], otherwise, 1);
  return [{ severity: "error", origin: originAt(path), message, hint }];
}

function checkPrompt(
  id: string,
  { system, systemFile }: AgentConfig,
  originAt: OriginAt,
): ConfigProblem[] {
  if (system === null || systemFile === null) return [];
  const path = ["agents", id, "system_file"];
  const message = `${path.reduce(joinPath, "")} and system are both set`;
  return [{ severity: "error", origin: originAt(path), message, hint: "keep one of the two" }];
}

/** A warning: a name that fits no known model may be one of a provider's own. */
function checkGuidance(
  { models: { guidance } }: StrataConfig,
  originAt: OriginAt,
  catalogue: Catalogue,
): ConfigProblem[] {
  const known = [...catalogue.ids, ...catalogue.vendors.keys()];
  const fits = (name: string): boolean =>
    name.endsWith("*")
      ? known.some((id) => id.startsWith(name.slice(0, -1)))
      : known.includes(name);
  const unfit = [...guidance.keys()].filter((name) => !fits(name)).slice(0, unfitNamesMax);
  return unfit.flatMap((name) => {
    const path = ["models", "guidance", name];
    return [
      {
        severity: "warning" as const,
        origin: originAt(path),
        message: `${path.reduce(joinPath, "")} fits no known model and no provider`,
        hint: didYouMean(name, known, "write a model's id, or its beginning with *", 1),
      },
    ];
  });
}

/** Each name is compared with all known ones, and a longer list helps no reader. */
const unfitNamesMax = 20;
