// Sessions without a break but with everything that looks like one: sub-agents, titles, retries, pauses, other endings.
import { resolveModel } from "../../src/core/models/resolve-model.ts";
import { apis, keptTokens, messagesModels } from "./planted-sessions.ts";
import type { Layout, Talk } from "./planted-talk.ts";
import { openWorld, sendOne, watch, type Answered, type World } from "./planted-world.ts";
import { createRandom, type Random } from "../random-message.ts";
import {
  growTalk,
  pickOne,
  randomLayout,
  randomTalk,
  randomWords,
  replaceLastWords,
  wholeBetween,
} from "../random/random-talk.ts";

export interface CleanOutcome {
  readonly calls: number;
  /** Calls that got an explanation. */
  readonly alarms: number;
  /** Calls of the main thread that read less than was cached: the session was not clean. */
  readonly unread: number;
  /** The explanations, for people. */
  readonly said: readonly string[];
}

export async function playClean(seed: number): Promise<CleanOutcome> {
  const random = createRandom(seed);
  const world = openWorld(seed, wholeBetween(random, 1, 3000));
  const main = openMain(random);
  const helper = openMain(random);
  const said: string[] = [];
  let calls = 0;
  const call = async (talk: Talk): Promise<Answered> => {
    const answered = await sendOne(world, "key", talk);
    const explanation = watch(world, answered);
    calls += 1;
    if (explanation !== null) said.push(`${explanation.cause} at ${explanation.block?.path}`);
    return answered;
  };
  // Another session on the same machine may have warmed the foundation.
  if (random() < 0.2) await sendOne(world, "key", replaceLastWords(random, main));
  let unread = 0;
  let kept = 0;
  let [talk, other] = [main, helper];
  // After a longer pause the helper's prefix would have expired.
  let helperMs = world.sim.clock.now();
  for (let left = wholeBetween(random, 3, 8); left > 0; left -= 1) {
    const { usage } = await call(withClock(random, talk));
    if (usage.cacheReadTokens < kept) unread += 1;
    kept = keptTokens(usage);
    const happening = random();
    if (happening < 0.15) await call(titleOf(random, talk));
    else if (happening < 0.35 && world.sim.clock.now() - helperMs < shortestMs) {
      helperMs = world.sim.clock.now();
      await call(withClock(random, other));
      other = growTalk(random, other);
    } else if (happening < 0.45) await call(withClock(random, talk));
    else if (happening < 0.55 && marksSystem(talk.layout))
      await call(replaceLastWords(random, talk));
    await world.sim.clock.advance(pauseWithin(random, world));
    talk = growTalk(random, talk);
  }
  return { calls, alarms: said.length, unread, said };
}

function openMain(random: Random): Talk {
  const api = pickOne(random, apis);
  const model = api === "messages" ? pickOne(random, messagesModels) : "gpt-6.1-sol";
  const minimum = resolveModel(model).facts.cache.minimumTokens ?? 0;
  return randomTalk(random, {
    api,
    model,
    layout: randomLayout(random, api),
    foundationTokens: minimum * 1.1 + random() * 1000,
    tools: true,
  });
}

/** Text after the last marker can differ on every call. */
function withClock(random: Random, talk: Talk): Talk {
  const last = talk.turns.at(-1);
  if (talk.layout !== "before the last block" || last === undefined) return talk;
  const clock = { type: "text", text: `now ${randomWords(random, 5)}` } as const;
  const turn = { ...last, parts: [...last.parts, clock] };
  return { ...talk, turns: [...talk.turns.slice(0, -1), turn] };
}

/** A short separate question on a small model, without markers. */
function titleOf(random: Random, { api }: Talk): Talk {
  return {
    api,
    model: api === "messages" ? "claude-haiku-4-5" : "gpt-6.1-terra",
    layout: "own",
    settings: {},
    tools: [],
    system: ["Give the conversation a title in a few words."],
    turns: [{ role: "user", parts: [{ type: "text", text: randomWords(random, 30) }] }],
  };
}

function marksSystem(layout: Layout): boolean {
  return layout.includes("system");
}

const shortestMs = 300_000;

/** A pause shorter than the shortest lifetime. */
function pauseWithin(random: Random, { latencyMs }: World): number {
  const most = shortestMs - 4 * latencyMs;
  return random() < 0.2 ? most - wholeBetween(random, 1, 1000) : wholeBetween(random, 1, most / 2);
}
