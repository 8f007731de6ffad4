// What an event says, in one short phrase for people.
import { parseUsdText } from "../../analytics/figures.ts";
import type { EventType } from "../../core/events/event-catalogue.ts";
import type { EventOf, PayloadOf, StrataEvent } from "../../core/events/event.ts";
import { formatUsdRounded } from "../../core/models/pico-usd.ts";
import { formatCount, formatTokens } from "../../replay/format-figures.ts";
import { formatBytes, toShort } from "../ledger/render-ledger.ts";

/** On one line, without control characters. Empty if the type says it all. */
export function describeEvent(event: StrataEvent): string {
  return toShort(phraseOf(event), charactersMax);
}

const charactersMax = 160;

function phraseOf<Type extends EventType>({ type, payload }: EventOf<Type>): string {
  return phrases[type](payload);
}

function tokensOf(what: string, tokens: number | null): string | null {
  return tokens === null ? null : `${formatTokens(tokens)} ${what}`;
}

type Phrases = { readonly [Type in EventType]: (payload: PayloadOf<Type>) => string };

const phrases: Phrases = {
  "session.created": ({ agent, initial_active_model: model, parent_session_id: parent }) =>
    list(agent, `on ${model}`, parent === undefined ? null : `sub-agent of ${parent}`),
  "session.resumed": () => "",
  "session.ended": ({ disposition, turn_count: turns, total_cost_usd: cost }) =>
    list(disposition, formatCount(turns, "turn"), dollars(cost)),
  "queue.dropped": ({ item_id: item, status, cause }) => list(item, status, cause),
  "session.forked": ({ from_session_id: from }) => `from ${from}`,
  "session.archived": ({ reason }) => reason,
  "session.deleted": ({ reason }) => reason,

  "turn.started": ({ estimated_input_tokens: tokens }) => `about ${formatTokens(tokens)} tokens`,
  "route.decided": ({ model, reason, previous_model: previous }) =>
    list(`${model} (${reason})`, previous === null ? null : `before: ${previous}`),
  "turn.completed": ({ stop_reason: stop, total_cost_usd: cost, ...sums }) =>
    list(stop, workOf(sums), dollars(cost)),
  "turn.failed": ({ error_kind: kind, error_message_redacted: why, ...sums }) =>
    list(`${kind}: ${why}`, workOf(sums), dollars(sums.total_cost_usd)),
  "turn.cancelled": ({ reason }) => reason,
  "turn.interrupted": (payload) => list(payload.found_by, workOf(payload)),
  "turn.resumed": (payload) => workOf(payload),
  "turn.abandoned": (payload) => workOf(payload),

  "llm.call_started": ({ model, estimated_input_tokens: tokens }) =>
    `${model}, about ${formatTokens(tokens)} tokens`,
  "llm.call_completed": (payload) =>
    list(
      payload.stop_reason,
      `${formatTokens(payload.cached_input_tokens)} read`,
      `${formatTokens(payload.cache_creation_input_tokens)} written`,
      `${formatTokens(payload.input_tokens)} uncached`,
      `${formatTokens(payload.output_tokens)} made`,
      dollars(payload.cost_usd),
      duration(payload.latency_ms),
    ),
  "llm.call_failed": ({ error_class: kind, error_message_redacted: why, latency_ms: ms }) =>
    list(`${kind}: ${why}`, duration(ms)),
  "spending.cap_reached": ({ scope, cap_usd: cap, spent_usd: spent }) =>
    list(`cap per ${scope}: ${dollars(cap)}`, `spent ${dollars(spent)}`),
  "cache.warmed": ({ purpose, outcome, cached_input_tokens: read, cost_usd: cost, ...more }) =>
    list(
      `${purpose}: ${outcome}`,
      `${formatTokens(read)} read`,
      `${formatTokens(more.cache_creation_input_tokens)} written`,
      dollars(cost),
    ),
  "cache.miss": (payload) => {
    const { block_label: section, block_byte_offset: byte } = payload;
    return list(
      `lost ${formatTokens(payload.lost_tokens)}: ${payload.cause}`,
      payload.detail,
      section === null ? null : `in ${section}${byte === null ? "" : `, byte ${byte}`}`,
      dollars(payload.lost_cost_usd),
    );
  },
  "gateway.call": (payload) =>
    list(
      payload.model,
      payload.failure ?? payload.status,
      tokensOf("read", payload.cached_input_tokens),
      tokensOf("written", payload.cache_creation_input_tokens),
      tokensOf("uncached", payload.input_tokens),
      tokensOf("made", payload.output_tokens),
      dollars(payload.cost_usd),
      duration(payload.latency_ms),
    ),
  "gateway.calls_lost": ({ cause, lost_call_count: count, from, until }) =>
    list(cause, count === null ? null : formatCount(count, "call"), `${from} to ${until}`),
  "gateway.compacted": ({ client, trigger, summary_size_bytes: bytes }) =>
    list(client, trigger, `a summary of ${formatBytes(bytes)}`),

  "tool.called": ({ tool_name: name, input_size_bytes: bytes, side_effects: effects }) =>
    list(name, formatBytes(bytes), effects === "none" ? null : effects),
  "tool.completed": ({ tool_name: name, success, output_size_bytes: bytes, latency_ms: ms }) =>
    list(name, success ? null : "failed", formatBytes(bytes), duration(ms)),
  "tool.failed": ({ tool_name: name, error_class: kind, error_message: why, latency_ms: ms }) =>
    list(name, `${kind}: ${why}`, duration(ms)),
  "tool.input_invalid": ({ tool_name: name, validation_errors: errors }) => list(name, ...errors),
  "tool.confirmation_requested": ({ tool_name: name }) => name,
  "tool.confirmation_resolved": ({ decision }) => decision,
  "skill.search": ({ query, results_count: count }) => `${query}: ${formatCount(count, "result")}`,
  "skill.loaded": ({ skill_id: id, load_reason: reason, load_size_tokens: tokens }) =>
    list(id, reason, `${formatTokens(tokens)} tokens`),
  "skill.modified": ({ skill_id: id, operation }) => `${id} ${operation}`,

  "memory.updated": ({ file, operation, after_size_bytes: bytes }) =>
    list(`${file} ${operation}`, formatBytes(bytes)),
  "memory.eviction": ({ file, entries_evicted: count }) =>
    `${file}: ${formatCount(count, "entry", "entries")} removed`,
  "memory.unreadable": ({ file, reason }) => `${file}: ${reason}`,
  "compaction.started": ({ trigger, tokens_before: tokens, turns_to_fold: turns }) =>
    list(trigger, formatCount(turns, "turn"), `${formatTokens(tokens)} tokens`),
  "compaction.completed": ({ trigger, tokens_before: before, tokens_after: after, ...rest }) =>
    list(
      trigger,
      `${formatTokens(before)} to ${formatTokens(after)} tokens`,
      dollars(rest.cost_usd),
    ),
  "compaction.failed": ({ error_class: kind, error_message_redacted: why }) => `${kind}: ${why}`,
  "compaction.skipped": ({ trigger, outcome }) => `${trigger}: ${outcome}`,
};

function workOf(sums: {
  readonly llm_call_count: number;
  readonly tool_call_count: number;
}): string {
  const tools = sums.tool_call_count;
  const calls = formatCount(sums.llm_call_count, "call");
  return tools === 0 ? calls : `${calls}, ${formatCount(tools, "tool call")}`;
}

function list(...parts: readonly (string | null | undefined)[]): string {
  return parts.filter((part) => part != null && part !== "").join(", ");
}

/** Null is a price that is not known. */
function dollars(usd: string | null): string {
  const picoUsd = parseUsdText(usd);
  return picoUsd === null ? "cost unknown" : formatUsdRounded(picoUsd, 4);
}

function duration(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}
