// Checks of agents that need more than one setting: bindings that are not there, a prompt that is given twice.
import type { Catalogue } from "../models/catalogue.ts";
import { didYouMean } from "../nearest-names.ts";
import type { Origin } from "./config-node.ts";
import type { ConfigProblem } from "./config-problem.ts";
import { maskText } from "./mask-secrets.ts";
import type { StrataConfig } from "./schema.ts";
import type { AgentConfig } from "./schema/agents.ts";
import { joinPath } from "./spec.ts";

type OriginAt = (path: readonly string[]) => Origin;

export function checkAgents({ agents }: StrataConfig, originAt: OriginAt): ConfigProblem[] {
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
export function checkGuidance(
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
