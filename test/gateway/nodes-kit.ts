// Several gateways on one ledger behind a dumb round-robin, with one simulator behind them.
import { once } from "node:events";
import { createServer, request } from "node:http";
import { expect, onTestFinished } from "vitest";
import { fieldsIn, fieldsOf } from "../../src/core/message/fields.ts";
import type { GatewayKeys } from "../../src/gateway/admission/gateway-key.ts";
import { openGateway, type Gateway } from "../../src/gateway/open-gateway.ts";
import type { ObservedCall } from "../../src/gateway/observed-call.ts";
import { upstreamsAt } from "../../src/gateway/upstreams/built-in.ts";
import { toUpstreamTable } from "../../src/gateway/upstreams/configured.ts";
import { createAgent } from "../../src/simulator/index.ts";
import { serve } from "../simulator-clients/serve.ts";
import { portOf } from "./kit.ts";

export interface Nodes {
  /** Of the round-robin. */
  readonly url: string;
  /** Of each node. */
  readonly urls: readonly string[];
  /** What all nodes saw, in the order of their verdicts. */
  readonly calls: readonly ObservedCall[];
  /** Resolves when so many calls were observed. */
  until(count: number): Promise<void>;
  /** What the health routes say of sharing, added up. With keys they want one. */
  shared(key?: string): Promise<Readonly<Record<string, number>>>;
  /** Resolves when so many states were kept. */
  untilKept(count: number, key?: string): Promise<void>;
  /** Every node stops, and another takes its place. */
  restart(): Promise<void>;
}

export interface NodesOptions {
  readonly count: number;
  /** The ledger that they share. */
  readonly store: string;
  readonly isOptimizing: boolean;
  /** How long a request waits for its markers. */
  readonly waitMs?: number;
  /** Of a simulator; a new one by default. */
  readonly upstream?: string;
  /** The gateways' own keys; none by default. */
  readonly keys?: GatewayKeys;
  /** No problem is expected by default. */
  readonly onProblem?: (problem: string) => void;
}

const patiently = { timeout: 30_000, interval: 5 };

export async function openNodes(options: NodesOptions): Promise<Nodes> {
  const upstream = options.upstream ?? (await serve({ model: createAgent() })).url;
  const calls: ObservedCall[] = [];
  const open = (): Promise<Gateway> =>
    openNode({ ...options, upstream }, (call) => calls.push(call));
  const gateways: Gateway[] = [];
  for (let node = 0; node < options.count; node += 1) gateways.push(await open());
  onTestFinished(async () => {
    for (const gateway of gateways) await gateway.close(0);
  });
  const shared: Nodes["shared"] = async (key) => {
    const headers = key === undefined ? {} : { "x-api-key": key };
    const sums: Record<string, number> = {};
    for (const gateway of gateways) {
      const health: unknown = await (
        await fetch(`${urlOf(gateway)}/strata/health`, { headers })
      ).json();
      for (const [name, count] of Object.entries(fieldsIn(fieldsOf(health), "shared"))) {
        sums[name] = (sums[name] ?? 0) + Number(count);
      }
    }
    return sums;
  };
  return {
    shared,
    url: await openRoundRobin(() => gateways.map(({ port }) => port)),
    get urls() {
      return gateways.map(urlOf);
    },
    calls,
    until: async (seen) => {
      await expect.poll(() => calls.length, { ...patiently, interval: 2 }).toBe(seen);
    },
    untilKept: async (count, key) => {
      await expect.poll(async () => (await shared(key))["kept"], patiently).toBe(count);
    },
    restart: async () => {
      for (const [node, gateway] of gateways.entries()) {
        await gateway.close(0);
        gateways[node] = await open();
      }
    },
  };
}

function urlOf({ urls }: Gateway): string {
  return urls[0] ?? "";
}

function openNode(
  options: NodesOptions & { readonly upstream: string },
  onCall: (call: ObservedCall) => void,
): Promise<Gateway> {
  const { store, isOptimizing, waitMs = 5000, keys, upstream } = options;
  const { onProblem = (problem: string) => expect.unreachable(problem) } = options;
  return openGateway({
    table: toUpstreamTable(new Map(), upstreamsAt(upstream)),
    env: {},
    store,
    rewriteMsMax: waitMs,
    optimize: isOptimizing
      ? {
          share: 100,
          holdout: 0,
          upstreams: [],
          clients: [],
          logins: false,
          repairs: [],
          fanOutMs: 0,
          diagnose: false,
          keepWarm: { usdPerHour: null, logins: false },
        }
      : null,
    ...(keys !== undefined && { keys }),
    onCall,
    onProblem,
  });
}

/** What is said of calls, without ids and times that differ from run to run. */
export function verdictsOf(calls: readonly ObservedCall[]): readonly object[] {
  const ids = new Map<string, number>();
  const numberOf = (id: string): number => {
    ids.set(id, ids.get(id) ?? ids.size + 1);
    return ids.get(id) ?? 0;
  };
  return calls.map((call) => {
    const { conversation, explanation, usage, costPicoUsd, plainCostPicoUsd } = call;
    const { id, parentId, ...named } = conversation;
    return {
      ...named,
      conversation: numberOf(id),
      parent: parentId === null ? null : numberOf(parentId),
      usage,
      explanation,
      costs: [costPicoUsd, plainCostPicoUsd],
      otherPolicies: call.otherPolicies,
      blocks: [call.keptBlocks, call.addedBlocks],
    };
  });
}

/** Each request goes to the next port, whatever it is. An answer that breaks off breaks off for the client. */
export async function openRoundRobin(portsNow: () => readonly number[]): Promise<string> {
  let next = 0;
  const server = createServer((incoming, outgoing) => {
    const ports = portsNow();
    const port = ports[next % ports.length];
    next += 1;
    const { method, url: path, rawHeaders } = incoming;
    const passed = request(
      { host: "127.0.0.1", port, method, path, headers: rawHeaders, agent: false },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
        answer.on("error", () => outgoing.destroy()).pipe(outgoing);
      },
    );
    passed.on("error", () => outgoing.destroy());
    incoming.pipe(passed);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
  });
  return `http://127.0.0.1:${portOf(server)}`;
}
