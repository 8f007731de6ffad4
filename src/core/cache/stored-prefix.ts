// Whether it pays to have the provider keep the beginning of the prompt under a name: to make it, keep it on, or give it up.
import { noUsage } from "../message/usage.ts";
import { findTotal } from "../models/cost.ts";
import { formatUsdRounded } from "../models/pico-usd.ts";
import type { ModelFacts } from "../models/model-facts.ts";
import { storageCost, type StoredRules } from "../models/stored-rules.ts";
import { chanceBetween, type Pace } from "./pace.ts";
import { seenUnasked, unaskedChance, type UnaskedReads } from "./unasked-reads.ts";

/** A prefix is stored for no longer: what a crash leaves behind costs at most this. It is extended while that pays. */
export const storedSeconds = 600;

/** How long before its end an extension must begin. */
export const marginMs = 60_000;

export interface StoringQuestion {
  readonly model: Pick<ModelFacts, "id" | "cache" | "prices">;
  readonly pace: Pace;
  /** What the provider kept without being asked. */
  readonly unasked: UnaskedReads;
  /** The start of the last call. */
  readonly lastCallMs: number;
  readonly nowMs: number;
  /** The prefixes that could be stored. */
  readonly candidates: readonly PrefixSize[];
  /** What the next call repeats. */
  readonly promptTokens: number;
  /** How much longer the prompt gets with every call. */
  readonly grownTokens: number;
  /** What is stored; null for nothing. */
  readonly live: LivePrefix | null;
}

export interface PrefixSize {
  readonly blocks: number;
  readonly tokens: number;
}

export interface LivePrefix extends PrefixSize {
  readonly expiresMs: number;
}

interface Reasoned {
  /** A sentence for people. */
  readonly reason: string;
}

export type StoringDecision =
  | (Reasoned & { readonly do: "none" | "delete" })
  | (Expected & { readonly do: "create"; readonly prefix: PrefixSize })
  /** It is looked at again at `atMs`. */
  | (Expected & { readonly do: "keep"; readonly atMs: number })
  | (Expected & { readonly do: "extend" });

interface Expected extends Reasoned {
  /** What is saved beyond what it costs, by the chances of the calls to come. Above 0. */
  readonly gainPicoUsd: bigint;
  /** What it costs at most until it is looked at again. */
  readonly costPicoUsdMax: bigint;
}

/** Calls of the session or of the agent's earlier ones that must have shown what comes for nothing. */
const seenMin = 2;

/** Spans for which a stored prefix may go on paying. */
const spansMs: readonly number[] = [600_000, 1_200_000, 2_400_000, 3_600_000];

export function decideStoring(question: StoringQuestion): StoringDecision {
  const { model, live, nowMs, candidates } = question;
  const { stored } = model.cache;
  const prices = pricesOf(question);
  if (stored === null) return none(`${model.id} stores no prefixes`);
  if (prices === null || storageCost({ tokens: 1, fromMs: 0, toMs: 0 }, stored) === null) {
    return none(`no price is published for what ${model.id} stores`);
  }
  const minimum = stored.minimumTokens ?? model.cache.minimumTokens ?? 0;
  const fitting = candidates.filter(({ tokens }) => tokens > 0 && tokens >= minimum);
  const values = createValues(question, prices);
  const made = best(fitting, (prefix) => gainOf(prefix, values, { prices, stored, nowMs }));
  if (live === null) {
    if (seenUnasked(question.unasked) < seenMin) {
      return none("what the provider keeps by itself is not known yet");
    }
    if (fitting.length === 0) return none(`fewer than the ${minimum} tokens that can be stored`);
    return made === null || made.gain <= 0
      ? none("making and keeping it would cost more than it is expected to save")
      : toCreation(made, prices, { stored, nowMs });
  }
  const leftMs = Math.max(0, live.expiresMs - nowMs);
  const kept = spanGain(live, leftMs, values, { stored, nowMs });
  const longer = Math.max(...spansMs.map((ms) => spanGain(live, ms, values, { stored, nowMs })));
  const most = Math.max(kept, longer);
  // A prompt that grows calls for the next one soon, so another must earn its write twice.
  const again = made === null ? 0 : Number(prices.input(made.prefix.tokens));
  if (made !== null && made.gain > 0 && made.gain > most + again) {
    return toCreation(made, prices, { stored, nowMs });
  }
  if (most <= 0) {
    return { do: "delete", reason: "the calls to come would save less than keeping it costs" };
  }
  const isDue = leftMs <= marginMs;
  if (isDue && longer > 0) {
    const more = { tokens: live.tokens, fromMs: nowMs, toMs: nowMs + storedSeconds * 1000 };
    return {
      do: "extend",
      gainPicoUsd: toPico(longer),
      costPicoUsdMax: storageCost(more, stored) ?? 0n,
      reason: `keeping it longer is expected to save ${shown(longer)}`,
    };
  }
  return {
    do: "keep",
    atMs: isDue ? live.expiresMs : live.expiresMs - marginMs,
    gainPicoUsd: toPico(most),
    costPicoUsdMax: 0n,
    reason: `it is expected to save ${shown(most)}`,
  };
}

function none(reason: string): StoringDecision {
  return { do: "none", reason };
}

interface Prices {
  /** Pico-dollars for a token that is read instead of sent. */
  readonly saved: number;
  readonly input: (tokens: number) => bigint;
}

/** At the prices of a prompt of this length. Null if they are not known. */
function pricesOf({ model, nowMs, promptTokens }: StoringQuestion): Prices | null {
  const tokens = Math.max(1, promptTokens);
  const price = (bill: Partial<typeof noUsage>): bigint | null =>
    findTotal({ ...noUsage, ...bill }, model, { at: nowMs });
  const [plain, read] = [price({ uncachedTokens: tokens }), price({ cacheReadTokens: tokens })];
  if (plain === null || read === null) return null;
  return {
    saved: Number(plain - read) / tokens,
    input: (count) => price({ uncachedTokens: count }) ?? 0n,
  };
}

interface Circumstances {
  readonly stored: StoredRules;
  readonly nowMs: number;
}

interface Made {
  readonly prefix: PrefixSize;
  readonly gain: number;
}

function best(prefixes: readonly PrefixSize[], gain: (prefix: PrefixSize) => number): Made | null {
  const made = prefixes.map((prefix) => ({ prefix, gain: gain(prefix) }));
  return made.toSorted((left, right) => right.gain - left.gain)[0] ?? null;
}

function toCreation(
  { prefix, gain }: Made,
  { input }: Prices,
  { stored, nowMs }: Circumstances,
): StoringDecision {
  const { tokens } = prefix;
  const span = { tokens, fromMs: nowMs, toMs: nowMs + storedSeconds * 1000 };
  return {
    do: "create",
    prefix,
    gainPicoUsd: toPico(gain),
    costPicoUsdMax: input(tokens) + (storageCost(span, stored) ?? 0n),
    reason: `storing ${tokens} tokens is expected to save ${shown(gain)} beyond what it costs`,
  };
}

/** Over the span for which it pays most: what is read, without storage and the first write. */
function gainOf(
  prefix: PrefixSize,
  values: Values,
  { prices, ...now }: Circumstances & { readonly prices: Prices },
): number {
  const most = Math.max(...spansMs.map((ms) => spanGain(prefix, ms, values, now)));
  return most - Number(prices.input(prefix.tokens));
}

function spanGain(
  { tokens }: PrefixSize,
  spanMs: number,
  values: Values,
  { stored, nowMs }: Circumstances,
): number {
  const span = { tokens, fromMs: nowMs, toMs: nowMs + spanMs };
  return values(tokens, spanMs) - Number(storageCost(span, stored) ?? 0n);
}

/** What calls within a span are expected to save with a stored prefix of so many tokens, in pico-dollars. */
type Values = (tokens: number, spanMs: number) => number;

/** Times are taken in steps of this, at their ends: a call counts a little later than it comes. */
const stepMs = 30_000;
const stepsMax = 120;
/** More calls than this within the longest span are left out. */
const callsMax = 40;

/**
 * A call reads the stored prefix, or without one, with some chance, all that the call before sent. Each call makes the prompt
 * longer, and none of that is in the stored prefix.
 */
function createValues(question: StoringQuestion, { saved }: Prices): Values {
  const { pace, unasked, lastCallMs, nowMs, promptTokens, grownTokens } = question;
  const waitedMs = Math.max(0, nowMs - lastCallMs);
  const usual = gapsFrom(pace, 0);
  // By step: the chance of a call there, and the sum of what such calls find unasked.
  let calls = gapsFrom(pace, waitedMs).map((chance, step) => ({
    chance,
    found: chance * unaskedChance(unasked, waitedMs + (step + 1) * stepMs),
  }));
  const usualFound = usual.map((_c, step) => unaskedChance(unasked, (step + 1) * stepMs));
  const reached: number[] = Array.from({ length: stepsMax }, () => 0);
  const unaskedTokens: number[] = Array.from({ length: stepsMax }, () => 0);
  for (let call = 0; call < callsMax; call += 1) {
    const repeated = promptTokens + call * grownTokens;
    calls.forEach(({ chance, found }, step) => {
      reached[step] = (reached[step] ?? 0) + chance;
      unaskedTokens[step] = (unaskedTokens[step] ?? 0) + found * repeated;
    });
    calls = following(calls, usual, usualFound);
  }
  return (tokens, spanMs) => {
    let sum = 0;
    for (let step = 0; step < stepsMax && (step + 1) * stepMs <= spanMs; step += 1) {
      sum += tokens * (reached[step] ?? 0) - (unaskedTokens[step] ?? 0);
    }
    return saved * sum;
  };
}

interface CallsAtStep {
  readonly chance: number;
  readonly found: number;
}

/** The chance that the next call comes in each step from now on. */
function gapsFrom(pace: Pace, waitedMs: number): readonly number[] {
  let before = 0;
  return Array.from({ length: stepsMax }, (_step, step) => {
    const until = chanceBetween(pace, waitedMs, waitedMs + (step + 1) * stepMs);
    const chance = Math.max(0, until - before);
    before = until;
    return chance;
  });
}

/** The calls after these: each comes one gap later. */
function following(
  calls: readonly CallsAtStep[],
  gaps: readonly number[],
  foundAfter: readonly number[],
): CallsAtStep[] {
  const next = calls.map(() => ({ chance: 0, found: 0 }));
  calls.forEach(({ chance }, from) => {
    if (chance < 1e-6) return;
    for (let gap = 0; from + gap + 1 < next.length; gap += 1) {
      const at = next[from + gap + 1];
      if (at === undefined) break;
      const more = chance * (gaps[gap] ?? 0);
      at.chance += more;
      at.found += more * (foundAfter[gap] ?? 0);
    }
  });
  return next;
}

function toPico(value: number): bigint {
  return BigInt(Math.max(0, Math.floor(value)));
}

function shown(pico: number): string {
  return formatUsdRounded(toPico(pico), 4);
}
