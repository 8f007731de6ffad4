import { expect, test } from "vitest";
import { createCallQueue } from "./call-queue.ts";
import type { RecordedBlock } from "./recording.ts";

const reply: readonly RecordedBlock[] = [];

test("calls that wait for nothing are returned at once", () => {
  const queue = createCallQueue<string>();
  queue.add("main", "one", null);
  queue.add("main", "two", null);
  expect(queue.take()).toEqual(["one", "two"]);
  expect(queue.take()).toEqual([]);
});

test("a call that waits keeps those after it back until its own thread goes on", () => {
  const queue = createCallQueue<string>();
  queue.add("main", "one", null);
  queue.add("main", "two", () => "two, answered");
  queue.add("side", "three", null);
  expect(queue.take()).toEqual(["one"]);
  queue.hear("side", reply);
  expect(queue.take()).toEqual([]);
  queue.hear("main", reply);
  expect(queue.take()).toEqual(["two, answered", "three"]);
});

test("only the first reply is a call's own", () => {
  const queue = createCallQueue<string>();
  let heard = 0;
  queue.add("main", "one", () => `one, answered ${(heard += 1)} times`);
  queue.hear("main", reply);
  queue.hear("main", reply);
  expect(queue.take()).toEqual(["one, answered 1 times"]);
});

test("calls that still wait at the end are returned unchanged", () => {
  const queue = createCallQueue<string>();
  queue.add("main", "one", () => "one, answered");
  queue.add("main", "two", null);
  expect(queue.end()).toEqual(["one", "two"]);
  expect(queue.end()).toEqual([]);
});
