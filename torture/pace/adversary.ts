// An adversary who knows the planner: before each call it weighs gaps and edits, and takes what hurts most.
import { toPromptBlocks, type LooseBlock } from "../../harness/random/random-sessions.ts";
import type { Random } from "../../harness/random-message.ts";
import { openCacheState, type CacheState } from "../../src/core/cache/cache-state.ts";
import { learnFromReply } from "../../src/core/cache/learn-from-reply.ts";
import { openPace, paceAt, type Pace } from "../../src/core/cache/pace.ts";
import { planCache } from "../../src/core/cache/plan-cache.ts";
import { findPolicy } from "../../src/core/cache/policies.ts";
import type { ModelFacts } from "../../src/core/models/model-facts.ts";

export interface HostileCall {
  readonly startMs: number;
  /** How many blocks of the call before it repeats, and what it adds. */
  readonly keep: number;
  readonly added: readonly LooseBlock[];
}

const minute = 60_000;
/** Just inside and outside of both lifetimes, and in between. */
const gapsMs = [minute / 2, 4 * minute, 5 * minute + 1, 12 * minute, 50 * minute, 61 * minute];

/** Sessions of up to so many calls: the more, the more each mistake is diluted. */
const callsMin = 3;
const callsMax = 41;

const { markers } = findPolicy("adaptive");

interface Position {
  readonly state: CacheState;
  readonly pace: Pace;
  readonly atMs: number;
  readonly blocks: readonly LooseBlock[];
}

/** How often it takes what hurts most at once, and not anything: some traps need bait. */
const greedyShare = 0.7;

export function playAdversary(random: Random, model: ModelFacts): readonly HostileCall[] {
  const whole = (least: number, most: number): number =>
    least + Math.floor(random() * (most - least + 1));
  const count = whole(callsMin, callsMax);
  const isGreedy = random() < greedyShare;
  const foundation = [block(random, "T1", whole(2000, 40_000))];
  const firstTokens = whole(100, 150_000);
  const first = [...foundation, block(random, "T3", firstTokens)];
  let at: Position = {
    state: openCacheState(),
    pace: openPace("human"),
    atMs: 1_800_000_000_000,
    blocks: [],
  };
  const calls: HostileCall[] = [{ startMs: at.atMs, keep: 0, added: first }];
  at = answer(at, first, at.atMs, model);
  while (calls.length < count) {
    const options = gapsMs.map((gapMs) => optionAfter(at, gapMs, random, whole));
    const chosen =
      isGreedy || random() < 0.3
        ? worst(at, options, model)
        : (options[whole(0, options.length - 1)] ?? options[0]);
    if (chosen === undefined) break;
    calls.push(chosen);
    at = answer(at, [...at.blocks.slice(0, chosen.keep), ...chosen.added], chosen.startMs, model);
  }
  return calls;
}

/** Mostly a longer prompt; sometimes its end, or more of it, comes back changed. */
function optionAfter(
  { atMs, blocks }: Position,
  gapMs: number,
  random: Random,
  whole: (least: number, most: number) => number,
): HostileCall {
  const kind = random();
  const kept =
    kind < 0.75 ? blocks.length : kind < 0.9 ? blocks.length - 1 : whole(1, blocks.length - 1);
  const keep = Math.max(1, kept);
  const added = Array.from({ length: whole(1, 3) }, () =>
    block(random, "T3", random() < 0.8 ? whole(20, 2000) : whole(2000, 40_000)),
  );
  return { startMs: atMs + gapMs, keep, added };
}

function worst(
  at: Position,
  options: readonly HostileCall[],
  model: ModelFacts,
): HostileCall | undefined {
  let most = -Infinity;
  let found: HostileCall | undefined;
  for (const option of options) {
    const prompt = [...at.blocks.slice(0, option.keep), ...option.added];
    const { paid, promptTokensMax } = answer(at, prompt, option.startMs, model).state.accounts ?? {
      paid: { ours: 0 },
      promptTokensMax: 1,
    };
    const { ours, ...simple } = paid;
    const behind = (ours - Math.min(...Object.values(simple))) / promptTokensMax;
    if (behind > most) [most, found] = [behind, option];
  }
  return found;
}

/** One call of the planner, on a provider that does what it expects. */
function answer(
  { state, pace: before, atMs }: Position,
  loose: readonly LooseBlock[],
  startMs: number,
  model: ModelFacts,
): Position {
  const blocks = toPromptBlocks(loose);
  const pace = paceAt(before, state.lastStartMs === null ? null : atMs, startMs);
  const plan = planCache({ blocks, rules: model, markers, state, pace, now: startMs });
  const { readTokens, writeTokens, uncachedTokens } = plan.expected;
  const usage = {
    uncachedTokens,
    cacheReadTokens: readTokens,
    cacheWriteTokens: writeTokens,
    outputTokens: 0,
    reasoningTokens: 0,
  };
  const reply = { state, plan, blocks, rules: model.cache, usage, reportsCache: true, startMs };
  return { state: learnFromReply(reply).state, pace, atMs: startMs, blocks: loose };
}

function block(random: Random, tier: "T1" | "T3", tokens: number): LooseBlock {
  return {
    content: `${random()}`,
    tokens,
    tier,
    kind: tier === "T1" ? "system text" : "text",
    role: tier === "T1" ? "system" : "user",
    endsMessage: true,
    mayCarryMarker: true,
  };
}
