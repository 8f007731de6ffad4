// Recorded calls → columns of a cross-section, under one policy or as they were billed.
import { adviseOn } from "../../core/diagnosis/explanation.ts";
import { promptTokens, type Usage } from "../../core/message/usage.ts";
import { withoutCache } from "../../core/models/cost.ts";
import type { CallDetail } from "../../replay/call-detail.ts";
import type { Miss } from "../../replay/misses.ts";
import type { AddedPiece, PicturedCall, PicturedMiss } from "../picture/pictured-call.ts";
import type { Pricer } from "./price-calls.ts";

export interface Outcome {
  readonly usage: Usage;
  /** `tokens` is null where only the bill is known: then it is what was kept and not read. */
  readonly miss: (Omit<Miss, "tokens"> & { readonly tokens: number | null }) | null;
}

type Sizes = CallDetail["tierTokens"];

/** What is known of a recorded prompt are the sizes of its tiers: a history that grew was kept. */
export function pictureCalls(
  calls: readonly CallDetail[],
  outcomeOf: (call: CallDetail) => Outcome | null,
  price: Pricer,
): readonly PicturedCall[] {
  const before = new Map<string, Sizes>();
  let beforeMs: number | null = null;
  return calls.map((call, index) => {
    const outcome = outcomeOf(call);
    const number = index + 1;
    const { kept, added, isCompacted } = compareTiers(
      call.tierTokens,
      before.get(call.thread) ?? null,
      { number, thread: call.thread },
    );
    before.set(call.thread, call.tierTokens);
    const gapMs = call.startMs - (beforeMs ?? call.startMs);
    beforeMs = call.startMs;
    const counted = added.reduce((sum, { tokens }) => sum + tokens, kept);
    const usage = outcome?.usage ?? null;
    const billed = usage === null ? 0 : promptTokens(usage);
    const scale = billed === 0 || counted === 0 ? 1 : counted / billed;
    const paid = usage && price(call, usage);
    const written = Object.entries(usage?.cacheWriteTokens ?? {}).filter(([, each]) => each > 0);
    return {
      number,
      startMs: Math.round(call.startMs),
      model: call.model,
      keptTokens: kept,
      added,
      readTokens: Math.round((usage?.cacheReadTokens ?? 0) * scale),
      written: written
        .toReversed()
        .map(([lifetime, each]) => ({ lifetime, tokens: Math.round(each * scale) })),
      outputTokens: usage?.outputTokens ?? 0,
      markers: [],
      miss: outcome?.miss
        ? toMiss(outcome.miss, {
            call,
            paid: paid?.totalUsd ?? null,
            gapMs,
            unreadTokens: Math.max(0, Math.round(kept - outcome.usage.cacheReadTokens * scale)),
          })
        : null,
      isCompacted,
      dollars: paid?.dollars ?? null,
      plainDollars: usage && (price(call, withoutCache(usage))?.totalUsd ?? null),
      comparedDollars: null,
    };
  });
}

interface Place {
  readonly number: number;
  readonly thread: string;
}

/** A side thread has a prompt of its own. */
function compareTiers(
  sizes: Sizes,
  old: Sizes | null,
  { number, thread }: Place,
): { readonly kept: number; readonly added: readonly AddedPiece[]; readonly isCompacted: boolean } {
  const added: AddedPiece[] = [];
  let kept = 0;
  let isKept = old !== null;
  for (const tier of ["T0", "T1", "T2"] as const) {
    isKept &&= sizes[tier] === old?.[tier];
    if (isKept) kept += sizes[tier];
    else if (sizes[tier] > 0) {
      added.push({ tier, section: tierNames[tier], tokens: sizes[tier], since: number });
    }
  }
  const isCompacted = isKept && sizes.T3 < (old?.T3 ?? 0) / 2 && (old?.T3 ?? 0) > longTokens;
  const keptHistory = isKept && !isCompacted ? Math.min(sizes.T3, old?.T3 ?? 0) : 0;
  const more = sizes.T3 - keptHistory;
  const section = thread === "" ? `call ${number}` : `${thread}, call ${number}`;
  if (more > 0) added.push({ tier: "T3", section, tokens: more, since: number });
  return { kept: kept + keptHistory, added, isCompacted };
}

const longTokens = 20_000;
const tierNames = { T0: "tools", T1: "static system", T2: "session system" } as const;

interface About {
  readonly call: CallDetail;
  readonly paid: number | null;
  readonly gapMs: number;
  readonly unreadTokens: number;
}

/** What it lost in dollars is what the call cost above the least that it can cost. */
function toMiss(
  { cause, tokens, excerpt }: NonNullable<Outcome["miss"]>,
  { call, paid, gapMs, unreadTokens }: About,
): PicturedMiss {
  const about = { gapMs, minimumTokens: null, isBestEffort: false, section: null, detail: null };
  const limitUsd = Number(call.limitPicoUsd) / 1e12;
  return {
    cause,
    atTokens: 0,
    lostTokens: tokens ?? unreadTokens,
    lostDollars: paid === null ? null : Math.max(0, paid - limitUsd),
    block: null,
    byte: null,
    advice: adviseOn(cause, about),
    ...(excerpt === undefined ? {} : { excerpt }),
  };
}
