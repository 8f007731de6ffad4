// The settings of Chat Completions and Responses, besides blocks, that decide whether a prefix is found.
import { lifetimes, type Lifetime } from "../../message/usage.ts";
import { markerOf } from "../foreign/cache-control.ts";
import type { RequestNames } from "../foreign/foreign-reader.ts";
import type { ReadShape } from "../foreign/foreign-request.ts";
import * as json from "../../message/json-tree.ts";

/** Chat names effort, verbosity and format at the top; Responses nests them. */
export function readOpenAiOptions(
  root: json.JsonObject,
  api: "chat" | "responses",
): Omit<ReadShape, "drafts"> {
  const worded = api === "responses" ? json.memberOf(root, "text") : root;
  const effort =
    api === "responses"
      ? json.textOf(json.memberOf(root, "reasoning"), "effort")
      : json.textOf(root, "reasoning_effort");
  const verbosity = json.textOf(worded, "verbosity") ?? "medium";
  const format = json.memberOf(worded, api === "responses" ? "format" : "response_format");
  const isText = format === undefined || json.textOf(format, "type") === "text";
  const choice = choiceOf(json.memberOf(root, "tool_choice"));
  const tier = tierOf(json.textOf(root, "service_tier"));
  const cacheKey = json.textOf(root, "prompt_cache_key");
  const options = json.memberOf(root, "prompt_cache_options");
  return {
    requestMarker: markerOf(root),
    strayMarkers: [],
    mode: json.textOf(options, "mode") === "explicit" ? "explicit" : "implicit",
    ownLifetime: ownLifetimeOf(root),
    settings: {
      ...(choice === "auto" ? {} : { "tool choice": choice }),
      ...(json.isScalar(root, "parallel_tool_calls", "false")
        ? { "parallel tool use": "off" }
        : {}),
      ...(isText ? {} : { "output format": json.compactJson(format) }),
      // Medium is the default of most models.
      ...(effort === undefined || effort === "medium" ? {} : { effort }),
      ...(verbosity === "medium" ? {} : { verbosity }),
      ...(tier === "default" ? {} : { "service tier": tier }),
      ...(cacheKey === undefined ? {} : { "cache key": cacheKey }),
    },
    keepsThinking: true,
    continues:
      json.textOf(root, "previous_response_id") !== undefined ||
      json.memberOf(root, "conversation") !== undefined,
  };
}

export function namesIn(root: json.JsonObject): RequestNames {
  const conversation = json.memberOf(root, "conversation");
  return {
    session:
      conversation?.kind === "string"
        ? conversation.text
        : (json.textOf(conversation, "id") ?? null),
    cacheKey: json.textOf(root, "prompt_cache_key") ?? null,
    continues: json.textOf(root, "previous_response_id") ?? null,
  };
}

/** The lifetime that the client asks for instead of the provider's default. */
export function ownLifetimeOf(root: json.JsonObject): Lifetime | null {
  const asked =
    json.textOf(json.memberOf(root, "prompt_cache_options"), "ttl") ??
    json.textOf(root, "prompt_cache_retention");
  return lifetimes.find((lifetime) => lifetime === asked) ?? null;
}

/** Chat nests the name of one tool, Responses does not. */
function choiceOf(choice: json.JsonNode | undefined): string {
  if (choice === undefined) return "auto";
  if (choice.kind === "string") return choice.text;
  const name =
    json.textOf(choice, "name") ?? json.textOf(json.memberOf(choice, "function"), "name");
  return name === undefined ? json.compactJson(choice) : `tool ${name}`;
}

function tierOf(asked: string | undefined): string {
  if (asked === undefined || asked === "auto") return "default";
  return asked === "fast" ? "priority" : asked;
}
