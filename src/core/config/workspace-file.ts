// What a strata.yaml may set that is found in a workspace. Another person or the agent itself may have written it.
import type { Catalogue } from "../models/catalogue.ts";
import type { ModelFacts } from "../models/model-facts.ts";
import { findModel } from "../models/resolve-model.ts";
import type { ConfigNode, Origin } from "./config-node.ts";
import type { ConfigProblem } from "./config-problem.ts";
import { modelOf, namedModels, resolveAgent } from "./resolve-agent.ts";
import { schema, type StrataConfig } from "./schema.ts";
import { joinKnown, joinPath, type Spec } from "./spec.ts";

/** None of these can send, spend or run anything more. Every other key is refused, also one that is added to the schema later. */
export const workspaceKeys: readonly string[] = [
  "llm.context_optimization.workspace_cache.enabled",
  "llm.context_optimization.workspace_cache.watch_debounce_ms",
  "llm.context_optimization.workspace_cache.max_age_seconds",
  "agents.NAME.model",
  "agents.NAME.context_optimization.workspace_cache",
  "models.default",
  "routing.workspace_default",
];

export const inWorkspace = "cannot be set in a file that is found in a workspace";

/** The refused keys of a file in its normal spelling. Empty for a file of the user's own. */
export function checkWorkspaceFile(
  root: ConfigNode,
  spec: Spec<unknown> = schema,
): readonly ConfigProblem[] {
  return isFound(root.origin) ? refuseKeys(root, spec, { path: "", pattern: "" }) : [];
}

function isFound(origin: Origin): boolean {
  return origin.kind === "file" && origin.isFound;
}

/** `pattern`: the path with NAME for each name that the writer chose. */
interface Place {
  readonly path: string;
  readonly pattern: string;
}

/** Refuses everything that is not on the way to an allowed key. Unknown keys are reported by the schema. */
function refuseKeys(
  node: ConfigNode,
  { shape }: Spec<unknown>,
  { path, pattern }: Place,
): readonly ConfigProblem[] {
  if (node.kind !== "map") return [];
  return node.entries.flatMap((entry) => {
    const isNamed = shape.kind === "named";
    const spec = isNamed
      ? shape.of
      : shape.kind === "section"
        ? shape.keys.get(entry.key)
        : undefined;
    if (spec === undefined || (entry.node.kind === "scalar" && entry.node.value === null))
      return [];
    const below = {
      path: joinPath(path, entry.key),
      pattern: joinKnown(pattern, isNamed ? "NAME" : entry.key),
    };
    if (workspaceKeys.includes(below.pattern)) return [];
    if (workspaceKeys.some((key) => key.startsWith(`${below.pattern}.`))) {
      return refuseKeys(entry.node, spec, below);
    }
    return [
      {
        severity: "error" as const,
        origin: entry.origin,
        message: `${below.path} ${inWorkspace}: another person or the agent may have written it`,
        hint: "set it in your own file (strata config path names it), or name this file with --config or STRATA_CONFIG",
      },
    ];
  });
}

/** The configuration as a whole, and without the files that were found. */
export interface WithAndWithout {
  readonly all: StrataConfig;
  readonly own: StrataConfig;
  readonly catalogue: Catalogue;
  /** Where a value of the whole was written. */
  readonly originAt: (path: readonly string[]) => Origin;
}

/** A found file may choose only models that the user configured, at the provider that would answer without it. */
export function checkFoundModels(whole: WithAndWithout): readonly ConfigProblem[] {
  const { all, own, originAt } = whole;
  const usual = own.routing.workspaceDefault ?? own.models.default;
  const choices: readonly (readonly [readonly string[], string | null, string | null])[] = [
    [["models", "default"], all.models.default, usual],
    [["routing", "workspace_default"], all.routing.workspaceDefault, usual],
    ...[...all.agents].map(
      ([id, { model }]) => [["agents", id, "model"], model, resolveAgent(own, id).model] as const,
    ),
  ];
  return choices.flatMap(([path, chosen, instead]) => {
    const origin = originAt(path);
    if (chosen === null || !isFound(origin)) return [];
    const why = findRefusal(chosen, instead, whole);
    if (why === null) return [];
    const message = `${path.reduce(joinPath, "")} ${why}`;
    const hint = "choose the model in your own file; strata config path names it";
    return [{ severity: "error" as const, origin, message, hint }];
  });
}

function findRefusal(
  chosen: string,
  instead: string | null,
  { own, catalogue }: WithAndWithout,
): string | null {
  const find = (name: string): ModelFacts | undefined =>
    findModel(modelOf(own, name), catalogue)?.facts;
  const model = find(chosen);
  const { add } = own.models;
  const added = typeof add === "object" && add !== null ? Object.keys(add) : [];
  const configured = [...namedModels(own).flatMap(([, name]) => name ?? []), ...added];
  if (model === undefined || !configured.some((name) => isSame(find(name), model)))
    return "is in a file found in a workspace, and names a model that you did not configure";
  const usual = instead === null ? undefined : find(instead);
  const isSameProvider = usual?.provider === model.provider && usual.route === model.route;
  return isSameProvider
    ? null
    : "is in a file found in a workspace, and would change the provider that gets the conversation";
}

function isSame(left: ModelFacts | undefined, right: ModelFacts): boolean {
  return left?.id === right.id && left.provider === right.provider && left.route === right.route;
}
