// Whether it pays to repeat a prefix shortly before it expires: when the call is planned, and when the session waits.
import { noUsage, type Lifetime, type Usage } from "../message/usage.ts";
import type { CacheRules } from "../models/cache-rules.ts";
import { findCost } from "../models/cost.ts";
import type { ModelFacts } from "../models/model-facts.ts";
import type { KeepWarm } from "./cache-plan.ts";
import { countTolerance } from "./cache-state.ts";
import type { KeptPrefix } from "./kept-prefix.ts";
import { chanceBetween, chanceWithin, seenGaps, seenPauses, type Pace } from "./pace.ts";
import type { MarkerPart } from "./policy.ts";
import type { WarmBooks } from "./warm-books.ts";

/** How long before the end of a lifetime a repetition must start. */
const marginMs = 15_000;

export interface WarmQuestion {
  readonly rules: CacheRules;
  readonly pace: Pace;
  /** Tokens in the short-lived entry after this call. */
  readonly shortTokens: number;
  /** Tokens in the long-lived entry. */
  readonly longTokens: number;
}

/** A repetition costs a read of everything. It saves the rewrite if the next call comes a little late. */
export function decideKeepWarm({ rules, pace, shortTokens, longTokens }: WarmQuestion): KeepWarm {
  const [short] = rules.lifetimes;
  const read = rules.readMultiplier;
  if (rules.prewarm === null || short === undefined || read === null) {
    return { pays: false, afterMs: null, gainTokens: 0, reason: "the provider has no way to" };
  }
  const keptMs = short.seconds * 1000;
  const comes = chanceWithin(pace, 2 * keptMs - marginMs) - chanceWithin(pace, keptMs);
  const waits = 1 - chanceWithin(pace, keptMs - marginMs);
  const write = short.writeMultiplier ?? 1;
  const gained = comes * (write - read) * Math.max(0, shortTokens - longTokens);
  const gainTokens = Math.round(gained - waits * read * shortTokens);
  const chance = `${Math.round(comes * 100)} % of calls come just after ${short.lifetime}`;
  return {
    pays: gainTokens > 0,
    afterMs: keptMs - marginMs,
    gainTokens,
    reason:
      gainTokens > 0
        ? `${chance}: repeating saves about ${gainTokens} input tokens`
        : `${chance}: repeating would cost about ${-gainTokens} input tokens more than it saves`,
  };
}

export interface RefreshQuestion {
  readonly model: Pick<ModelFacts, "id" | "cache" | "prices">;
  readonly pace: Pace;
  readonly kept: KeptPrefix;
  /** The lifetimes that the refresh asks for. */
  readonly lifetimes: readonly Lifetime[];
  /** The start of the last call of a turn. */
  readonly callMs: number;
  readonly books: WarmBooks;
  /** How the policy places its markers. */
  readonly markers: MarkerPart["kind"];
}

export interface RefreshDecision {
  readonly pays: boolean;
  /** When the refresh is due; milliseconds since 1970. */
  readonly atMs: number;
  /** What it costs if the provider still has the prefix. */
  readonly costPicoUsd: bigint;
  /** What it costs at most: the provider lost everything, and writes it again. */
  readonly costPicoUsdMax: bigint;
  /** A sentence for people. */
  readonly reason: string;
}

interface RefreshRule {
  /** The expected saving must be at least this many times the cost. */
  readonly savingFactorMin: number;
  /** Whether a pause is bridged only once. */
  readonly isOnce: boolean;
  /** What keeping it warm may cost a session, beyond what it saved, as a share of what the session has cost. */
  readonly lossShareMax: number;
}

/**
 * Least-cost markers protect most of a session for an hour where its pauses are long. What they leave is the first pause
 * after many new tokens: one refresh bridges it, and the expected saving decides. Other markers protect nothing, so every
 * pause costs refreshes; because pauses are hard to predict, each must promise twice its cost.
 */
const refreshRules: Readonly<Record<MarkerPart["kind"], RefreshRule>> = {
  "least-cost": { savingFactorMin: 1, isOnce: true, lossShareMax: 0.06 },
  rules: { savingFactorMin: 2, isOnce: false, lossShareMax: 0.02 },
};

/** A session with fewer calls may be over soon: it bears only the smaller loss. */
const callsMin = 8;

/**
 * The decision while the session waits. A refresh keeps the prefix for one more lifetime. It saves the rewrite if the
 * next call comes within that time, which the pauses of this session so far make more or less likely.
 */
export function decideRefresh(question: RefreshQuestion): RefreshDecision | null {
  const { pace, kept, books } = question;
  const rule = refreshRules[question.markers];
  const atMs = kept.expiresMs - marginMs;
  const prices = priceRefresh(question, atMs);
  if (prices === null) return null;
  const { cost, most, saving } = prices;
  const chance = returnChance(question);
  const isWorth = chance * Number(saving) >= rule.savingFactorMin * Number(cost);
  const isBridged = rule.isOnce && books.since !== null && books.since.kept !== null;
  const isYoung = seenGaps(pace) + 1 < callsMin;
  const lossShareMax = isYoung ? refreshRules.rules.lossShareMax : rule.lossShareMax;
  const lossMax = lossShareMax * Number(books.paidPicoUsd);
  const isBearable = Number(books.spentPicoUsd - books.savedPicoUsd + cost) <= lossMax;
  const expected = `${Math.round(chance * 100)} % of calls are expected in the next ${kept.lifetime} of such a pause`;
  return {
    pays: isWorth && isBearable && !isBridged,
    atMs,
    costPicoUsd: cost,
    costPicoUsdMax: most,
    reason: isBridged
      ? "one refresh has bridged this pause already"
      : !isWorth
        ? `${expected}: a refresh would not save ${rule.savingFactorMin === 1 ? "" : "twice "}what it costs`
        : isBearable
          ? `${expected}: a refresh saves more than it costs`
          : `${expected}, but a refresh costs too much for what the session has cost so far`,
  };
}

interface RefreshPrices {
  readonly cost: bigint;
  readonly most: bigint;
  /** If the next call comes in time: reading instead of writing again. */
  readonly saving: bigint;
}

/** Null if the model has no price. */
function priceRefresh(
  { model, kept, lifetimes }: RefreshQuestion,
  atMs: number,
): RefreshPrices | null {
  const price = (bill: Partial<Usage>): bigint | null =>
    findCost({ ...noUsage, ...bill }, model, { at: atMs }).cost?.totalPicoUsd ?? null;
  const { tokens, longTokens, promptTokens, lifetime } = kept;
  const cost = price({ cacheReadTokens: tokens, uncachedTokens: promptTokens - tokens });
  const all = Math.ceil(promptTokens + countTolerance(promptTokens));
  const writes = lifetimes.map((each) => price({ cacheWriteTokens: { [each]: all } }));
  const late = price({
    cacheReadTokens: longTokens,
    cacheWriteTokens: { [lifetime]: tokens - longTokens },
  });
  const inTime = price({ cacheReadTokens: tokens });
  if (cost === null || late === null || inTime === null) return null;
  const most = writes.reduce<bigint | null>(
    (high, each) => (high === null || each === null ? null : each > high ? each : high),
    cost,
  );
  return most === null ? null : { cost, most, saving: late - inTime };
}

/**
 * The chance that the next call comes within the lifetime that the refresh adds. A person who has been away for almost five
 * minutes is back in the next five in about a third of all pauses; what is seen of this agent's pauses counts more and more.
 */
function returnChance({ pace, kept, callMs, markers }: RefreshQuestion): number {
  const waitedMs = kept.expiresMs - callMs;
  const learned = chanceBetween(pace, waitedMs, waitedMs + kept.keptMs - marginMs);
  const isFirst = waitedMs <= shortPauseMs;
  if (markers !== "least-cost" || pace.kind !== "human" || !isFirst) return learned;
  const seen = seenPauses(pace);
  return (seen * learned + usualWeight * usualReturn) / (seen + usualWeight);
}

const shortPauseMs = 300_000;
/** After a turn has ended and almost five minutes have passed, this share of recorded sessions went on soon. */
const usualReturn = 0.35;
/** How many pauses it counts for. */
const usualWeight = 3;
