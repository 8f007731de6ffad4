// Goal: two gateways on one ledger do what one does. Method: the same clients through one node and through two behind a round-robin,
// with PostgreSQL, one simulator each, and a clock of the test's own.
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { startPostgres, type PostgresServer } from "../../harness/postgres.ts";
import type { ObservedCall } from "../../src/gateway/observed-call.ts";
import { openNodes, verdictsOf, type Nodes } from "./nodes-kit.ts";
import { plays, stopClock, type Play } from "./optimize-kit.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres({ fsync: false });
});
afterAll(() => server.stop());

/** They take a few seconds; a machine that is busy with others takes many times as long. */
const busyMsMax = 240_000;
const startMs = Date.UTC(2026, 10, 16, 9);

/** Agents with and without markers, sub-agents, steps back, and a provider that keeps every prefix. */
const some = Object.entries(plays).filter(([name]) =>
  [
    "a program without any markers",
    "a coding agent that marks its system text and its last message",
    "a coding agent whose user pauses for twenty minutes",
    "sub-agents with one system text",
    "OpenAI without any",
  ].includes(name),
);

interface Played {
  readonly nodes: Nodes;
  /** By the name of the play. */
  readonly calls: ReadonlyMap<string, readonly ObservedCall[]>;
}

/** One play a day. */
async function playAll(
  count: number,
  isOptimizing: boolean,
  played: readonly (readonly [string, Play])[],
): Promise<Played> {
  vi.setSystemTime(startMs);
  const nodes = await openNodes({ count, store: await server.createDatabase(), isOptimizing });
  const calls = new Map<string, readonly ObservedCall[]>();
  let sent = 0;
  for (const [day, [name, play]] of played.entries()) {
    const from = sent;
    const morningMs = startMs + day * 86_400_000;
    vi.setSystemTime(morningMs);
    const settled = async (): Promise<void> => {
      await nodes.until(sent);
      await nodes.untilKept(sent);
    };
    await play(nodes.url, async (atSeconds) => {
      await settled();
      sent += 1;
      vi.setSystemTime(morningMs + atSeconds * 1000);
    });
    await settled();
    calls.set(name, nodes.calls.slice(from));
  }
  return { nodes, calls };
}

function readTokens(calls: readonly ObservedCall[]): number {
  return calls.reduce((sum, { usage }) => sum + (usage?.cacheReadTokens ?? 0), 0);
}

test(
  "two nodes behind a round-robin say of each call what one says",
  async () => {
    stopClock();
    const one = await playAll(1, false, some);
    const two = await playAll(2, false, some);
    for (const [name, calls] of one.calls) {
      const verdicts = { name, calls: verdictsOf(calls) };
      expect({ name, calls: verdictsOf(two.calls.get(name) ?? []) }).toEqual(verdicts);
    }
  },
  busyMsMax,
);

test(
  "two nodes read from the cache what one reads with our markers",
  async () => {
    stopClock();
    const one = readTokens((await playAll(1, true, some)).nodes.calls);
    const two = readTokens((await playAll(2, true, some)).nodes.calls);
    expect(one).toBeGreaterThan(250_000);
    expect(two / one).toBeGreaterThanOrEqual(0.98);
  },
  busyMsMax,
);
