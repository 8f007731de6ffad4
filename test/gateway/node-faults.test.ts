// Goal: nodes that share conversations never mix two clients up, and none of their faults reaches the traffic.
// Method: nodes on one PostgreSQL, whose answers break, whose clients call at the same time, and one of which is killed.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { startPostgres, type PostgresServer } from "../../harness/postgres.ts";
import { openProxy } from "../../harness/postgres-proxy.ts";
import { fieldsIn, fieldsOf } from "../../src/core/message/fields.ts";
import { hashKey } from "../../src/gateway/admission/gateway-key.ts";
import { openLedger } from "../../src/edge/stores/open-ledger.ts";
import { createAgent, createSimulator } from "../../src/simulator/index.ts";
import type { ObservedCall } from "../../src/gateway/observed-call.ts";
import { manual } from "../simulator-clients/serve.ts";
import { ana, ask, ben, upstreamKey, type Answer } from "./keys-kit.ts";
import { bytesOf, openUpstream } from "./kit.ts";
import { openNodes } from "./nodes-kit.ts";
import { history } from "./optimize-kit.ts";
import { startServe } from "./start-serve.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres({ fsync: false });
});
afterAll(() => server.stop());

/** They take seconds; a machine that is busy with others takes many times as long. */
const busyMsMax = 120_000;
const patiently = { timeout: 30_000, interval: 5 };

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

/** The simulator, but the second half of an answer waits for what `until` gives for its request's body. */
async function openWaiting(until: (body: string) => Promise<void> | null): Promise<string> {
  const simulator = createSimulator({ model: createAgent(), seed: 1 });
  return openUpstream(async (incoming, outgoing) => {
    const body = (await bytesOf(incoming)).toString();
    const answer = await simulator.fetch(`http://127.0.0.1${incoming.url ?? ""}`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "anthropic-version": "2023-06-01",
        "x-api-key": String(incoming.headers["x-api-key"]),
      },
      body,
    });
    outgoing.writeHead(answer.status, Object.fromEntries(answer.headers));
    const bytes = Buffer.from(await answer.arrayBuffer());
    outgoing.write(bytes.subarray(0, bytes.length >> 1));
    await until(body);
    outgoing.end(bytes.subarray(bytes.length >> 1));
  });
}

/** The second call of the conversation, with other words at its end. */
function going(words: string): object {
  return { messages: [...history(1).slice(0, -1), { role: "user", content: words }] };
}

/** How many blocks it sent. */
function promptOf(call: ObservedCall | undefined): number {
  return (call?.keptBlocks ?? 0) + (call?.addedBlocks.length ?? 0);
}

test(
  "two calls of one conversation at the same time are both in the ledger, and the one that ended later says what comes next",
  async () => {
    const store = await server.createDatabase();
    const waiting = new Map(
      ["This way.", "That way."].map((words) => [words, Promise.withResolvers<void>()]),
    );
    const begun = new Set<string>();
    const upstream = await openWaiting((body) => {
      const [words, turn] = [...waiting].find(([each]) => body.includes(each)) ?? [];
      if (words !== undefined) begun.add(words);
      return turn?.promise ?? null;
    });
    const nodes = await openNodes({ count: 3, store, isOptimizing: true, upstream });
    const [one, other, third] = nodes.urls;
    expect(await step(one, 0)).toMatchObject({ status: 200 });
    await nodes.untilKept(1);

    const answers = [
      step(one, 1, ana, going("This way.")),
      step(other, 1, ana, going("That way.")),
    ];
    await expect.poll(() => begun.size, patiently).toBe(2);
    waiting.get("This way.")?.resolve();
    await nodes.untilKept(2);
    waiting.get("That way.")?.resolve();
    await nodes.untilKept(3);
    for (const answer of answers) expect(await answer).toMatchObject({ status: 200 });
    waiting.clear();

    const after = [
      ...history(1).slice(0, -1),
      { role: "user", content: "That way." },
      ...history(2).slice(-2),
    ];
    expect(await step(third, 2, ana, { messages: after })).toMatchObject({ status: 200 });
    await nodes.untilKept(4);
    const [first, , later, next] = nodes.calls;
    const id = idOf(first);
    expect(nodes.calls.map(idOf)).toEqual([id, id, id, id]);
    expect(next?.keptBlocks).toBe(promptOf(later));
    expect(next?.usage?.cacheReadTokens).toBeGreaterThan(0);

    const ledger = await openLedger(store);
    onTestFinished(() => ledger.close());
    const recorded = async (): Promise<readonly string[]> =>
      (await ledger.readGatewayCalls(id ?? "")).map((call) => call.id).toSorted();
    await expect.poll(recorded, patiently).toEqual(nodes.calls.map((call) => call.id).toSorted());
  },
  busyMsMax,
);

test(
  "a node that is killed in the middle of an answer breaks it off, and its conversation goes on at another",
  async () => {
    const store = await server.createDatabase();
    let isHeld = false;
    const upstream = await openWaiting(() => (isHeld ? new Promise(() => {}) : null));
    const nodes = await openNodes({
      count: 1,
      store,
      isOptimizing: false,
      upstream,
      onProblem: (problem) => expect(problem).toContain("the gateway was killed"),
    });
    const killed = await startServe(["--upstream", `anthropic=${upstream}`], {
      STRATA_STORE: store,
    });
    const kept = async (): Promise<unknown> => {
      const health: unknown = await (await fetch(`${killed.url}/strata/health`)).json();
      return fieldsIn(fieldsOf(health), "shared")["kept"];
    };
    for (const call of [0, 1]) {
      expect(await step(killed.url, call)).toMatchObject({ status: 200 });
      await expect.poll(kept, patiently).toBe(call + 1);
    }
    isHeld = true;
    const response = await fetch(`${killed.url}/v1/messages`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "anthropic-version": "2023-06-01",
        "x-api-key": ana,
      },
      body: JSON.stringify({
        model: "claude-sonnet-4-5",
        max_tokens: 100,
        system: manual,
        messages: history(2),
        stream: true,
      }),
    });
    expect(response.status).toBe(200);
    const read = response.text();
    await expect.poll(() => killed.lines().length, patiently).toBe(2);
    await Promise.all([expect(read).rejects.toThrow("terminated"), killed.stop("SIGKILL")]);

    isHeld = false;
    expect(await step(nodes.url, 2)).toMatchObject({ status: 200 });
    await nodes.until(1);
    const [line] = killed.lines();
    expect(nodes.calls[0]?.conversation).toMatchObject({
      id: fieldsIn(line ?? {}, "conversation")["id"],
      callNumber: 3,
    });
    expect(await nodes.shared()).toMatchObject({ found: 1, notFound: 0 });
  },
  busyMsMax,
);
