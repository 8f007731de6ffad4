// What several gateways on one PostgreSQL lose against one: cached tokens that are read, and what their states take.
import { setTimeout as wait } from "node:timers/promises";
import { plantedKey } from "../harness/planted-key.ts";
import { startPostgres, type PostgresServer } from "../harness/postgres.ts";
import { atLeast, atMost, type Experiment } from "../harness/report.ts";
import { fieldsIn, fieldsOf } from "../src/core/message/fields.ts";
import type { ObservedCall } from "../src/gateway/observed-call.ts";
import { openGateway, type Gateway } from "../src/gateway/open-gateway.ts";
import { upstreamsAt } from "../src/gateway/upstreams/built-in.ts";
import { toUpstreamTable } from "../src/gateway/upstreams/configured.ts";
import { createAgent, createSimulator } from "../src/simulator/index.ts";

/** Conversations, and calls of each. */
const [conversations, calls] = [6, 12];
const longMessages = 10_000;

export const experiment: Experiment = {
  summary: "two gateways on one PostgreSQL against one: cached tokens read, size of states",
  async run({ progress }) {
    const server = await startPostgres({ fsync: false, isWatched: false });
    try {
      progress("one node");
      const one = await playOn(server, 1);
      progress("two nodes");
      const two = await playOn(server, 2);
      progress("a conversation of 10,000 messages");
      const stateKb = await stateKbAt(server, longMessages);
      return {
        figures: {
          "one node read tokens": one,
          "two nodes read tokens": two,
          "state KB per call at 10,000 messages": stateKb,
        },
        checks: [
          atLeast("two nodes read share", two / one, 0.98),
          atMost("state KB per call at 10,000 messages", stateKb, stateKbMax),
        ],
      };
    } finally {
      await server.stop();
    }
  },
};

/** The last 64 blocks at most, with what the provider should have. */
const stateKbMax = 16;

/** Each call goes to the next node. Returns how many tokens were read from the cache. */
async function playOn(server: PostgresServer, count: number): Promise<number> {
  return withNodes(server, count, async (nodes) => {
    let sent = 0;
    for (let conversation = 0; conversation < conversations; conversation += 1) {
      for (let call = 0; call < calls; call += 1) {
        await nodes.send(sent % count, bodyOf(`task ${conversation}`, 2 * call + 1));
        sent += 1;
        await nodes.untilKept(sent);
      }
    }
    return nodes.calls.reduce((sum, { usage }) => sum + (usage?.cacheReadTokens ?? 0), 0);
  });
}

/** Of calls after the first one, each two messages longer than the one before. */
async function stateKbAt(server: PostgresServer, messages: number): Promise<number> {
  return withNodes(server, 1, async (nodes) => {
    await nodes.send(0, bodyOf("long", messages - 9));
    const first = await nodes.untilKept(1);
    for (let more = 1; more <= 4; more += 1) {
      await nodes.send(0, bodyOf("long", messages - 9 + 2 * more));
      await nodes.untilKept(1 + more);
    }
    return ((await nodes.untilKept(5)) - first) / 4 / 1000;
  });
}

interface Nodes {
  readonly calls: readonly ObservedCall[];
  send(node: number, body: string): Promise<void>;
  /** Resolves when so many states were kept, with the bytes of all. */
  untilKept(count: number): Promise<number>;
}

async function withNodes<T>(
  server: PostgresServer,
  count: number,
  work: (nodes: Nodes) => Promise<T>,
): Promise<T> {
  const store = await server.createDatabase();
  const provider = await createSimulator({ model: createAgent(), seed: 1 }).listen();
  const seen: ObservedCall[] = [];
  const gateways: Gateway[] = [];
  try {
    for (let node = 0; node < count; node += 1) {
      gateways.push(await openNode(store, provider.url, (call) => seen.push(call)));
    }
    return await work({
      calls: seen,
      send: (node, body) => send(gateways[node]?.urls[0] ?? "", body),
      untilKept: (states) => untilKept(gateways, states),
    });
  } finally {
    for (const gateway of gateways) await gateway.close(0);
    await provider.close();
  }
}

function openNode(
  store: string,
  upstream: string,
  onCall: (call: ObservedCall) => void,
): Promise<Gateway> {
  return openGateway({
    table: toUpstreamTable(new Map(), upstreamsAt(upstream)),
    env: {},
    store,
    // What is measured is what nodes know, not how fast this machine is.
    rewriteMsMax: 5000,
    optimize: {
      share: 100,
      holdout: 0,
      upstreams: [],
      clients: [],
      logins: false,
      repairs: [],
      fanOutMs: 0,
      diagnose: false,
      keepWarm: { usdPerHour: null, logins: false },
    },
    onCall,
  });
}

async function send(url: string, body: string): Promise<void> {
  const response = await fetch(`${url}/v1/messages`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "anthropic-version": "2023-06-01",
      "x-api-key": plantedKey,
    },
    body,
  });
  const answer = await response.text();
  if (response.status !== 200) throw new Error(`status ${response.status}: ${answer}`);
}

async function untilKept(gateways: readonly Gateway[], states: number): Promise<number> {
  for (const deadline = performance.now() + 30_000; performance.now() < deadline; await wait(2)) {
    let [kept, bytes] = [0, 0];
    for (const { urls } of gateways) {
      const health: unknown = await (await fetch(`${urls[0]}/strata/health`)).json();
      const shared = fieldsIn(fieldsOf(health), "shared");
      kept += Number(shared["kept"]);
      bytes += Number(shared["keptBytes"]);
    }
    if (kept === states) return bytes;
  }
  throw new Error(`no ${states} states within 30 s`);
}

/** No markers of the client's own. */
function bodyOf(task: string, messages: number): string {
  return JSON.stringify({
    model: "claude-sonnet-5-5",
    max_tokens: 100,
    system: "Every answer names the file and the line it speaks of. ".repeat(200),
    messages: Array.from({ length: messages }, (_, at) =>
      at % 2 === 0
        ? { role: "user", content: `${task}, step ${at / 2}. ${"The build says so. ".repeat(10)}` }
        : { role: "assistant", content: `I look at it. ${"Then I see. ".repeat(5)}` },
    ),
  });
}
