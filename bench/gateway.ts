// The gateway against a bare byte proxy in the same run: requests per second, CPU, the first byte, events, memory.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { median } from "../harness/measure.ts";
import { atLeast, atMost, type Experiment } from "../harness/report.ts";
import { growingBodies, openLoad, sendAll, type Load } from "./gateway/load.ts";
import { startMeasured, type Measured } from "./gateway/start-measured.ts";

const rounds = 5;
const streams = 1000;

interface Stage {
  readonly load: Load;
  readonly upstream: Measured;
  readonly bare: Measured;
  /** The gateway without an observer. */
  readonly forward: Measured;
  readonly gateway: Measured;
}

export const experiment: Experiment = {
  summary: "strata serve against a bare byte proxy: requests, CPU, first byte, events, memory",
  async run({ progress }) {
    const folder = mkdtempSync(join(tmpdir(), "strata-bench-gateway-"));
    const upstream = await startMeasured("upstream");
    const bare = await startMeasured("bare", upstream.url);
    const forward = await startMeasured("forward", upstream.url);
    const gateway = await startMeasured("gateway", upstream.url, join(folder, "ledger.db"));
    const load = openLoad();
    const stage = { load, upstream, bare, forward, gateway };
    try {
      progress("small requests");
      const small = await smallRequests(stage);
      progress("conversations of 850 KB");
      const large = await cpuOfGrowing(stage, "large", 1000, 20);
      progress("conversations of 100 and 10,000 messages");
      const few = await cpuOfGrowing(stage, "few", 100, 60);
      const many = await cpuOfGrowing(stage, "many", 10_000, 8);
      progress("the first byte");
      const first = await firstBytes(stage);
      progress("events of streams");
      const events = await cpuOfEvents(stage);
      progress(`${streams} open streams`);
      const perStreamKb = await memoryOfStreams(stage);
      const growth = (many.gateway - many.bare) / (few.gateway - few.bare);
      return {
        figures: {
          "bare small requests/s": small.bare,
          "forward small requests/s": small.forward,
          "observe small requests/s": small.gateway,
          "bare 850 KB CPU ms": large.bare,
          "forward 850 KB CPU ms": large.forward,
          "observe 850 KB CPU ms": large.gateway,
          "CPU above bare ms at 100 messages": few.gateway - few.bare,
          "CPU above bare ms at 10000 messages": many.gateway - many.bare,
          "forward CPU above bare ms at 10000 messages": many.forward - many.bare,
          "direct first byte ms p50": first.upstream,
          "bare first byte ms p50": first.bare,
          "forward first byte ms p50": first.forward,
          "observe first byte ms p50": first.gateway,
          "bare per SSE event CPU ms": events.bare,
          "forward per SSE event CPU ms": events.forward,
          "observe per SSE event CPU ms": events.gateway,
          "memory per stream KB": perStreamKb,
        },
        checks: [
          atLeast("observe small", small.gateway / small.bare, 0.6),
          atMost("observe 850 KB CPU", large.gateway / large.bare, 1.5),
          atMost(
            "first byte: added p50 at 100 KB, milliseconds over the bare proxy",
            first.gateway - first.bare,
            1,
          ),
          atMost("per SSE event", events.gateway / events.bare, 1.5),
          atMost("memory per stream KB", perStreamKb, 150),
          atMost("growth", growth, 1.5),
        ],
      };
    } finally {
      await load.close();
      await Promise.all([upstream, bare, forward, gateway].map((each) => each.stop()));
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

type Contender = "bare" | "forward" | "gateway";
type Compared = Readonly<Record<Contender, number>>;

/** In turn, because the machine is not ours alone. The first round warms up. */
async function alternate(
  stage: Stage,
  count: number,
  measure: (proxy: Measured, round: number) => Promise<number>,
): Promise<Compared> {
  const samples: Record<Contender, number[]> = { bare: [], forward: [], gateway: [] };
  for (let round = 0; round <= count; round += 1) {
    for (const name of ["bare", "forward", "gateway"] as const) {
      const sample = await measure(stage[name], round);
      if (round > 0) samples[name].push(sample);
    }
  }
  const { bare, forward, gateway } = samples;
  return { bare: median(bare), forward: median(forward), gateway: median(gateway) };
}

/** Requests per second: 32 conversations at once, of about 10 KB. */
function smallRequests(stage: Stage): Promise<Compared> {
  const requests = 32 * 40;
  return alternate(stage, rounds, async (proxy, round) => {
    const lanes = Array.from({ length: 32 }, (_, lane) =>
      Array.from({ length: 8 }, (__, at) =>
        growingBodies(`small ${round} ${lane} ${at}`, 2, 5),
      ).flat(),
    );
    return (requests / (await sendAll(stage.load, `${proxy.url}/v1/messages`, lanes))) * 1000;
  });
}

/** CPU milliseconds per call of a conversation that grows. Its first call, which is new as a whole, does not count. */
function cpuOfGrowing(stage: Stage, name: string, from: number, calls: number): Promise<Compared> {
  return alternate(stage, 3, async (proxy, round) => {
    const [first = [], ...rest] = growingBodies(`${name} ${round}`, from, calls + 1).map((each) => [
      each,
    ]);
    const url = `${proxy.url}/v1/messages`;
    await sendAll(stage.load, url, [first]);
    return (await cpuOf(proxy, () => sendAll(stage.load, url, [rest.flat()]))) / calls;
  });
}

async function cpuOf(proxy: Measured, work: () => Promise<unknown>): Promise<number> {
  const before = await proxy.used("cpu");
  await work();
  return (await proxy.used("cpu")) - before;
}

/** Calls of about 100 KB, one after the other. */
async function firstBytes({
  load,
  ...proxies
}: Stage): Promise<Record<Contender | "upstream", number>> {
  const bodies = growingBodies("first byte", 110, 60);
  const ms: Record<Contender | "upstream", number[]> = {
    upstream: [],
    bare: [],
    forward: [],
    gateway: [],
  };
  for (const [at, body] of bodies.entries()) {
    for (const name of ["upstream", "bare", "forward", "gateway"] as const) {
      const took = await load.firstByteMs(`${proxies[name].url}/v1/messages`, body);
      if (at >= 10) ms[name].push(took);
    }
  }
  return {
    upstream: median(ms.upstream),
    bare: median(ms.bare),
    forward: median(ms.forward),
    gateway: median(ms.gateway),
  };
}

/** CPU milliseconds per event of eight streams at once. */
function cpuOfEvents(stage: Stage): Promise<Compared> {
  const [lanes, events] = [8, 1500];
  return alternate(stage, 3, async (proxy, round) => {
    const bodies = Array.from({ length: lanes }, (_, lane) =>
      growingBodies(`events ${round} ${lane}`, 4, 1, { stream: true }),
    );
    const url = `${proxy.url}/v1/messages?events=${events}`;
    return (await cpuOf(proxy, () => sendAll(stage.load, url, bodies))) / (lanes * events);
  });
}

async function memoryOfStreams({ load, gateway }: Stage): Promise<number> {
  const before = await gateway.used("memory");
  const url = `${gateway.url}/v1/messages?events=1&open`;
  for (let open = 0; open < streams; open += 100) {
    await Promise.all(
      Array.from({ length: 100 }, (_, at) => {
        const [body = Buffer.alloc(0)] = growingBodies(`open ${open + at}`, 2, 1, { stream: true });
        return load.hold(url, body);
      }),
    );
  }
  return ((await gateway.used("memory")) - before) / streams / 1000;
}
