// The gateway against a bare byte proxy in the same run: requests per second, CPU, the first byte, events, memory.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { median } from "../harness/measure.ts";
import { atLeast, atMost, type Check, type Experiment } from "../harness/report.ts";
import { growingBodies, openLoad, sendAll, type BodyOptions, type Load } from "./gateway/load.ts";
import { startMeasured, type Measured } from "./gateway/start-measured.ts";

const streams = 1000;
/** A cost at 100 messages below this cannot be told from none: CPU time comes in steps of milliseconds. */
const aboveMsMin = 0.1;

/** `forward` is the gateway without an observer, `optimize` the one that sends its own markers. */
const contenders = ["bare", "forward", "observe", "optimize"] as const;
type Contender = (typeof contenders)[number];
type Compared = Readonly<Record<Contender, number>>;

interface Stage {
  readonly load: Load;
  readonly upstream: Measured;
  readonly proxies: Readonly<Record<Contender, Measured>>;
  /** Did nothing yet: memory that a process gave back to itself hides what streams take. */
  readonly fresh: Measured;
}

interface Measures {
  readonly small: Compared;
  readonly large: Compared;
  readonly few: Compared;
  readonly many: Compared;
  readonly first: Compared & { readonly direct: number };
  readonly events: Compared;
  readonly perStreamKb: number;
  readonly optimisedShare: number;
}

export const experiment: Experiment = {
  summary: "strata serve against a bare byte proxy: requests, CPU, first byte, events, memory",
  async run({ progress }) {
    const folder = mkdtempSync(join(tmpdir(), "strata-bench-gateway-"));
    const upstream = await startMeasured("upstream");
    const { url } = upstream;
    const proxies = {
      bare: await startMeasured("bare", url),
      forward: await startMeasured("forward", url),
      observe: await startMeasured("gateway", url, join(folder, "observe.db")),
      optimize: await startMeasured("optimize", url, join(folder, "optimize.db")),
    };
    const fresh = await startMeasured("gateway", url, join(folder, "fresh.db"));
    const load = openLoad();
    try {
      const measures = await measureAll({ load, upstream, proxies, fresh }, progress);
      return { figures: figuresOf(measures), checks: checksOf(measures) };
    } finally {
      await load.close();
      await Promise.all([upstream, fresh, ...Object.values(proxies)].map((each) => each.stop()));
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

async function measureAll(stage: Stage, progress: (line: string) => void): Promise<Measures> {
  progress("small requests");
  const small = await smallRequests(stage);
  progress("conversations of 850 KB");
  const large = await cpuOfGrowing(stage, { name: "large", from: 1000, calls: 40, rounds: 5 });
  progress("conversations of 100 and 10,000 messages");
  const few = await cpuOfGrowing(stage, { name: "few", from: 100, calls: 150, rounds: 5 });
  const many = await cpuOfGrowing(stage, { name: "many", from: 10_000, calls: 12, rounds: 5 });
  progress("the first byte");
  const first = await firstBytes(stage);
  progress("events of streams");
  const events = await cpuOfEvents(stage);
  progress(`${streams} open streams`);
  const perStreamKb = await memoryOfStreams(stage);
  const optimisedShare = await shareOfOptimised(stage);
  return { small, large, few, many, first, events, perStreamKb, optimisedShare };
}

function figuresOf(measures: Measures): Record<string, number> {
  const { small, large, few, many, first, events, perStreamKb, optimisedShare } = measures;
  return {
    ...Object.fromEntries([
      ...named(small, "small requests/s"),
      ...named(large, "850 KB CPU ms"),
      ...above(few, "100 messages"),
      ...above(many, "10000 messages"),
      ...named(first, "first byte ms p50"),
      ...named(events, "per SSE event CPU ms"),
    ]),
    "direct first byte ms p50": first.direct,
    "memory per stream KB": perStreamKb,
    "optimised calls sent with our markers, share": optimisedShare,
  };
}

type Figure = readonly [name: string, value: number];

function named(of: Compared, name: string): readonly Figure[] {
  return contenders.map((each) => [`${each} ${name}`, of[each]]);
}

function above(of: Compared, name: string): readonly Figure[] {
  return contenders
    .slice(1)
    .map((each) => [`${each} CPU above bare ms at ${name}`, of[each] - of.bare]);
}

function checksOf(measures: Measures): readonly Check[] {
  const { small, large, few, many, first, events, perStreamKb, optimisedShare } = measures;
  const growth = (many.observe - many.bare) / Math.max(few.observe - few.bare, aboveMsMin);
  return [
    atLeast("observe small", small.observe / small.bare, 0.6),
    atLeast("optimize small", small.optimize / small.bare, 0.45),
    atMost("observe 850 KB CPU", large.observe / large.bare, 1.5),
    atMost("optimize 850 KB CPU", large.optimize / large.bare, 2),
    atMost(
      "first byte: added p50 at 100 KB, milliseconds over the bare proxy",
      first.observe - first.bare,
      1,
    ),
    atMost("per SSE event", events.observe / events.bare, 1.5),
    atMost("memory per stream KB", perStreamKb, 150),
    atMost("growth", growth, 1.5),
    atLeast("optimised calls sent with our markers, share", optimisedShare, 0.5),
  ];
}

/** What one round took, and how much work it was. */
interface Round {
  readonly took: number;
  readonly count: number;
}

/**
 * In turn, because the machine is not ours alone. The first rounds warm up; the others are added up, because CPU time
 * comes in steps of milliseconds. Returns what one took.
 */
async function alternate(
  { proxies }: Stage,
  rounds: { readonly warm: number; readonly count: number },
  measure: (proxy: Measured, round: string, bodies: BodyOptions) => Promise<Round>,
): Promise<Compared> {
  const sums = { bare: 0, forward: 0, observe: 0, optimize: 0 };
  const counts = { ...sums };
  for (let round = 0; round < rounds.warm + rounds.count; round += 1) {
    for (const name of contenders) {
      // Clients with markers of their own are left alone where those cost no more.
      const bodies = { marksLast: name !== "optimize" };
      const { took, count } = await measure(proxies[name], `${round}`, bodies);
      if (round < rounds.warm) continue;
      sums[name] += took;
      counts[name] += count;
    }
  }
  return compare((name) => sums[name] / counts[name]);
}

function compare(of: (name: Contender) => number): Compared {
  return {
    bare: of("bare"),
    forward: of("forward"),
    observe: of("observe"),
    optimize: of("optimize"),
  };
}

/**
 * Requests per second: 32 conversations at once, of about 10 KB. A round is longer than a batch waits, so that the thread
 * that writes takes part; the rest of its work is not left to the next contender's round.
 */
async function smallRequests(stage: Stage): Promise<Compared> {
  const ms = await alternate(stage, { warm: 4, count: 8 }, async (proxy, round, options) => {
    const lanes = Array.from({ length: 32 }, (_, lane) =>
      Array.from({ length: 16 }, (__, at) =>
        growingBodies(`small ${round} ${lane} ${at}`, 2, 5, options),
      ).flat(),
    );
    const took = await sendAll(stage.load, `${proxy.url}/v1/messages`, lanes);
    await untilWritten(proxy);
    return { took, count: lanes.flat().length };
  });
  return compare((name) => 1000 / ms[name]);
}

interface Health {
  readonly optimize?: { readonly marked: number; readonly kept: number };
  readonly ledger?: { readonly waitingCount: number };
}

/** Null for a process without a ledger. */
async function healthOf({ url }: Measured): Promise<Health | null> {
  const answer = await fetch(`${url}/strata/health`);
  const text = await answer.text();
  return answer.headers.get("content-type")?.includes("json") === true ? JSON.parse(text) : null;
}

async function untilWritten(proxy: Measured): Promise<void> {
  while (((await healthOf(proxy))?.ledger?.waitingCount ?? 0) > 0) await wait(20);
}

interface Growing {
  readonly name: string;
  readonly from: number;
  readonly calls: number;
  readonly rounds: number;
}

/** CPU milliseconds per call of a conversation that grows. Its first call, which is new as a whole, does not count. */
function cpuOfGrowing(stage: Stage, { name, from, calls, rounds }: Growing): Promise<Compared> {
  return alternate(stage, { warm: 1, count: rounds }, async (proxy, round, options) => {
    const [first, ...rest] = growingBodies(`${name} ${round}`, from, calls + 1, options);
    const url = `${proxy.url}/v1/messages`;
    await sendAll(stage.load, url, [first === undefined ? [] : [first]]);
    return { took: await cpuOf(proxy, () => sendAll(stage.load, url, [rest])), count: calls };
  });
}

async function cpuOf(proxy: Measured, work: () => Promise<unknown>): Promise<number> {
  const before = await proxy.used("cpu");
  await work();
  return (await proxy.used("cpu")) - before;
}

/** Calls of about 100 KB, one after the other. */
async function firstBytes({ load, upstream, proxies }: Stage): Promise<Measures["first"]> {
  const bodies = growingBodies("first byte", 110, 60);
  const measured = Object.entries({ direct: upstream, ...proxies });
  const samples = new Map<string, number[]>(measured.map(([name]) => [name, []]));
  for (const [at, body] of bodies.entries()) {
    for (const [name, { url }] of measured) {
      const took = await load.firstByteMs(`${url}/v1/messages`, body);
      if (at >= 10) samples.get(name)?.push(took);
    }
  }
  const medianOf = (name: string): number => median(samples.get(name) ?? []);
  return { ...compare(medianOf), direct: medianOf("direct") };
}

/** CPU milliseconds per event of eight streams at once. */
function cpuOfEvents(stage: Stage): Promise<Compared> {
  const [lanes, events] = [8, 1500];
  return alternate(stage, { warm: 1, count: 4 }, async (proxy, round, options) => {
    const bodies = Array.from({ length: lanes }, (_, lane) =>
      growingBodies(`events ${round} ${lane}`, 4, 1, { ...options, stream: true }),
    );
    const url = `${proxy.url}/v1/messages?events=${events}`;
    const took = await cpuOf(proxy, () => sendAll(stage.load, url, bodies));
    return { took, count: lanes * events };
  });
}

async function memoryOfStreams({ load, fresh }: Stage): Promise<number> {
  const before = await fresh.used("memory");
  const url = `${fresh.url}/v1/messages?events=1&open`;
  for (let open = 0; open < streams; open += 100) {
    await Promise.all(
      Array.from({ length: 100 }, (_, at) => {
        const [body = Buffer.alloc(0)] = growingBodies(`open ${open + at}`, 2, 1, { stream: true });
        return load.hold(url, body);
      }),
    );
  }
  return ((await fresh.used("memory")) - before) / streams / 1000;
}

/** By the gateway's own account: a bench in which nothing was rewritten says nothing about rewriting. */
async function shareOfOptimised({ proxies: { optimize } }: Stage): Promise<number> {
  const { marked = 0, kept = 0 } = (await healthOf(optimize))?.optimize ?? {};
  return marked / (marked + kept);
}
