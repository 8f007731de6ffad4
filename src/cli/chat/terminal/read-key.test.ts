import { expect, test } from "vitest";
import { readKey } from "./read-key.ts";
import { after, blank } from "../state/test-kit.ts";
import type { ChatEvent } from "../state/update.ts";

const interrupt = { name: "c", ctrl: true };
const said: ChatEvent = { type: "said", text: "go" };
const typed: ChatEvent = { type: "key", key: { name: "x", sequence: "x" } };
const question = { id: "1", toolName: "bash", preview: [], isReady: false };
const asked: ChatEvent = { type: "asked", question };
const ready: ChatEvent = { type: "ready", id: "1" };

test("Ctrl-C stops the turn, and quits while it is stopping", () => {
  expect(readKey(after(said), interrupt)).toEqual({ kind: "stop" });
  expect(readKey(after(said, { type: "stopping" }), interrupt)).toEqual({ kind: "quit" });
});

test("Ctrl-C clears the line first, then warns, then quits", () => {
  expect(readKey(after(typed), interrupt)).toEqual({ kind: "clear" });
  expect(readKey(blank, interrupt)).toEqual({ kind: "warn" });
  const warned = after({ type: "quitting", isQuitting: true });
  expect(readKey(warned, interrupt)).toEqual({ kind: "quit" });
});

test("Ctrl-D quits on an empty line only", () => {
  expect(readKey(blank, { name: "d", ctrl: true })).toEqual({ kind: "quit" });
  expect(readKey(after(typed), { name: "d", ctrl: true })).toEqual({ kind: "edit" });
});

test("Enter sends a line, but not a blank one", () => {
  expect(readKey(after(typed), { name: "return" })).toEqual({ kind: "submit", text: "x" });
  expect(readKey(after(typed), { name: "return", meta: true })).toEqual({ kind: "edit" });
  expect(readKey(blank, { name: "return" })).toEqual({ kind: "nothing" });
});

test("y, n, a and Escape answer a question", () => {
  const state = after(said, asked, ready);
  const answers = ["y", "n", "a", "escape"].map((name) => readKey(state, { name }));
  expect(answers).toMatchObject([
    { kind: "answer", id: "1", answer: "yes" },
    { answer: "no" },
    { answer: "always" },
    { answer: "no" },
  ]);
});

test("a letter typed just as a question appears is no answer to it", () => {
  expect(readKey(after(said, asked), { name: "a", sequence: "a" })).toEqual({ kind: "edit" });
  expect(readKey(after(said, typed, asked, ready), { name: "a" })).toEqual({ kind: "edit" });
});

test("Ctrl-C stops a turn that waits for an answer", () => {
  expect(readKey(after(said, asked, ready), interrupt)).toEqual({ kind: "stop" });
});

test("in pasted text every key is text", () => {
  const pasting = after({ type: "key", key: { name: "paste-start" } });
  expect(readKey(pasting, { name: "return" })).toEqual({ kind: "edit" });
  expect(readKey(pasting, interrupt)).toEqual({ kind: "edit" });
});

test("Ctrl-C ends a paste whose end never comes, and the next Ctrl-C works as usual", () => {
  const begun: ChatEvent = { type: "key", key: { name: "paste-start" } };
  const pasting = after(begun, typed);
  expect(readKey(pasting, interrupt)).toEqual({ kind: "edit" });
  const ended = after(begun, typed, { type: "key", key: interrupt });
  expect(ended.editor).toMatchObject({ isPasting: false, text: "x" });
  expect(readKey(ended, interrupt)).toEqual({ kind: "clear" });
});
