// Goal: nodes that share conversations never mix two clients up, and none of their faults reaches the traffic.
// Method: nodes on one PostgreSQL, whose answers break, with clients that send one prompt under two keys.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { startPostgres, type PostgresServer } from "../../harness/postgres.ts";
import { openProxy } from "../../harness/postgres-proxy.ts";
import { hashKey } from "../../src/gateway/admission/gateway-key.ts";
import type { ObservedCall } from "../../src/gateway/observed-call.ts";
import { manual } from "../simulator-clients/serve.ts";
import { ana, ask, ben, upstreamKey, type Answer } from "./keys-kit.ts";
import { openNodes } from "./nodes-kit.ts";
import { history } from "./optimize-kit.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres({ fsync: false });
});
afterAll(() => server.stop());

/** They take seconds; a machine that is busy with others takes many times as long. */
const busyMsMax = 120_000;

/** A call of one conversation by its number from 0. */
function step(
  url: string | undefined,
  call: number,
  key = ana,
  more: object = {},
): Promise<Answer> {
  return ask(url ?? "", key, { system: manual, messages: history(call), ...more });
}

function idOf(call: ObservedCall | undefined): string | undefined {
  return call?.conversation.id;
}

test(
  "while the ledger fails, each node goes by what it knows itself, and when it is back by what others know",
  async () => {
    const proxy = await openProxy(await server.createDatabase());
    onTestFinished(() => proxy.close());
    const nodes = await openNodes({
      count: 2,
      store: proxy.url,
      isOptimizing: true,
      waitMs: 500,
      onProblem: (problem) => expect(problem).toMatch(/ledger|shared/),
    });
    const [one, other] = nodes.urls;
    for (const call of [0, 1]) {
      expect(await step(one, call)).toMatchObject({ status: 200 });
      await nodes.untilKept(call + 1);
    }
    const before = await nodes.shared();
    // No answer of the ledger arrives any more.
    proxy.breakOn("");
    onTestFinished(() => proxy.breakOn(null));
    for (const call of [2, 3]) {
      expect(await step(other, call)).toMatchObject({ status: 200 });
      await nodes.until(call + 1);
    }
    const tooLate = (before["tooLate"] ?? 0) + 1;
    expect(await nodes.shared()).toMatchObject({ found: 0, tooLate, kept: 2, lost: 0 });
    const [first, , alone, next] = nodes.calls;
    expect(alone?.conversation.callNumber).toBe(1);
    expect(idOf(alone)).not.toBe(idOf(first));
    expect(next?.conversation).toMatchObject({ id: idOf(alone), callNumber: 2 });

    proxy.breakOn(null);
    await nodes.untilKept(4);
    expect(await step(one, 4)).toMatchObject({ status: 200 });
    await nodes.until(5);
    expect(nodes.calls.at(-1)?.conversation).toMatchObject({ id: idOf(alone), callNumber: 3 });
  },
  busyMsMax,
);

describe("one prompt of two clients", () => {
  const keys = {
    keys: [
      { name: "ana", sha256: hashKey(ana) },
      { name: "ben", sha256: hashKey(ben) },
    ],
    upstreamKeys: new Map([["anthropic", upstreamKey]]),
  };
  /** The client's own name for its session would be found, too. */
  const named = { metadata: { user_id: '{"session_id":"s-1"}' } };

  test.each([
    ["two keys of the gateway behind one of the provider", { keys }, ana],
    ["two keys of the provider", {}, undefined],
  ])(
    "%s never meet on two nodes",
    async (_name, given, told) => {
      const store = await server.createDatabase();
      const nodes = await openNodes({ count: 2, store, isOptimizing: true, ...given });
      const [one, other] = nodes.urls;
      for (const call of [0, 1, 2]) {
        expect(await step(one, call, ana, named)).toMatchObject({ status: 200 });
        await nodes.untilKept(call + 1, told);
      }
      expect(await step(other, 3, ben, named)).toMatchObject({ status: 200 });
      await nodes.untilKept(4, told);
      expect(await nodes.shared(told)).toMatchObject({ found: 0, notFound: 1 });
      // Who may know of it still finds it there.
      expect(await step(other, 3, ana, named)).toMatchObject({ status: 200 });
      await nodes.untilKept(5, told);
      expect(await nodes.shared(told)).toMatchObject({ found: 1, notFound: 1 });

      const [first, , , stranger, next] = nodes.calls;
      expect(stranger?.conversation.callNumber).toBe(1);
      expect(stranger?.keptBlocks).toBe(0);
      expect(idOf(stranger)).not.toBe(idOf(first));
      expect(next?.conversation).toMatchObject({ id: idOf(first), callNumber: 4 });
    },
    busyMsMax,
  );
});
