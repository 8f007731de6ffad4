// Converts call rows to records and back, and sums calls.
import { policyNames } from "../../../../core/cache/policy.ts";
import { eventCatalogue } from "../../../../core/events/event-catalogue.ts";
import { withMoneyAsText } from "../../../../core/models/pico-usd.ts";
import { hashContent } from "../../../../core/hash.ts";
import type { CallEntry, CallRecord, LoneCall } from "../../../../core/ledger/call-entry.ts";
import {
  fromOutcomeText,
  fromPlanText,
  toOutcomeText,
  toPlanText,
} from "../../../../core/ledger/call-text.ts";
import { lifetimes, type Lifetime, type Usage } from "../../../../core/message/usage.ts";
import type { ReplyStop } from "../../../../core/wire/reply.ts";
import type { ResultRow } from "../../sql/database.ts";
import { integer, integerOrNull, moneyOrNull, oneOf, readAs, text } from "../../sql/read-row.ts";
import { storable } from "../../sql/storable.ts";
import { countSum, moneySums } from "../../sql/sums.ts";
import type { Row } from "../../sql/tables.ts";

export interface CallContext {
  readonly sessionId: string;
  readonly provider: string;
  /** The hash of the reply. Empty for none. */
  readonly replyHash: string;
}

export function callRow(entry: CallEntry, { sessionId, provider, replyHash }: CallContext): Row {
  const { turnId: turn_id, number } = entry;
  // The prompt key covers what was sent, also by tier.
  const sealed = toOutcomeText(entry, { withTiers: false });
  const row = rowOf(entry, { turn_id, number, session_id: sessionId }, provider, sealed);
  const outcome_json = entry.tiers === undefined ? sealed : toOutcomeText(entry);
  return { ...row, outcome_json, entry_hash: hashOf(row, replyHash), kind: "turn", id: null };
}

/** Number 0: it is no call of a turn. */
export function loneCallRow(call: LoneCall): Row {
  const { id, kind, sessionId: session_id, provider } = call;
  const place = { turn_id: null, number: 0, session_id };
  const row = rowOf(call, place, provider, toOutcomeText(call));
  return { ...row, entry_hash: hashOf(row, `${kind}\n${id}`), kind, id };
}

export function hashOf(row: Row, more: string): string {
  let lines = "";
  for (const value of Object.values(row)) lines += `${value}\n`;
  return hashContent(lines + more);
}

type RecordedCall = Omit<CallRecord, "turnId" | "number">;

function rowOf(entry: RecordedCall, place: Row, provider: string, outcome_json: string): Row {
  return {
    ...place,
    started_ms: entry.startMs,
    ended_ms: entry.endMs,
    model: storable(entry.model),
    provider: storable(provider),
    policy: entry.policy,
    request_hash: storable(entry.promptKey),
    status: entry.status,
    stop_reason: entry.stopReason,
    ...usageCells(entry.usage),
    cost_pico_usd: entry.costPicoUsd,
    plan_json: toPlanText(entry.plan),
    outcome_json,
  };
}

export function usageCells(usage: Usage | null): Row {
  return {
    uncached_tokens: usage?.uncachedTokens ?? null,
    read_tokens: usage?.cacheReadTokens ?? null,
    write_5m_tokens: usage?.cacheWriteTokens["5m"] ?? null,
    write_30m_tokens: usage?.cacheWriteTokens["30m"] ?? null,
    write_1h_tokens: usage?.cacheWriteTokens["1h"] ?? null,
    write_12h_tokens: usage?.cacheWriteTokens["12h"] ?? null,
    write_24h_tokens: usage?.cacheWriteTokens["24h"] ?? null,
    output_tokens: usage?.outputTokens ?? null,
    reasoning_tokens: usage?.reasoningTokens ?? null,
  };
}

export const writeColumns: Readonly<Record<Lifetime, string>> = {
  "5m": "write_5m_tokens",
  "30m": "write_30m_tokens",
  "1h": "write_1h_tokens",
  "12h": "write_12h_tokens",
  "24h": "write_24h_tokens",
};

export const callStatuses = ["complete", "partial", "failed"] as const;
export const stops: readonly ReplyStop[] = eventCatalogue["llm.call_completed"].payload.stop_reason;

export function toCallRecord(row: ResultRow): CallRecord {
  return withMoneyAsText({
    turnId: text(row, "turn_id"),
    number: integer(row, "number"),
    ...toRecorded(row),
  });
}

export function toLoneCall(row: ResultRow): LoneCall {
  return withMoneyAsText({
    id: text(row, "id"),
    sessionId: text(row, "session_id"),
    kind: oneOf(row, "kind", loneKinds),
    provider: text(row, "provider"),
    ...toRecorded(row),
  });
}

const loneKinds = ["warm", "stored"] as const;

function toRecorded(row: ResultRow): RecordedCall {
  return {
    startMs: integer(row, "started_ms"),
    endMs: integer(row, "ended_ms"),
    model: text(row, "model"),
    policy: oneOf(row, "policy", policyNames),
    promptKey: text(row, "request_hash"),
    plan: readAs(row, "plan_json", fromPlanText),
    status: oneOf(row, "status", callStatuses),
    stopReason: row["stop_reason"] === null ? null : oneOf(row, "stop_reason", stops),
    usage: row["uncached_tokens"] === null ? null : toUsage(row),
    costPicoUsd: moneyOrNull(row, "cost_pico_usd"),
    ...readAs(row, "outcome_json", fromOutcomeText),
  };
}

export function toUsage(row: ResultRow): Usage {
  const cacheWriteTokens: Partial<Record<Lifetime, number>> = {};
  for (const lifetime of lifetimes) {
    const tokens = integerOrNull(row, writeColumns[lifetime]);
    if (tokens !== null) cacheWriteTokens[lifetime] = tokens;
  }
  return {
    uncachedTokens: integer(row, "uncached_tokens"),
    cacheReadTokens: integer(row, "read_tokens"),
    cacheWriteTokens,
    outputTokens: integer(row, "output_tokens"),
    reasoningTokens: integer(row, "reasoning_tokens"),
  };
}

export const usageColumns: readonly string[] = [
  "uncached_tokens",
  "read_tokens",
  ...Object.values(writeColumns),
  "output_tokens",
  "reasoning_tokens",
];

/** Sums over the calls that a condition on `c.turn_id` selects. */
export function callSums(condition: string): string {
  const sums = usageColumns.map((column) => `${countSum(`c.${column}`)} AS ${column}`).join(", ");
  return `SELECT c.turn_id, COUNT(*) AS call_count, ${moneySums("c.cost_pico_usd", "cost")}, ${sums}
    FROM calls c WHERE ${condition} GROUP BY c.turn_id`;
}
