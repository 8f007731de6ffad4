import { expect, test } from "vitest";
import type { TurnPart } from "../../../engine/turn/turn-handle.ts";
import { after, blank, noticed, token } from "./test-kit.ts";
import { update, type ChatEvent } from "./update.ts";

const said: ChatEvent = { type: "said", text: "hello" };

function part(value: TurnPart): ChatEvent {
  return { type: "part", part: value };
}

const ended = part({ type: "failed", error: new Error("gone") });

test("each line of an answer is an item, and only the last is open", () => {
  const { items } = after(said, token("\n\nOne"), token(" line\nTwo\n"), token("lines"));
  expect(items.slice(1)).toMatchObject([
    { kind: "answer", text: "One line", isOpen: false, isFirst: true },
    { kind: "answer", text: "Two", isOpen: false, isFirst: false },
    { kind: "answer", text: "lines", isOpen: true, isFirst: false },
  ]);
});

test("a line end at the end of an answer leaves no empty line", () => {
  const { items, turn } = after(said, token("Done.\n"), ended);
  expect(items.slice(1)).toMatchObject([
    { kind: "answer", text: "Done.", isOpen: false, isFirst: true },
  ]);
  expect(turn).toBeNull();
});

test("a message sent while the agent works is steering", () => {
  const { items } = after(said, { type: "said", text: "and this" });
  expect(items).toEqual([
    { kind: "person", text: "hello", isSteering: false },
    { kind: "person", text: "and this", isSteering: true },
  ]);
});

const status = { type: "tool", toolUseId: "u1", name: "read" } as const;
const use = { type: "tool_use", id: "u1", name: "read", inputJson: '{"path":"a.ts"}' } as const;

test("a tool use is one item from its request to its result", () => {
  const result = {
    type: "tool_result",
    toolUseId: "u1",
    content: [{ type: "text", text: "né" }],
    isError: false,
  } as const;
  const state = after(
    said,
    part({ ...status, status: "asked" }),
    part({ ...status, status: "running", use }),
    part({ ...status, status: "succeeded", result }),
  );
  expect(state.items.slice(1)).toEqual([
    {
      kind: "tool",
      toolUseId: "u1",
      name: "read",
      about: "a.ts",
      status: "succeeded",
      bytes: 3,
      problem: null,
    },
  ]);
});

test("an error result shows its reason on one line, without escape codes", () => {
  const content = [{ type: "text", text: "not_found:\n\u001b[31mno such file" }] as const;
  const result = { type: "tool_result", toolUseId: "u1", content, isError: true } as const;
  const { items } = after(said, part({ ...status, status: "failed", result }));
  expect(items[1]).toMatchObject({ status: "failed", problem: "not_found: no such file" });
});

test("a turn that ends leaves no open item and no question", () => {
  const question = { id: "1", toolName: "bash", preview: [], isReady: true };
  const state = after(
    said,
    token("half"),
    part({ ...status, status: "running", use }),
    { type: "asked", question },
    ended,
  );
  expect(state.questions).toEqual([]);
  expect(state.items.slice(1)).toMatchObject([
    { kind: "answer", isOpen: false },
    { kind: "preview", toolName: "bash" },
    { kind: "tool", status: "cancelled" },
  ]);
});

test("an answer that continues after a notice begins a new item", () => {
  const { items } = after(said, token("one"), noticed("mind this"), token("two"));
  expect(items.map(({ kind }) => kind)).toEqual(["person", "answer", "notice", "answer"]);
  expect(items[3]).toMatchObject({ text: "two", isFirst: true });
});

test("thinking, stopping and time belong to the running turn only", () => {
  const stopping = after(
    said,
    part({ type: "thinking", text: "hm" }),
    { type: "tick", seconds: 3 },
    { type: "stopping" },
  );
  expect(stopping.turn).toEqual({
    phase: "preparing",
    isThinking: true,
    isStopping: true,
    seconds: 3,
  });
  expect(update(blank, { type: "stopping" })).toEqual(blank);
});

test("switching the session keeps the screen and the typed line", () => {
  const state = after(noticed("before"), { type: "key", key: { name: "a", sequence: "a" } });
  const { about, totals } = blank;
  const next = update(state, { type: "opened", about: { ...about, sessionId: "s2" }, totals });
  expect(next.items).toEqual(state.items);
  expect(next.editor.text).toBe("a");
  expect(next.about.sessionId).toBe("s2");
});

test("a key clears the warning that one more Ctrl-C quits", () => {
  const warned = after({ type: "quitting", isQuitting: true });
  expect(update(warned, { type: "key", key: { name: "left" } }).isQuitting).toBe(false);
});

test("a notice names the model when it changes or a requested one cannot be used", () => {
  const stays = { type: "route", model: "b", provider: "p", by: "sticky", passedOver: [] } as const;
  expect(after(said, part({ ...stays, previousModel: null })).items).toHaveLength(1);
  const moved = after(said, part({ ...stays, by: "rule", previousModel: "a" }));
  expect(moved.items[1]).toEqual({
    kind: "notice",
    level: "info",
    text: "b answers, by a routing rule; it was a before.",
  });
  const passedOver = [{ name: "c", by: "message", reason: "no_vision_support" }] as const;
  const other = after(said, part({ ...stays, passedOver, previousModel: null }));
  expect(other.items[1]).toEqual({
    kind: "notice",
    level: "warning",
    text: "c, requested with the message, cannot take this turn: it does not read images. b answers.",
  });
});
