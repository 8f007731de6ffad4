// A parsed request of either API, for rendering, billing and answering.
import type { ModelFacts } from "../../../core/models/model-facts.ts";
import { findModel } from "../../../core/models/resolve-model.ts";
import { ApiError } from "../api-error.ts";
import { fields, type Place } from "./fields.ts";
import type { Item, ToolDefinition } from "./items.ts";
import { readCacheOptions, type CacheOptions } from "./read-cache-options.ts";
import { readSettings, type Settings } from "./read-settings.ts";
import { readToolChoice, readTools, type ToolChoice, type ToolEntry } from "./read-tools.ts";

export interface ReadRequest {
  readonly api: "chat" | "responses";
  /** As the client spelled it. */
  readonly model: string;
  readonly facts: ModelFacts;
  readonly tools: readonly ToolEntry[];
  readonly instructions: string | null;
  readonly items: readonly Item[];
  readonly cache: CacheOptions;
  readonly settings: Settings;
  readonly toolChoice: ToolChoice;
  readonly outputTokensMax: number | null;
}

/** What is spelled alike in both APIs, with the settings. */
export function readShared(
  body: Place,
  endpoint: "chat" | "responses" | "compact",
): Omit<ReadRequest, "instructions" | "items" | "outputTokensMax"> {
  const api = endpoint === "chat" ? "chat" : "responses";
  const model = fields.textAt(body, "model");
  const facts = findOpenaiModel(model);
  return {
    api,
    model,
    facts,
    tools: readTools(body, "tools"),
    cache: readCacheOptions(body, endpoint, facts),
    settings: readSettings(body, api, facts),
    toolChoice: readToolChoice(body),
  };
}

function findOpenaiModel(name: string): ModelFacts {
  const found = name.includes("/") ? null : findModel(name);
  const facts = found?.facts;
  if (facts === undefined || facts.provider !== "openai" || facts.route !== "openai-api") {
    const known = `The model \`${name}\` does not exist or you do not have access to it.`;
    throw notFound(known);
  }
  if (facts.lifecycle.status === "retired") {
    throw notFound(
      `The model \`${name}\` has been deprecated, learn more here: https://platform.openai.com/docs/deprecations`,
    );
  }
  return facts;
}

function notFound(message: string): ApiError {
  const code = "model_not_found";
  return new ApiError(404, { message, type: "invalid_request_error", param: null, code });
}

/** Tools the simulated model may call: from the request and from items. */
export function callableTools({ tools, items }: ReadRequest): readonly ToolDefinition[] {
  const own = tools.flatMap((entry) => entry.tools).filter(({ isDeferred }) => !isDeferred);
  const added = items.flatMap((item) => (item.kind === "tools" ? item.tools : []));
  return [...own, ...added].filter(({ kind }) => kind !== "hosted");
}

/** The last change in the conversation overrides the request. */
export function effortOf({ items, settings }: ReadRequest): string {
  const last = items.findLast((item) => item.kind === "configuration" && item.effort !== null);
  return last?.kind === "configuration" && last.effort !== null ? last.effort : settings.effort;
}
