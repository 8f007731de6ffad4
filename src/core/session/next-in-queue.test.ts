import { expect, test } from "vitest";
import type { QueueMode } from "../config/schema/queue.ts";
import type { AgentEvent } from "../layers/event.ts";
import { nextInQueue, type ReadItem } from "./next-in-queue.ts";

function item(seq: number, mode: QueueMode, more: Partial<ReadItem> = {}): ReadItem {
  const event: AgentEvent = { content: `words ${seq}`, source: "human" };
  return {
    id: `q${seq}`,
    sessionId: "s",
    seq,
    mode,
    event,
    model: null,
    queuedMs: 1000 * seq,
    status: "waiting",
    turnId: null,
    reason: null,
    ...more,
  };
}

const settings = { debounceMs: 500 };

test("nothing waits, so nothing runs", () => {
  expect(nextInQueue([], settings)).toBeNull();
  expect(nextInQueue([item(1, "follow-up", { status: "summarized" })], settings)).toBeNull();
});

test("the oldest message runs first, in a turn with its id; an interruption passes it", () => {
  const waiting = [item(1, "follow-up"), item(2, "steer"), item(3, "interrupt")];
  expect(nextInQueue(waiting.slice(0, 2), settings)).toEqual({
    id: "q1",
    event: { content: "words 1", source: "human" },
    model: null,
    takes: ["q1"],
    dueMs: 1000,
  });
  expect(nextInQueue(waiting, settings)).toMatchObject({ id: "q3", takes: ["q3"] });
});

test("collected messages share a turn, which waits until no other one came", () => {
  const waiting = [
    item(1, "collect"),
    item(2, "collect"),
    item(3, "follow-up"),
    item(4, "collect"),
  ];
  expect(nextInQueue(waiting, settings)).toEqual({
    id: "q1",
    event: { content: "words 1\nwords 2", source: "human" },
    model: null,
    takes: ["q1", "q2"],
    dueMs: 2500,
  });
});

test("messages of another sender or for another model get a turn of their own", () => {
  const event = { content: "hi", source: "human", sender: "ben" };
  expect(nextInQueue([item(1, "collect"), item(2, "collect", { event })], settings)?.takes).toEqual(
    ["q1"],
  );
  const other = item(2, "collect", { model: "claude-opus-5-5" });
  expect(nextInQueue([item(1, "collect"), other], settings)?.takes).toEqual(["q1"]);
});

test("blocks are joined as blocks", () => {
  const content = [{ type: "text" as const, text: "in a block" }];
  const blocks = item(2, "collect", { event: { content, source: "human" } });
  expect(nextInQueue([item(1, "collect"), blocks], settings)?.event.content).toEqual([
    { type: "text", text: "words 1" },
    { type: "text", text: "in a block" },
  ]);
});

test("dropped messages are listed in a line each, cut to 160 characters", () => {
  const long = item(1, "follow-up", {
    status: "summarized",
    event: { content: `a\n\nb ${"x".repeat(200)}`, source: "human" },
  });
  const next = nextInQueue([long, item(2, "follow-up")], settings);
  expect(next?.takes).toEqual(["q2", "q1"]);
  expect(next?.event.content).toEqual([
    {
      type: "text",
      text: `Earlier messages, dropped because the queue was full:\n- a b ${"x".repeat(156)}…`,
    },
    { type: "text", text: "words 2" },
  ]);
});
