// Goal: a turn that is aborted keeps what its call said and cost. Method: an application that gives one signal to its SDK
// and to `prepare`, and records before, while and after it is aborted.
import { describe, expect, test } from "vitest";
import { openWorld, problemsOf } from "./test-kit.ts";

const opening = [
  {
    type: "message_start",
    message: {
      id: "m",
      type: "message",
      role: "assistant",
      model: "claude-sonnet-4-6",
      content: [],
      usage: { input_tokens: 100_000, output_tokens: 1 },
    },
  },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  {
    type: "content_block_delta",
    index: 0,
    delta: { type: "text_delta", text: "half an ans" },
  },
];

// 100,000 in at $3 and 1 out at $15 a million.
const openingCost = 300_015_000_000n;

/** As an SDK gives it: what came, and then what `end` does. */
async function* stream(end: () => Promise<void>): AsyncGenerator<object> {
  yield* opening;
  await end();
}

async function throwAborted(): Promise<void> {
  await Promise.resolve();
  throw new DOMException("Request was aborted.", "AbortError");
}

async function never(): Promise<void> {
  await new Promise(() => {});
}

const whole = JSON.stringify({
  type: "message",
  content: [{ type: "text", text: "All of it." }],
  stop_reason: "end_turn",
  usage: { input_tokens: 100_000, output_tokens: 1 },
});

async function prepared() {
  const world = await openWorld({ config: { options: { stream: true, outputTokensMax: 500 } } });
  const session = await world.engine.open({ id: "own" });
  const controller = new AbortController();
  const { signal } = controller;
  const call = await session.prepare("Why is CI red?", { id: "turn-1", signal });
  const costOf = async () => (await world.ledger.findSession("own"))?.costPicoUsd;
  return { ...world, session, controller, call, costOf };
}

describe("a call that is being recorded when its turn is aborted", () => {
  test("is booked as far as it came, once the SDK gives up too", async () => {
    const { session, controller, call, ledger, costOf } = await prepared();
    const events = stream(() => {
      controller.abort();
      return throwAborted();
    });
    const { entry, run } = await session.record(call, events);
    expect([entry.status, entry.failure?.kind, run?.end]).toEqual([
      "partial",
      "cancelled",
      "cancelled",
    ]);
    expect(JSON.stringify(entry.reply)).toContain("half an ans");
    expect([entry.costPicoUsd, await costOf()]).toEqual([openingCost, openingCost]);
    expect(await problemsOf(ledger)).toEqual([]);
  });

  test("is booked as far as it came, where the SDK goes on", async () => {
    const { session, controller, call, costOf } = await prepared();
    const events = stream(() => {
      controller.abort();
      return never();
    });
    const { entry, run } = await session.record(call, events);
    expect([entry.status, entry.failure?.kind, run?.end]).toEqual([
      "partial",
      "cancelled",
      "cancelled",
    ]);
    expect(await costOf()).toBe(openingCost);
  });

  test("is booked as far as it came by `abandon`, at once", async () => {
    const { session, call, costOf } = await prepared();
    const came = Promise.withResolvers<void>();
    const recording = session.record(
      call,
      stream(() => {
        came.resolve();
        return never();
      }),
    );
    await came.promise;
    expect((await session.abandon())?.end).toBe("cancelled");
    expect((await recording).entry.status).toBe("partial");
    expect(await costOf()).toBe(openingCost);
  });

  test("asks for no tools", async () => {
    const { session, controller, call } = await prepared();
    controller.abort();
    const content = [{ type: "tool_use", id: "t1", name: "look", input: {} }];
    const asks = { ...JSON.parse(whole), content, stop_reason: "tool_use" };
    const { entry, toolUses, run } = await session.record(call, asks);
    expect([entry.number, entry.status]).toEqual([1, "complete"]);
    expect([toolUses, run?.end]).toEqual([[], "cancelled"]);
  });
});

describe("a call that nobody records when its turn is aborted", () => {
  test("is booked where that happens a moment later", async () => {
    const { session, controller, call, costOf } = await prepared();
    controller.abort();
    await new Promise((resolve) => setTimeout(resolve, 50));
    const { entry, run } = await session.record(call, whole);
    expect([entry.status, run?.end]).toEqual(["complete", "done"]);
    expect(await costOf()).toBe(openingCost);
  });

  test("ends its turn after that moment", async () => {
    const { session, controller, call, ledger } = await prepared();
    controller.abort();
    const statusOf = async () => (await ledger.findTurn("turn-1"))?.status;
    await expect.poll(statusOf, { timeout: 5000 }).toBe("failed");
    await expect(session.record(call, whole)).rejects.toMatchObject({ code: "conflict" });
    expect(await problemsOf(ledger)).toEqual([]);
  });

  test("does not keep the next turn waiting", async () => {
    const { session, controller, ledger } = await prepared();
    controller.abort();
    expect((await session.prepare("Hello.")).number).toBe(1);
    expect((await ledger.findTurn("turn-1"))?.status).toBe("failed");
  });
});
