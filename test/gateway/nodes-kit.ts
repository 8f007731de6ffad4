// Several gateways on one ledger behind a dumb round-robin, with one simulator behind them.
import { once } from "node:events";
import { createServer, request } from "node:http";
import { expect, onTestFinished } from "vitest";
import { fieldsIn, fieldsOf } from "../../src/core/message/fields.ts";
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
  readonly gateways: readonly Gateway[];
  /** What all nodes saw, in the order of their verdicts. */
  readonly calls: readonly ObservedCall[];
  /** Resolves when so many calls were observed. */
  until(count: number): Promise<void>;
  /** What the health routes say of sharing, added up. */
  shared(): Promise<Readonly<Record<string, number>>>;
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
}

export async function openNodes(options: NodesOptions): Promise<Nodes> {
  const { store, isOptimizing, waitMs = 5000 } = options;
  const upstream = options.upstream ?? (await serve({ model: createAgent() })).url;
  const calls: ObservedCall[] = [];
  const gateways: Gateway[] = [];
  for (let node = 0; node < options.count; node += 1) {
    const gateway = await openGateway({
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
      onCall: (call) => calls.push(call),
      onProblem: (problem) => expect.unreachable(problem),
    });
    onTestFinished(() => gateway.close(0));
    gateways.push(gateway);
  }
  const shared: Nodes["shared"] = async () => {
    const sums: Record<string, number> = {};
    for (const { urls } of gateways) {
      const health: unknown = await (await fetch(`${urls[0]}/strata/health`)).json();
      for (const [name, count] of Object.entries(fieldsIn(fieldsOf(health), "shared"))) {
        sums[name] = (sums[name] ?? 0) + Number(count);
      }
    }
    return sums;
  };
  return {
    shared,
    url: await openRoundRobin(gateways.map(({ port }) => port)),
    gateways,
    calls,
    until: async (seen) => {
      await expect.poll(() => calls.length, { timeout: 30_000, interval: 2 }).toBe(seen);
    },
  };
}

/** Each request goes to the next port, whatever it is. An answer that breaks off breaks off for the client. */
export async function openRoundRobin(ports: readonly number[]): Promise<string> {
  let next = 0;
  const server = createServer((incoming, outgoing) => {
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
