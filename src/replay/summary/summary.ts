// What was paid, what the same sessions would have cost, and why: the part of a report that one can act on.
import type { Policy } from "../../core/cache/policy.ts";
import { toAccounting, type Accounting } from "./accounting.ts";
import type { Comparison, Sums } from "../books.ts";
import { planIndex } from "../other-bytes.ts";
import { wordsOf } from "./loss-words.ts";
import {
  addMoney,
  addTo,
  noMoney,
  type FirstSeen,
  type Loss,
  type LossCause,
  type Money,
  type SessionAccount,
} from "./session-account.ts";

export interface ReplaySummary {
  /** Null where no request has a bill. */
  readonly headline: Headline | null;
  /** In order of money. */
  readonly causes: readonly CauseReport[];
  /** Sessions with a bill, in order of the money they lost. */
  readonly sessions: readonly SessionReport[];
  /** Days with a bill, in order. */
  readonly days: readonly DayReport[];
  /** The recorded calls against the policies, over the same requests. */
  readonly comparison?: ComparisonReport;
  readonly accounting: Accounting;
}

export interface Headline {
  readonly paid: PaidReport;
  /** What the same sessions would have cost with everything below repaired, output included. */
  readonly wouldCostUsd: number;
  readonly lostUsd: number;
  /** The policy that stands for markers placed by cost. */
  readonly plan: string;
}

export interface PaidReport {
  /** Requests with a bill. */
  readonly requests: number;
  readonly inputUsd: number;
  readonly outputUsd: number;
  readonly totalUsd: number;
  readonly totalPicoUsd: string;
}

export interface CauseReport {
  /** `markers`: calls that lost nothing by a change, where markers placed by cost are cheaper. */
  readonly cause: LossCause;
  readonly lostUsd: number;
  readonly lostPicoUsd: string;
  /** Calls that read less than they could have. */
  readonly calls: number;
  readonly tokens: number;
  /** For a sentence: "$3 of it is …: …". */
  readonly what: string;
  readonly act: string;
  /** The same at length, about the first call. */
  readonly advice: string;
  readonly first: {
    readonly session: string;
    readonly call: number;
    readonly at: string;
    readonly detail: string | null;
    /** `inferred`: the recording does not show it; bills and replies do. */
    readonly evidence: FirstSeen["evidence"];
  };
}

export interface SessionReport {
  readonly session: string;
  readonly file: string;
  readonly agent: string | null;
  readonly models: readonly string[];
  readonly at: string;
  readonly paid: PaidReport;
  readonly wouldCostUsd: number;
  readonly lostUsd: number;
  /** The cause that cost most; null if nothing was lost. */
  readonly topCause: LossCause | null;
}

export interface DayReport {
  readonly day: string;
  readonly paid: PaidReport;
  readonly wouldCostUsd: number;
  readonly lostUsd: number;
}

/**
 * Prompts only, at providers that take markers. What other sessions had left there for a first request is given to the
 * policies, too.
 */
export interface ComparisonReport {
  readonly requests: number;
  readonly recordedUsd: number;
  readonly limitUsd: number;
  readonly limitWithBreaksUsd: number;
  readonly policies: readonly {
    readonly policy: string;
    /** With the bytes that the recordings show. */
    readonly costUsd: number;
    /** With the changes that only the bills show, at the same calls. */
    readonly withBreaksUsd: number;
  }[];
}

export function toSummary(sums: Sums, policies: readonly Pick<Policy, "name">[]): ReplaySummary {
  const accounts = [...sums.accounts.values()].filter(({ paid }) => paid.requests > 0);
  const paid = noMoney();
  const losses = new Map<LossCause, Loss>();
  const days = new Map<string, { readonly paid: Money; lostPicoUsd: bigint }>();
  for (const account of accounts) {
    addMoney(paid, account.paid);
    for (const [cause, loss] of account.losses) addTo(losses, cause, loss);
    for (const [name, day] of account.days) {
      const sum = days.get(name) ?? { paid: noMoney(), lostPicoUsd: 0n };
      days.set(name, sum);
      addMoney(sum.paid, day.paid);
      sum.lostPicoUsd += day.lostPicoUsd;
    }
  }
  const plan = policies[planIndex(policies)]?.name ?? "";
  const balance = toBalance(paid, sumOf(losses));
  return {
    headline: paid.requests === 0 ? null : { ...balance, plan },
    causes: [...losses].map(toCause).toSorted((left, right) => right.lostUsd - left.lostUsd),
    sessions: accounts.map(toSession).toSorted((left, right) => right.lostUsd - left.lostUsd),
    days: [...days]
      .toSorted(([left], [right]) => (left < right ? -1 : 1))
      .map(([day, { paid: money, lostPicoUsd }]) => ({ day, ...toBalance(money, lostPicoUsd) })),
    ...(sums.comparison.requests === 0
      ? {}
      : { comparison: toComparison(sums.comparison, policies) }),
    accounting: toAccounting(sums),
  };
}

function toBalance(paid: Money, lostPicoUsd: bigint): Omit<Headline, "plan"> {
  const total = paid.inputPicoUsd + paid.outputPicoUsd;
  return {
    paid: toPaid(paid),
    wouldCostUsd: toUsd(total - lostPicoUsd),
    lostUsd: toUsd(lostPicoUsd),
  };
}

function toPaid({ requests, inputPicoUsd, outputPicoUsd }: Money): PaidReport {
  const total = inputPicoUsd + outputPicoUsd;
  return {
    requests,
    inputUsd: toUsd(inputPicoUsd),
    outputUsd: toUsd(outputPicoUsd),
    totalUsd: toUsd(total),
    totalPicoUsd: total.toString(),
  };
}

function toCause([cause, loss]: [LossCause, Loss]): CauseReport {
  const { calls, tokens, lostPicoUsd, first } = loss;
  return {
    cause,
    lostUsd: toUsd(lostPicoUsd),
    lostPicoUsd: lostPicoUsd.toString(),
    calls,
    tokens,
    ...wordsOf(cause),
    advice: cause === "markers" ? markersAdvice : first.advice,
    first: {
      session: first.sessionId,
      call: first.call,
      at: new Date(first.startMs).toISOString(),
      detail: first.detail,
      evidence: first.evidence,
    },
  };
}

const markersAdvice =
  "Let markers and lifetimes be placed by cost: strata serve --optimize, or the library.";

function toSession(account: SessionAccount): SessionReport {
  const { id, file, agent, models, firstMs, paid, losses } = account;
  const [top] = [...losses].toSorted(([, left], [, right]) =>
    right.lostPicoUsd > left.lostPicoUsd ? 1 : -1,
  );
  return {
    session: id,
    file,
    agent,
    models: [...models],
    at: new Date(firstMs).toISOString(),
    ...toBalance(paid, sumOf(losses)),
    topCause: top === undefined || top[1].lostPicoUsd <= 0n ? null : top[0],
  };
}

function toComparison(
  comparison: Comparison,
  policies: readonly Pick<Policy, "name">[],
): ComparisonReport {
  return {
    requests: comparison.requests,
    recordedUsd: toUsd(comparison.paidPicoUsd),
    limitUsd: toUsd(comparison.limitPicoUsd),
    limitWithBreaksUsd: toUsd(comparison.limitWithBreaksPicoUsd),
    policies: policies.map(({ name }, index) => ({
      policy: name,
      costUsd: toUsd(comparison.shownPicoUsd[index] ?? 0n),
      withBreaksUsd: toUsd(comparison.brokenPicoUsd[index] ?? 0n),
    })),
  };
}

function sumOf(losses: ReadonlyMap<LossCause, Loss>): bigint {
  return [...losses.values()].reduce((sum, { lostPicoUsd }) => sum + lostPicoUsd, 0n);
}

function toUsd(picoUsd: bigint): number {
  return Number(picoUsd) / 1e12;
}
