// Plays all exchanges, several at a time, and collects what was seen by clients, the upstream and the ledger.
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createRandom } from "../../harness/random-message.ts";
import { billedBy, judgeRecorded, readRecorded } from "./billed-tokens.ts";
import { speak } from "./client.ts";
import { judgeExchange } from "./judge.ts";
import { planExchange, type Plan } from "./plan.ts";
import { openStage, type Stage } from "./stage.ts";
import { stir, type Stirring } from "./stir.ts";
import { openUpstream, type PlayedUpstream } from "./upstream.ts";

export interface RunOptions {
  readonly folder: string;
  readonly requests: number;
  readonly seed: number;
  /** Only this exchange; null for all. */
  readonly only: number | null;
  readonly progress: (line: string) => void;
}

export interface Tortured {
  readonly exchanges: number;
  readonly misheard: readonly string[];
  readonly misarrived: readonly string[];
  readonly misrecorded: readonly string[];
  readonly crashes: readonly string[];
  readonly openAtEnd: number;
  readonly leakedSockets: number;
  readonly billed: number;
  readonly billedInLedger: number;
  readonly taken: number;
  readonly recorded: number;
  readonly lost: number;
  readonly faults: number;
  readonly unseen: number;
  /** Null if the run was too short. */
  readonly heapKbPerExchange: number | null;
  /** How often each kind of client, answer, fault and disturbance came. */
  readonly struck: ReadonlyMap<string, number>;
}

const lanes = 24;
/** A pipelined request is followed by one with this much higher a number. */
const secondFrom = 1_000_000_000;

export async function runExchanges(options: RunOptions): Promise<Tortured> {
  const { folder, requests, seed, only } = options;
  const planOf = (number: number): Plan | undefined => planAt(seed, number, requests);
  const socketsBefore = countSockets();
  const upstream = await openUpstream(planOf);
  const stage = await openStage({ folder, upstreamUrl: upstream.url, planOf });
  const struck = new Map<string, number>();
  const crashes: string[] = [];
  const onCrash = (error: unknown): void => void crashes.push(String(error));
  process.on("uncaughtException", onCrash).on("unhandledRejection", onCrash);
  try {
    const numbers = only === null ? Array.from({ length: requests }, (_, at) => at + 1) : [only];
    const played = await playAll(numbers, { ...options, stage, struck, planOf });
    await stage.calm();
    const openAtEnd = await settles(() => stage.forwarder.state().exchanges.open);
    await stage.recorder.flush();
    const observed = stage.forwarder.state().observer;
    await stage.close();
    await settles(() => upstream.connections());
    const stats = stage.recorder.stats();
    const judged = await judgeLedger(join(folder, "data", "ledger.db"), {
      numbers,
      planOf,
      stage,
      upstream,
      lost: stats.lostCount,
    });
    await upstream.close();
    const leakedSockets = await settles(() => Math.max(0, countSockets() - socketsBefore));
    return {
      ...played,
      ...judged,
      misarrived: upstream.problems,
      crashes,
      openAtEnd,
      leakedSockets,
      taken: stage.taken(),
      recorded: stats.recordedCount + stats.repeatedCount,
      lost: stats.lostCount,
      faults: observed.faults,
      unseen: observed.unseen,
      struck,
    };
  } finally {
    process.off("uncaughtException", onCrash).off("unhandledRejection", onCrash);
    await stage.close();
    await upstream.close().catch(() => {});
  }
}

function planAt(seed: number, number: number, requests: number): Plan | undefined {
  if (number >= 1 && number <= requests) return planExchange(seed, number);
  if (!(number > secondFrom)) return undefined;
  // What follows shows that the connection still works, so nothing is planted.
  const plan = planExchange(seed, number - secondFrom);
  const follower = planExchange(seed + 1, number);
  const whole = follower.upstream === "JSON" ? follower : null;
  return whole === null
    ? { ...plan, number, client: "whole", upstream: "no content", planted: null, answer: noContent }
    : { ...whole, client: "whole", planted: null };
}

const noContent: Plan["answer"] = { status: 204, headers: [], body: Buffer.alloc(0), tokens: null };

interface Playing extends RunOptions {
  readonly stage: Stage;
  readonly struck: Map<string, number>;
  readonly planOf: (number: number) => Plan | undefined;
}

async function playAll(
  numbers: readonly number[],
  { stage, struck, planOf, seed, progress }: Playing,
): Promise<Pick<Tortured, "exchanges" | "misheard" | "heapKbPerExchange">> {
  const misheard: string[] = [];
  const count = (name: string): void => void struck.set(name, (struck.get(name) ?? 0) + 1);
  const stirring = stir({
    stage,
    random: createRandom(seed),
    every: Math.max(8, Math.min(100, Math.floor(numbers.length / 12))),
    onDisturbed: (name) => count(`world: ${name}`),
  });
  const play = async (number: number): Promise<void> => {
    const plan = planOf(number);
    if (plan === undefined) throw new Error("every number has a plan");
    stirring.at(number);
    const second = plan.client === "pipelined" ? (planOf(secondFrom + number) ?? null) : null;
    for (const name of [`client: ${plan.client}`, `upstream: ${plan.upstream}`]) count(name);
    if (plan.planted !== null) count(`planted: ${plan.planted}`);
    const heard = await speak(stage.forwarder.port, plan, second);
    const problem = judgeExchange(plan, second, heard);
    if (problem !== null) misheard.push(problem);
    if (number % 1000 === 0) progress(`${number} exchanges, ${misheard.length} problems`);
  };
  const exchanges = numbers.length;
  const warm = Math.floor(exchanges / 3);
  await inLanes(numbers.slice(0, warm), play);
  const heapBefore = await settledHeap(stirring, stage);
  await inLanes(numbers.slice(warm), play);
  const grown = ((await settledHeap(stirring, stage)) - heapBefore) / 1000;
  const heapKbPerExchange = exchanges < 3000 ? null : grown / (exchanges - warm);
  return { exchanges, misheard, heapKbPerExchange };
}

async function settledHeap(stirring: Stirring, { recorder }: Stage): Promise<number> {
  await stirring.end();
  await recorder.flush();
  return heapBytes();
}

/** Several at a time. */
async function inLanes(
  numbers: readonly number[],
  play: (number: number) => Promise<void>,
): Promise<void> {
  const left = numbers.values();
  const lane = async (): Promise<void> => {
    for (const number of left) await play(number);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

interface Judging {
  readonly numbers: readonly number[];
  readonly planOf: (number: number) => Plan | undefined;
  readonly stage: Stage;
  readonly upstream: PlayedUpstream;
  readonly lost: number;
}

async function judgeLedger(
  store: string,
  { numbers, planOf, stage, upstream, lost }: Judging,
): Promise<Pick<Tortured, "misrecorded" | "billed" | "billedInLedger">> {
  const recorded = await readRecorded(store);
  const [wrong, missing]: [string[], string[]] = [[], []];
  let [billed, billedInLedger] = [0, 0];
  for (const number of numbers) {
    const plan = planOf(number);
    const owed = plan === undefined ? null : billedBy(plan);
    if (plan === undefined || owed === null || !upstream.arrived.has(number)) continue;
    billed += 1;
    const call = recorded.get(number);
    if (call !== undefined) {
      billedInLedger += 1;
      const problem = judgeRecorded(owed, call);
      if (problem !== null) wrong.push(`${number} (${plan.client}, ${plan.upstream}): ${problem}`);
    } else if (plan.planted === null && !stage.unseen.has(number)) {
      missing.push(`${number} (${plan.client}, ${plan.upstream}) is not in the ledger`);
    }
  }
  // The recorder says how many it lost, and not which.
  return { misrecorded: [...wrong, ...missing.slice(lost)], billed, billedInLedger };
}

/** The count once it is 0, or what it is after a while. */
async function settles(count: () => number): Promise<number> {
  const untilMs = performance.now() + 10_000;
  while (count() > 0 && performance.now() < untilMs) await wait(5);
  return count();
}

function countSockets(): number {
  return process.getActiveResourcesInfo().filter((name) => name === "TCPSocketWrap").length;
}

function heapBytes(): number {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  collect();
  return process.memoryUsage().heapUsed;
}
