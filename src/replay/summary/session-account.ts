// What one session was billed, what it would have cost, and where the difference comes from.
import type { MissCause } from "../../core/diagnosis/explanation.ts";
import { lifetimes, noUsage, promptTokens, type Usage } from "../../core/message/usage.ts";
import { findTotal } from "../../core/models/cost.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
import { isMiss, type ExplainedCall } from "../explain/explained-call.ts";
import type { RecordedSession } from "../recording.ts";
import { costOf } from "../tally.ts";

/** Why money was lost. `markers`: calls that lost nothing by a change, where other markers would have been cheaper. */
export type LossCause = MissCause | "markers";

/** How the session is reported: under policies, at a provider that takes no markers, or as its bills alone. */
export type SessionKind = "compared" | "automatic" | "billed";

/** A plain value, so that it can be sent between threads. */
export interface SessionAccount {
  readonly id: string;
  readonly file: string;
  readonly agent: string | null;
  readonly models: Set<string>;
  /** Requests by how they are reported. */
  readonly requests: Record<SessionKind, number>;
  /** Requests that have no time, or neither prompt nor bill. */
  unused: number;
  firstMs: number;
  readonly paid: Money;
  readonly losses: Map<LossCause, Loss>;
  readonly days: Map<string, DayAccount>;
}

export interface Money {
  requests: number;
  inputPicoUsd: bigint;
  outputPicoUsd: bigint;
}

export interface Loss {
  calls: number;
  tokens: number;
  /** What was paid above what the call would have cost. */
  lostPicoUsd: bigint;
  first: FirstSeen;
}

export interface FirstSeen {
  readonly sessionId: string;
  /** Within its session, from 1. */
  readonly call: number;
  readonly startMs: number;
  readonly detail: string | null;
  readonly advice: string;
  /** Whether the recording shows the cause, or bills and replies. */
  readonly evidence: ExplainedCall["evidence"];
}

export interface DayAccount {
  readonly paid: Money;
  lostPicoUsd: bigint;
}

export function openAccount({ id, file, agent }: RecordedSession): SessionAccount {
  return {
    id,
    file,
    agent,
    models: new Set(),
    requests: { compared: 0, automatic: 0, billed: 0 },
    unused: 0,
    firstMs: Infinity,
    paid: noMoney(),
    losses: new Map(),
    days: new Map(),
  };
}

export function noMoney(): Money {
  return { requests: 0, inputPicoUsd: 0n, outputPicoUsd: 0n };
}

export function addMoney(sum: Money, more: Money): void {
  sum.requests += more.requests;
  sum.inputPicoUsd += more.inputPicoUsd;
  sum.outputPicoUsd += more.outputPicoUsd;
}

/** A call with its bill; the cost of its prompt is known to the caller. */
export interface PaidCall {
  readonly usage: Usage;
  readonly model: ModelFacts;
  readonly startMs: number;
  readonly inputPicoUsd: bigint;
}

export function addPaid(account: SessionAccount, call: PaidCall): void {
  const { usage, model, startMs, inputPicoUsd } = call;
  const total = findTotal(usage, model, { at: startMs }) ?? inputPicoUsd;
  const money = { requests: 1, inputPicoUsd, outputPicoUsd: total - inputPicoUsd };
  addMoney(account.paid, money);
  addMoney(dayOf(account, startMs).paid, money);
}

/** A call lost money to `cause`; the amount may be negative: a marker is paid on one call and pays on another. */
export function addLoss(
  account: SessionAccount,
  { explanation, evidence, call }: ExplainedCall,
  cause: LossCause,
  { startMs, lostPicoUsd }: { readonly startMs: number; readonly lostPicoUsd: bigint },
): void {
  const { detail, advice, lostTokens } = explanation;
  const first = { sessionId: account.id, call, startMs, detail, advice, evidence };
  const calls = isMiss(explanation) ? 1 : 0;
  addTo(account.losses, cause, { calls, tokens: lostTokens, lostPicoUsd, first });
  dayOf(account, startMs).lostPicoUsd += lostPicoUsd;
}

export function addTo(losses: Map<LossCause, Loss>, cause: LossCause, more: Loss): void {
  const sum = losses.get(cause);
  if (sum === undefined) losses.set(cause, { ...more });
  else {
    if (sum.calls === 0) sum.first = more.first;
    sum.calls += more.calls;
    sum.tokens += more.tokens;
    sum.lostPicoUsd += more.lostPicoUsd;
  }
}

/** What other markers can repair, and calls without a miss, are one cause. */
export function lossCauseOf(cause: MissCause): LossCause {
  return repairedByMarkers.has(cause) ? "markers" : cause;
}

const repairedByMarkers: ReadonlySet<MissCause> = new Set([
  "no miss",
  "first call",
  "lifetime expired",
  "nothing was marked",
  "below the minimum",
  "beyond lookback",
  "no slot for a marker",
  "written concurrently",
]);

function dayOf({ days }: SessionAccount, startMs: number): DayAccount {
  const name = new Date(startMs).toISOString().slice(0, 10);
  const day = days.get(name) ?? { paid: noMoney(), lostPicoUsd: 0n };
  days.set(name, day);
  return day;
}

/** What a prompt costs whose first tokens another session had left at the provider, as the bill says. */
export function costWhereWarm(
  usage: Usage,
  warmTokens: number,
  model: ModelFacts,
  startMs: number,
): bigint {
  return costOf(warmTokens === 0 ? usage : withWarmStart(usage, warmTokens), model, startMs);
}

/** The longest lifetime is written first: it stands at the beginning of the prompt. */
function withWarmStart(usage: Usage, warmTokens: number): Usage {
  let left = Math.max(0, warmTokens - usage.cacheReadTokens);
  const cacheWriteTokens = { ...usage.cacheWriteTokens };
  for (const lifetime of lifetimes.toReversed()) {
    const written = cacheWriteTokens[lifetime];
    if (written === undefined) continue;
    cacheWriteTokens[lifetime] = written - Math.min(left, written);
    left -= Math.min(left, written);
  }
  const paid = {
    ...noUsage,
    uncachedTokens: Math.max(0, usage.uncachedTokens - left),
    cacheWriteTokens,
  };
  return { ...paid, cacheReadTokens: promptTokens(usage) - promptTokens(paid) };
}
