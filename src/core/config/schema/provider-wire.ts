// providers.NAME.wire: what a server takes that speaks Chat Completions.
import {
  afterToolForms,
  contents,
  efforts,
  outputLimits,
  outputSchemas,
  systemPlaces,
  systemRoles,
  thinkings,
  toolIdForms,
  wireNames,
  type WireChanges,
} from "../../models/wire-rules.ts";
import { optionalChoice, optionalFlag } from "../leaves.ts";
import { group } from "../sections.ts";
import type { Spec } from "../spec.ts";

/** Null for a rule that stays as it is. */
export type WireConfig = { readonly like: string | null } & Required<WireChanges>;

export const wireSpec: Spec<WireConfig> = group<WireConfig>(
  "what its server takes, for Chat Completions; default: by its name, else by the model's route",
  {
    like: optionalChoice(wireNames, "take the rules of this server"),
    systemRole: optionalChoice(systemRoles, "the role of system text"),
    systemMessages: optionalChoice(systemPlaces, "where system messages may stand"),
    outputLimit: optionalChoice(outputLimits, "the member that limits a reply"),
    content: optionalChoice(contents, "plain text as a list of parts or as one string"),
    streamUsage: optionalFlag("whether to ask for the usage of a streamed reply"),
    cacheKey: optionalFlag("whether to send prompt_cache_key"),
    effort: optionalChoice(efforts, "the member for the effort"),
    outputSchema: optionalChoice(outputSchemas, "whether the schema of a reply is taken"),
    thinking: optionalChoice(thinkings, "what becomes of thinking in later calls"),
    toolIds: optionalChoice(toolIdForms, "the form of a tool call's id"),
    afterTools: optionalChoice(afterToolForms, "what must follow the results of tools"),
  },
);
