// Plays a session with a break in its last call on the simulator, and checks the explanation against the bills.
import type { Explanation } from "../../src/core/diagnosis/explanation.ts";
import { promptTokens, writtenTokens, type Usage } from "../../src/core/message/usage.ts";
import { resolveModel } from "../../src/core/models/resolve-model.ts";
import { breakTalk, truthOf, type BreakKind, type Truth } from "./planted-breaks.ts";
import type { Api, Layout, Talk } from "./planted-talk.ts";
import { openWorld, send, sendOne, watch, type Answered, type World } from "./planted-world.ts";
import { createRandom, type Random } from "../random-message.ts";
import {
  growTalk,
  pickOne,
  randomLayout,
  randomTalk,
  replaceLastWords,
  wholeBetween,
} from "../random/random-talk.ts";

export interface PlantOutcome {
  readonly api: Api;
  readonly layout: Layout;
  /** Whether the break reduced the tokens read. */
  readonly isCostly: boolean;
  /** A costly break has the right cause and block; any other break has no explanation. */
  readonly isRight: boolean;
  /** False explanations of calls before the break. */
  readonly alarmsBefore: number;
  /** For people: the explanation, and the right one. */
  readonly said: string;
}

/** Plays a session twice in parallel with separate caches, with and without the break. */
export async function playPlant(kind: BreakKind, seed: number): Promise<PlantOutcome> {
  const random = createRandom(seed);
  const world = openWorld(seed, wholeBetween(random, 1, 3000));
  const { opening, otherModel } = openTalk(kind, random);
  const { talk, last, alarmsBefore } = await playUntilBreak(world, random, opening);
  const now = growTalk(random, talk);
  const step = { world, random, kind, before: last, now, otherModel };
  const found = kind === "concurrent" ? await playConcurrent(step) : await playBreak(step);
  return {
    api: talk.api,
    layout: talk.layout,
    isCostly: isCostly(found),
    isRight: isRight(found),
    // In a session that is too short, every call gets an explanation.
    alarmsBefore: kind === "too short" ? 0 : alarmsBefore,
    said: describe(found),
  };
}

function openTalk(kind: BreakKind, random: Random): { opening: Talk; otherModel: string } {
  const api = pickOne(random, apis);
  const models = api === "messages" ? messagesModels : openAiModels;
  const model = api === "messages" ? pickOne(random, models) : (models[0] ?? "");
  const minimum = resolveModel(model).facts.cache.minimumTokens ?? 0;
  const isShort = kind === "too short";
  const opening = randomTalk(random, {
    api,
    model,
    layout: randomLayout(random, api),
    foundationTokens: isShort ? minimum * 0.9 * random() : minimum * 1.1 + random() * 1000,
    tools: !isShort,
  });
  return {
    opening,
    otherModel: pickOne(
      random,
      models.filter((other) => other !== model),
    ),
  };
}

/** Repeated values are drawn more often. */
export const apis: readonly Api[] = [...Array<Api>(8).fill("messages"), "chat", "responses"];

export const messagesModels = [
  "claude-sonnet-4-6",
  "claude-haiku-4-5",
  "claude-opus-4-8",
  "claude-sonnet-5-5",
] as const;

export const openAiModels = ["gpt-6.1-sol", "gpt-6-sol", "gpt-6.1-terra"] as const;

async function playUntilBreak(
  world: World,
  random: Random,
  opening: Talk,
): Promise<{ talk: Talk; last: Answered; alarmsBefore: number }> {
  let talk = opening;
  let alarmsBefore = 0;
  for (let left = wholeBetween(random, 1, 4); ; left -= 1) {
    const last = await sendOne(world, "broken", talk);
    if (watch(world, last) !== null) alarmsBefore += 1;
    await sendOne(world, "twin", talk);
    await world.sim.clock.advance(wholeBetween(random, 1, 60_000));
    if (left === 1) return { talk, last, alarmsBefore };
    talk = growTalk(random, talk);
  }
}

interface BreakStep {
  readonly world: World;
  readonly random: Random;
  readonly kind: BreakKind;
  readonly before: Answered;
  /** The next request without the break. */
  readonly now: Talk;
  readonly otherModel: string;
}

interface Found {
  /** Tokens read without the break and not with it. */
  readonly lost: number;
  readonly truth: Truth;
  readonly explanation: Explanation | null;
}

async function playBreak(step: BreakStep): Promise<Found> {
  const { world, random, kind, before, now, otherModel } = step;
  const sentTurns = before.talk.turns.length;
  const planted = breakTalk(kind, random, { now, sentTurns, otherModel });
  const clean = await sendOne(world, "twin", now);
  if (kind === "expired") await world.sim.clock.advance(pauseAfter(random, now.layout));
  if (kind === "lost") world.sim.billing.clear();
  const broken = await sendOne(world, "broken", planted.talk);
  // A session that is too short, and its twin, are so from the first call.
  const isUnkept = keptTokens(before.usage) === 0 && broken.usage.cacheReadTokens === 0;
  const lostEver = isUnkept ? promptTokens(before.usage) : 0;
  const lost = kind === "too short" ? lostEver : lostTokens(broken.usage, clean.usage);
  const truth = truthOf(kind, before.rendered, broken.rendered);
  const offset = planted.byteOffset === undefined ? {} : { byteOffset: planted.byteOffset };
  return { lost, truth: { ...truth, ...offset }, explanation: watch(world, broken) };
}

/** Two requests before any response begins; the twin waits for its first response. */
async function playConcurrent({ world, random, kind, now }: BreakStep): Promise<Found> {
  const other = random() < 0.5 ? now : replaceLastWords(random, now);
  await sendOne(world, "twin", now);
  const clean = await sendOne(world, "twin", other);
  const [first, second] = await send(world, "broken", now, other);
  if (first === undefined || second === undefined) throw new Error("no answer");
  watch(world, first);
  return {
    lost: lostTokens(second.usage, clean.usage),
    truth: truthOf(kind, first.rendered, second.rendered),
    explanation: watch(world, second),
  };
}

/** Differences up to this are ignored: a cleared message and its envelope have this many tokens. */
const roundingTokens = 16;

/** Tokens that were not read but paid for. */
function lostTokens(broken: Usage, clean: Usage): number {
  const lost = clean.cacheReadTokens - broken.cacheReadTokens;
  return Math.max(0, Math.min(lost, unreadTokens(broken) - unreadTokens(clean)));
}

function unreadTokens(usage: Usage): number {
  return promptTokens(usage) - usage.cacheReadTokens;
}

/** Just after a lifetime, or long after it. */
function pauseAfter(random: Random, layout: Layout): number {
  const minutes = layout === "own" ? 30 : layout === "tail for an hour" ? 60 : 5;
  return minutes * 60_000 + 1 + wholeBetween(random, 0, random() < 0.5 ? 2000 : 5_000_000);
}

export function keptTokens(usage: Usage): number {
  return usage.cacheReadTokens + writtenTokens(usage);
}

function isCostly({ lost }: Found): boolean {
  return lost > roundingTokens;
}

/** No explanation is right if almost nothing was lost. */
function isRight(found: Found): boolean {
  if (found.explanation === null) return !isCostly(found);
  return found.lost > 0 && isTrue(found.explanation, found.truth);
}

function isTrue({ cause, block, detail }: Explanation, truth: Truth): boolean {
  const { byteOffset = block?.byteOffset } = truth;
  return (
    cause === truth.cause &&
    block?.path === truth.path &&
    block.byteOffset === byteOffset &&
    (truth.detail === undefined || detail?.startsWith(truth.detail) === true)
  );
}

function describe({ truth, explanation, lost }: Found): string {
  if (explanation === null) return `nothing; it was ${truth.cause} at ${truth.path}`;
  const { cause, block, detail } = explanation;
  const said = `${cause} at ${block?.path ?? "no block"}, byte ${block?.byteOffset ?? "-"}, ${detail ?? "no detail"}`;
  return `${said}; it was ${truth.cause} at ${truth.path} and cost ${lost} tokens`;
}
