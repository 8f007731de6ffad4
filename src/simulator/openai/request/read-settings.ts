// Settings of a request that decide whether a prefix is found. Explicit defaults count as absent.
import type { ModelFacts } from "../../../core/models/model-facts.ts";
import type { BillableRequest } from "../../billing/billable-request.ts";
import efforts from "./data/default-efforts.json" with { type: "json" };
import { fields, type Place } from "./fields.ts";
import { compactJson } from "../../json-source.ts";

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
export function readSettings(body: Place, api: "chat" | "responses", facts: ModelFacts): Settings {
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
