// Goal: whatever is recorded, the turn ends with what can be known of it, and no key is kept. Method: replies that came
// another way than documented, and replies that are none.
import { describe, expect, test } from "vitest";
import { Response as OtherResponse } from "undici";
import { plantedKey } from "../../harness/planted-key.ts";
import type { RecordedCall, RecordOptions } from "../../src/engine/own-loop/own-loop.ts";
import { openWorld } from "./test-kit.ts";

async function record(reply: unknown, options: RecordOptions = {}): Promise<RecordedCall> {
  const { engine } = await openWorld();
  const session = await engine.open();
  return session.record(await session.prepare("Hello."), reply, options);
}

async function* asEvents(...events: readonly object[]): AsyncGenerator<object> {
  yield* events;
}

const message = {
  type: "message",
  content: [{ type: "text", text: "Hi." }],
  stop_reason: "end_turn",
  usage: { input_tokens: 10, output_tokens: 5 },
};
const text = JSON.stringify(message);

describe("what was paid for is booked", () => {
  test.each<[string, () => unknown]>([
    ["a response of another fetch", () => new OtherResponse(text)],
    ["a promise of a message", () => Promise.resolve(message)],
    ["a promise of a response", () => Promise.resolve(new Response(text))],
    ["a text with a byte order mark", () => `\uFEFF${text}`],
  ])("from %s", async (_name, give) => {
    const { entry, run } = await record(give());
    // 10 in at $3 and 5 out at $15 a million.
    expect([entry.status, entry.costPicoUsd, run?.end]).toEqual(["complete", 105_000_000n, "done"]);
  });

  test("though a listener throws, which is told", async () => {
    const events = asEvents(
      { type: "message_start", message: { ...message, content: [], stop_reason: null } },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hi." } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 5 } },
      { type: "message_stop" },
    );
    const bug = new Error("my own bug");
    const { entry, run, partProblem } = await record(events, {
      onPart: () => {
        throw bug;
      },
    });
    expect([entry.status, entry.costPicoUsd, run?.end]).toEqual(["complete", 105_000_000n, "done"]);
    expect(partProblem).toBe(bug);
  });
});

const circle: Record<string, unknown> = {};
circle["self"] = circle;

describe("what is no reply fails the call, and nothing else", () => {
  test.each<[string, () => unknown, string]>([
    ["a circle", () => circle, "malformed"],
    ["a big integer", () => ({ count: 1n }), "malformed"],
    [
      "an object that will not be written",
      () => ({
        toJSON: () => {
          throw new Error("no");
        },
      }),
      "malformed",
    ],
    ["an event that is a circle", () => asEvents(circle), "malformed"],
    ["nothing", () => undefined, "malformed"],
    ["a promise that failed", () => Promise.reject(new TypeError("fetch failed")), "unreachable"],
    [
      "a promise that failed with nothing",
      () => Promise.reject(Object.create(null)),
      "unreachable",
    ],
    [
      "a response that was read before",
      async () => {
        const response = new Response(text);
        await response.text();
        return response;
      },
      "unreachable",
    ],
  ])("%s", async (_name, give, kind) => {
    const { entry, run } = await record(give());
    expect([entry.status, entry.failure?.kind, run?.end]).toEqual(["failed", kind, "failed"]);
  });
});

const refusal = {
  type: "error",
  error: { type: "authentication_error", message: `invalid x-api-key: ${plantedKey}` },
};

describe("a key that somebody repeats does not reach the ledger", () => {
  test.each<[string, () => unknown]>([
    ["in a body", () => JSON.stringify(refusal)],
    ["in a text that is no body", () => `bad key ${plantedKey}`],
    ["in an object", () => refusal],
    ["in a response", () => new Response(JSON.stringify(refusal), { status: 401 })],
    ["in a page", () => new Response(`<html>Authorization: Bearer ${plantedKey}</html>`)],
    ["in a response of another fetch", () => new OtherResponse(plantedKey, { status: 500 })],
    ["in an event", () => asEvents(refusal)],
    [
      "in an event after a reply began",
      () => asEvents({ type: "message_start", message: { ...message, content: [] } }, refusal),
    ],
  ])("%s", async (_name, give) => {
    const { engine, ledger } = await openWorld();
    const session = await engine.open();
    const call = await session.prepare("Hello.");
    const { entry } = await session.record(call, give());
    const kept = JSON.stringify(
      [entry.failure, entry.notes, await ledger.readCalls(call.turnId)],
      (_key, value: unknown) => (typeof value === "bigint" ? String(value) : value),
    );
    expect(kept).toContain("[redacted]");
    expect(kept).not.toContain(plantedKey);
  });
});
