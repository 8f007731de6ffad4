// The response object: settings, output and usage.
import type { SurfaceContext } from "../../surface.ts";
import type { Diagnostics } from "../diagnose.ts";
import { fields, find, type Place } from "../request/fields.ts";
import { toPlainValue } from "../../json-source.ts";
import { effortOf } from "../request/read-request.ts";
import { toWire, type OutputItem, type Shown } from "./responses-output.ts";
import type { Call } from "../run-call.ts";
import { toResponsesUsage } from "./usage.ts";

export interface ResponseReply {
  readonly call: Call;
  readonly body: Place;
  readonly output: readonly OutputItem[];
  readonly shown: Shown;
  readonly diagnostics: Diagnostics | null;
  readonly createdAt: number;
}

export function statusOf({ call }: ResponseReply): "completed" | "incomplete" {
  return call.produced.isCut ? "incomplete" : "completed";
}

export function toBegunResponse(reply: ResponseReply): object {
  return { ...fixedPart(reply), status: "in_progress", output: [], usage: null };
}

export function toResponse(reply: ResponseReply): object {
  const { call, output, shown, diagnostics, createdAt } = reply;
  const { request, produced, open } = call;
  const status = statusOf(reply);
  return {
    ...fixedPart(reply),
    status,
    ...(status === "completed" ? { completed_at: createdAt } : {}),
    incomplete_details: produced.isCut ? { reason: "max_output_tokens" } : null,
    output: output.map((item) => toWire(item, shown)),
    ...(diagnostics === null ? {} : { prompt_cache_diagnostics: diagnostics }),
    usage: toResponsesUsage(open.bill, produced, request.facts),
  };
}

function fixedPart({ call, body, createdAt }: ResponseReply): object {
  const { request, id } = call;
  const { cache, settings, facts } = request;
  const echo = (key: string, otherwise: unknown): unknown => {
    const value = find(body, key);
    return value === null ? otherwise : toPlainValue(value);
  };
  const format = find(body, "text")?.kind === "object" ? echo("text", {}) : {};
  const options = { mode: cache.mode, ttl: cache.lifetime };
  const { comparisonId } = cache;
  return {
    id,
    object: "response",
    created_at: createdAt,
    access_programs: null,
    background: false,
    completed_at: null,
    error: null,
    incomplete_details: null,
    instructions: request.instructions,
    max_output_tokens: request.outputTokensMax,
    max_tool_calls: echo("max_tool_calls", null),
    metadata: echo("metadata", {}),
    model: request.model,
    parallel_tool_calls: settings.parallelToolCalls,
    previous_response_id: fields.findText(body, "previous_response_id"),
    prompt_cache_key: settings.cacheKey,
    ...(facts.cache.markers === null
      ? {}
      : {
          prompt_cache_options:
            comparisonId === null ? options : { ...options, comparison_response_id: comparisonId },
        }),
    prompt_cache_retention: echo("prompt_cache_retention", null),
    reasoning: reasoningOf(request, body),
    safety_identifier: echo("safety_identifier", null),
    service_tier: settings.serviceTier,
    store: echo("store", true),
    temperature: echo("temperature", 1),
    text: {
      format: { type: "text" },
      verbosity: settings.verbosity,
      ...(typeof format === "object" ? format : {}),
    },
    tool_choice: echo("tool_choice", "auto"),
    tools: echo("tools", []),
    top_logprobs: 0,
    top_p: echo("top_p", 1),
    truncation: echo("truncation", "disabled"),
    user: echo("user", null),
  };
}

function reasoningOf(request: Call["request"], body: Place): object {
  const reasoning = fields.findPlace(body, "reasoning");
  const summary = reasoning === null ? null : find(reasoning, "summary");
  return {
    effort: request.facts.capabilities.thinking ? effortOf(request) : null,
    summary: summary === null ? null : toPlainValue(summary),
  };
}

export function toSeconds({ nowMs }: Pick<SurfaceContext, "nowMs">): number {
  return Math.floor(nowMs / 1000);
}
