// A parsed request of either API, for rendering, billing and answering.
import type { ModelFacts } from "../../../core/models/model-facts.ts";
import { findModel } from "../../../core/models/resolve-model.ts";
import { ApiError } from "../api-error.ts";
import { fields, type Place } from "./fields.ts";
import type { Item, ToolDefinition } from "./items.ts";
import { readCacheOptions, type CacheOptions } from "./read-cache-options.ts";
import { readToolChoice, readTools, type ToolChoice, type ToolEntry } from "./read-tools.ts";
import type { BillableRequest, Keeping } from "../../billing/billable-request.ts";
import efforts from "./data/default-efforts.json" with { type: "json" };
import { compactJson } from "../../json-source.ts";

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
  /** What the provider keeps without markers, where the model's facts do not say it. */
  readonly keeping?: Keeping;
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
  // Short names are ours.
  const facts = found?.matched === "short name" ? undefined : found?.facts;
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

export interface Settings {
  readonly billable: BillableRequest["settings"];
  /** The effort before any item of the conversation changes it. */
  readonly effort: string;
  readonly verbosity: string;
  readonly parallelToolCalls: boolean;
  /** The name in the reply. */
  readonly serviceTier: string;
  readonly cacheKey: string | null;
  /** Requested lifetime for models without breakpoints; null if the client leaves it to the provider. */
  readonly retention: "24h" | null;
}

const allEfforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
const serviceTiers = ["auto", "default", "flex", "scale", "priority", "fast", "ultrafast"] as const;

/** Chat has effort, verbosity and format at the top level; Responses nests them. */
function readSettings(body: Place, api: "chat" | "responses", facts: ModelFacts): Settings {
  const nested = api === "responses";
  const text = nested ? fields.findPlace(body, "text") : null;
  const reasoning = nested ? fields.findPlace(body, "reasoning") : null;
  const asked = nested
    ? reasoning && fields.findOneOf(reasoning, "effort", allEfforts)
    : fields.findOneOf(body, "reasoning_effort", allEfforts);
  const effort = asked ?? defaultEffort(facts);
  const worded = nested ? text : body;
  const verbosity =
    (worded && fields.findOneOf(worded, "verbosity", ["low", "medium", "high"])) ?? "medium";
  const parallelToolCalls = fields.findFlag(body, "parallel_tool_calls") ?? true;
  const serviceTier = tierOf(fields.findOneOf(body, "service_tier", serviceTiers));
  const cacheKey = fields.findText(body, "prompt_cache_key");
  const format = formatOf(worded, nested ? "format" : "response_format");
  return {
    billable: {
      ...(parallelToolCalls ? {} : { "parallel tool use": "false" }),
      ...(format === null ? {} : { "output format": format }),
      ...(effort === defaultEffort(facts) ? {} : { effort }),
      ...(verbosity === "medium" ? {} : { verbosity }),
      ...(serviceTier === "default" ? {} : { "service tier": serviceTier }),
      // On models without breakpoints the key only chooses a machine.
      ...(cacheKey === null || facts.cache.markers === null ? {} : { "cache key": cacheKey }),
    },
    effort,
    verbosity,
    parallelToolCalls,
    serviceTier,
    cacheKey,
    retention: readRetention(body, facts),
  };
}

/** In-memory prefixes can be lost after ten minutes. A model that promises longer has no in-memory retention. */
const inMemorySecondsMin = 600;

/** Breakpoints have their own lifetimes, which retention does not change. */
function readRetention(body: Place, { cache }: ModelFacts): Settings["retention"] {
  const isOnlyDay =
    cache.markers !== null || (cache.automatic?.keptSecondsMin ?? 0) > inMemorySecondsMin;
  const retentions = isOnlyDay ? (["24h"] as const) : (["in_memory", "in-memory", "24h"] as const);
  const asked = fields.findOneOf(body, "prompt_cache_retention", retentions);
  const canKeepDay = cache.lifetimes.some(({ lifetime }) => lifetime === "24h");
  return asked === "24h" && canKeepDay ? asked : null;
}

/** `none` for models without reasoning. */
function defaultEffort(facts: ModelFacts): string {
  const listed = Object.entries(efforts.models).find(([id]) => id === facts.id)?.[1];
  return facts.capabilities.thinking ? (listed ?? efforts.default) : "none";
}

function formatOf(place: Place | null, key: string): string | null {
  const format = place === null ? null : fields.findPlace(place, key);
  if (format === null || fields.findText(format, "type") === "text") return null;
  return compactJson(format.object);
}

function tierOf(asked: (typeof serviceTiers)[number] | null): string {
  if (asked === null || asked === "auto") return "default";
  return asked === "fast" ? "priority" : asked;
}
