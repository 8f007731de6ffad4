// A call as the API shows it, from an engine or a gateway: what was read, written, missed and paid.
import { toUsdText } from "../../analytics/figures.ts";
import { toIso } from "../../analytics/time-window.ts";
import type { Explanation } from "../../core/diagnosis/explanation.ts";
import { fieldsIn, fieldsOf } from "../../core/message/fields.ts";
import { generatedTokens, hitRate, writtenTokens } from "../../core/message/usage.ts";
import { toAnyCall } from "../../edge/stores/ledger/gateway/gateway-rows.ts";
import type { ResultRow } from "../../edge/stores/sql/database.ts";
import { integer, moneyOrNull, text, textOrNull } from "../../edge/stores/sql/read-row.ts";
import {
  count,
  flag,
  list,
  moment,
  number,
  object,
  oneOf,
  orNull,
  text as words,
  usd,
  type Schema,
} from "../routes/schema.ts";

const kinds = ["turn", "warm", "stored", "gateway"] as const;

const miss = orNull(
  object(
    {
      cause: words("why less was read than could have been"),
      detail: orNull(words("such as `tool choice: auto → any`")),
      section: orNull(words("the first block that differs, or the last that was not read")),
      tier: orNull(words("its tier")),
      block: orNull(count("its number in the prompt, from 0")),
      byte: orNull(count("the first byte of it that differs")),
      expected_read_tokens: count("what could have been read"),
      reported_read_tokens: count("what was read"),
      lost_tokens: count("the difference"),
      lost_cost_usd: orNull(usd("what it cost over a read; null if the price is unknown")),
      advice: words("what would have avoided it"),
    },
    "null if nothing was missed; of calls in turns, see the misses",
  ),
);

export const callMembers: Readonly<Record<string, Schema>> = {
  call: words("its name in its session: that of the gateway's call, or TURN.NUMBER"),
  session: words("its session or conversation"),
  turn: orNull(words("null outside of turns")),
  number: count("from 1 in its turn or conversation; 0 for others"),
  kind: oneOf(
    kinds,
    "for a turn, to keep a cache warm, about a stored prefix, or another program's through the gateway",
  ),
  model: words("the name under which it has a price, if it has one"),
  provider: words("who answered"),
  upstream: orNull(words("where the gateway sent it")),
  policy: words("who placed the markers: a policy, or `client`"),
  arm: orNull(words("the way that its conversation goes where ways are compared")),
  gateway_key: orNull(words("the key of the gateway")),
  user: orNull(words("of that key")),
  team: orNull(words("of that key")),
  started_at: moment("in UTC"),
  latency_ms: number("to the last byte"),
  first_byte_ms: orNull(number("to the first byte")),
  status: oneOf(["complete", "partial", "failed"], "how it ended"),
  stop_reason: orNull(words("why the reply ended")),
  failure: orNull(words("the kind of failure")),
  uncached_input_tokens: orNull(count("null without usage")),
  cached_input_tokens: orNull(count("read")),
  cache_creation_tokens: orNull(count("written")),
  output_tokens: orNull(count("made, with reasoning")),
  reports_cache: flag("false if the provider says nothing of its cache"),
  hit_rate: orNull(number("read ÷ prompt")),
  cost_usd: orNull(usd("null without usage or price")),
  plain_cost_usd: orNull(usd("the same call without a cache; null if unknown")),
  client_cost_usd: orNull(usd("with the client's own markers; null if nothing was compared")),
  expected_read_tokens: orNull(count("what its plan expected to be read")),
  tiers: list(
    object({ tier: words("T0 tools to T5 volatile text"), tokens: count("by our count") }),
    "the prompt by tier, from its start; empty if it was not counted",
  ),
  miss,
};

/** From a row of `calls`. */
export function toCall(row: ResultRow): Readonly<Record<string, unknown>> {
  const call = toAnyCall(row);
  const turn = textOrNull(row, "turn_id");
  const { usage } = call;
  const cost = call.costPicoUsd;
  return {
    call: turn === null ? text(row, "id") : `${turn}.${integer(row, "number")}`,
    session: text(row, "session_id"),
    turn,
    number: integer(row, "number"),
    kind: text(row, "kind"),
    model: text(row, "model"),
    provider: text(row, "provider"),
    upstream: textOrNull(row, "upstream"),
    policy: text(row, "policy"),
    arm: textOrNull(row, "arm"),
    gateway_key: textOrNull(row, "gateway_key"),
    user: textOrNull(row, "user_name"),
    team: textOrNull(row, "team_name"),
    started_at: toIso(call.startMs),
    latency_ms: Math.max(0, call.endMs - call.startMs),
    first_byte_ms: firstByteOf(row, call.startMs),
    status: call.status,
    stop_reason: call.stopReason,
    failure: call.failure?.kind ?? null,
    uncached_input_tokens: usage?.uncachedTokens ?? null,
    cached_input_tokens: usage?.cacheReadTokens ?? null,
    cache_creation_tokens: usage && writtenTokens(usage),
    output_tokens: usage && generatedTokens(usage),
    reports_cache: "reportsCache" in call ? call.reportsCache : usage !== null,
    hit_rate: usage && hitRate(usage),
    cost_usd: cost === null ? null : toUsdText(cost),
    plain_cost_usd: usdOrNull(moneyOrNull(row, "plain_cost_pico_usd")),
    client_cost_usd: usdOrNull(moneyOrNull(row, "client_cost_pico_usd")),
    expected_read_tokens: "plan" in call ? call.plan.expected.readTokens : null,
    tiers: (call.tiers ?? []).map(([tier, tokens]) => ({ tier, tokens })),
    miss: "explanation" in call ? toMiss(call.explanation) : null,
  };
}

function firstByteOf(row: ResultRow, startMs: number): number | null {
  const at = row["first_byte_ms"];
  return typeof at === "number" ? Math.max(0, at - startMs) : null;
}

export function usdOrNull(pico: bigint | null): string | null {
  return pico === null ? null : toUsdText(pico);
}

function toMiss(found: Explanation | null): object | null {
  if (found === null || found.lostTokens === 0 || found.cause === "no miss") return null;
  const { block } = found;
  return {
    cause: found.cause,
    detail: found.detail,
    section: block?.section ?? null,
    tier: block?.tier ?? null,
    block: block?.index ?? null,
    byte: block?.byteOffset ?? null,
    expected_read_tokens: found.expectedReadTokens,
    reported_read_tokens: found.reportedReadTokens,
    lost_tokens: found.lostTokens,
    lost_cost_usd: usdOrNull(found.lostPicoUsd),
    advice: found.advice,
  };
}

/** What a client named its session, and what the conversation is. */
export function toConversationFacts(contextJson: string | null): {
  readonly kind: unknown;
  readonly clientSession: unknown;
} {
  const context = fieldsOf(contextJson === null ? null : JSON.parse(contextJson));
  const { kind = null, clientSession = null } = fieldsIn(context, "conversation");
  return { kind, clientSession };
}
