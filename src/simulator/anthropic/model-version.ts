// The model and version of an id on this API; some rules depend on the version.
import type { ModelFacts } from "../../core/models/model-facts.ts";
import { findModel } from "../../core/models/resolve-model.ts";
import { Refusal } from "./refusal.ts";

/** Finds a model by an id of this API; ids of other routes are refused. */
export function modelOf(requested: string): ModelFacts {
  const found = /^claude-[a-z0-9.-]+$/.test(requested) ? findModel(requested) : null;
  const isOurs =
    found !== null &&
    found.facts.provider === "anthropic" &&
    found.route === "claude-api" &&
    found.matched !== "dotted version";
  if (!isOurs) throw new Refusal("not_found_error", `model: ${requested}`);
  return found.facts;
}

/** Opus 4.5 is 405, Sonnet 4 is 400; 0 if the id has no version. */
export function versionOf(id: string): number {
  const parts = /(?:^|-)(\d{1,2})(?:[-.](\d{1,2}))?(?=-|$)/.exec(id);
  return parts === null ? 0 : Number(parts[1]) * 100 + Number(parts[2] ?? 0);
}

/** opus, sonnet, haiku, fable or mythos. */
export function lineOf(id: string): string | null {
  return /-(opus|sonnet|haiku|fable|mythos)(?:-|$)/.exec(id)?.[1] ?? null;
}
