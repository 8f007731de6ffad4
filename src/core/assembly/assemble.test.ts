import { describe, expect, test } from "vitest";
import { itemsOf } from "../growing/growing-list.ts";
import type { Message } from "../message/message.ts";
import {
  haiku,
  say,
  sonnet,
  threadOf,
  tool,
  toolResult,
  toolUse,
  type MessagesSetting,
} from "../wire/anthropic-messages/test-kit.ts";
import { assemble, type Assembly } from "./assemble.ts";
import { resolveModel } from "../models/resolve-model.ts";
import type { Layout } from "./layout.ts";
import { appendMessages, type Thread } from "./thread.ts";

const layout: Layout = {
  systemBlocks: "by stability",
  volatile: "message-tail",
  padding: "off",
  toolOrder: "given",
};

const setting: MessagesSetting = {
  model: haiku,
  tools: [tool("Read")],
  system: ["Rules."],
  history: [say("user", "One."), say("assistant", "Two.")],
};
const thread = threadOf(setting);
const current = [say("user", "Three.")];

function place(volatile: Layout["volatile"], text: string | null, from: Thread = thread): Assembly {
  const model = haiku;
  return assemble({
    thread: from,
    current,
    volatile: text,
    layout: { ...layout, volatile },
    model,
  });
}

function tiersOf({ blocks }: Assembly): string {
  return [...itemsOf(blocks)].map(({ tier }) => tier).join(" ");
}

function keysOf({ blocks }: Assembly): readonly string[] {
  return [...itemsOf(blocks)].map(({ key }) => key);
}

function textOf({ bytes }: Pick<Thread, "bytes">): string {
  return new TextDecoder().decode(bytes.slice(0, bytes.length));
}

const threadText =
  '{"role":"user","content":[{"type":"text","text":"One."}' +
  ']},{"role":"assistant","content":[{"type":"text","text":"Two."}' +
  ']},{"role":"user","content":[{"type":"text","text":"Three."}';

describe("volatile text at the message's tail", () => {
  const assembly = place("message-tail", "It is noon.");

  test("follows the current message and is no part of the thread", () => {
    expect(tiersOf(assembly)).toBe("T0 T1 T3 T3 T4 T5");
    expect(assembly.tailBlock).toBe(4);
    expect(textOf(assembly.thread)).toBe(threadText);
    expect(textOf(assembly.volatile)).toBe(',{"type":"text","text":"It is noon."}');
  });

  test("changes no key before it", () => {
    const other = place("message-tail", "It is one.");
    const none = place("message-tail", null);
    expect(keysOf(other).slice(0, 5)).toEqual(keysOf(assembly).slice(0, 5));
    expect(keysOf(none)).toEqual(keysOf(assembly).slice(0, 5));
    expect(keysOf(other)[5]).not.toBe(keysOf(assembly)[5]);
    expect(none.tailBlock).toBe(4);
  });

  test("is counted in its own tier", () => {
    // A tool: the provider's prompt and its definition. Messages: one token per block.
    expect(assembly.usedTokens).toEqual({ T0: 496 + 73, T1: 6, T2: 0, T3: 2, T4: 1, T5: 1 });
    expect(assembly.blocks.at(5)?.endTokens).toBe(569 + 6 + 4);
  });
});

describe("volatile text at the system prompt's tail", () => {
  const noon = place("system-tail", "It is noon.");

  test("stands between the foundation and every message", () => {
    expect(tiersOf(noon)).toBe("T0 T1 T5 T3 T3 T4");
    expect(noon.tailBlock).toBe(5);
    expect(noon.blocks.at(2)).toMatchObject({ role: "system", label: "volatile", tokens: 11 });
    expect(textOf(noon.volatile)).toBe(',{"type":"text","text":"It is noon."}');
    expect(textOf(noon.thread)).toBe(threadText);
  });

  test("gives every message after it other keys when it says something else, and the same when not", () => {
    expect(keysOf(place("system-tail", "It is noon."))).toEqual(keysOf(noon));
    const later = keysOf(place("system-tail", "It is one."));
    expect(later.slice(0, 2)).toEqual(keysOf(noon).slice(0, 2));
    expect(later.filter((key) => keysOf(noon).includes(key))).toHaveLength(2);
    const without = keysOf(place("system-tail", null));
    expect(without).toEqual(keysOf(place("message-tail", null)));
    expect(without.filter((key) => keysOf(noon).includes(key))).toHaveLength(2);
  });

  test("counts before the messages", () => {
    const ends = [...itemsOf(noon.blocks)].map(({ endTokens }) => endTokens);
    expect(ends).toEqual([569, 575, 586, 587, 588, 589]);
    expect(noon.usedTokens).toEqual({ T0: 569, T1: 6, T2: 0, T3: 2, T4: 1, T5: 11 });
  });

  test("has the label of the channel among labelled blocks", () => {
    const labelled = { ...layout, volatile: "system-tail", systemBlocks: "labelled" } as const;
    const model = haiku;
    const { blocks } = assemble({ thread, current, volatile: "Now.", layout: labelled, model });
    expect(blocks.at(2)?.label).toBe("channel_meta");
  });
});

const head = (said: readonly Message[], text: string | null = "At noon."): Assembly =>
  assemble({
    thread,
    current: said,
    volatile: text,
    layout: { ...layout, volatile: "message-head" },
    model: sonnet,
  });

describe("volatile text at the message's head", () => {
  test("is said before the words of the person and stored with them", () => {
    const assembly = head(current);
    expect(tiersOf(assembly)).toBe("T0 T1 T3 T3 T4");
    expect(assembly.tailBlock).toBe(4);
    expect(assembly.volatile.blocks).toEqual([]);
    expect(assembly.thread.messages.at(2)).toEqual(say("user", "At noon.\n\nThree."));
    expect(textOf(assembly.thread)).toBe(threadText.replace("Three.", "At noon.\\n\\nThree."));
  });

  test("is a text of its own before what is not text", () => {
    const image = {
      type: "image",
      source: { kind: "base64", mediaType: "image/png", data: "AA==" },
    } as const;
    const { messages } = head([say("user", image, "What is it?")]).thread;
    expect(messages.at(2)).toEqual(say("user", "At noon.", image, "What is it?"));
  });

  test("is not repeated with the results of tools", () => {
    const results = [say("tool", toolResult("t1", "found"))];
    const asked = appendMessages(thread, [...current, say("assistant", toolUse("t1", "{}"))]);
    const assembly = assemble({
      thread: asked,
      current: results,
      volatile: "At noon.",
      layout: { ...layout, volatile: "message-head" },
      model: haiku,
    });
    expect(textOf(assembly.thread)).not.toContain("noon");
  });

  test("of nothing leaves the message as it is", () => {
    expect(head(current, null).thread.messages.at(2)).toEqual(current[0]);
  });
});

const call = (from: Thread, text: string | null, said: readonly Message[] = current): Assembly =>
  assemble({
    thread: from,
    current: said,
    volatile: text,
    layout,
    model: sonnet,
  });

describe("volatile text where thinking is bound to its prefix", () => {
  const bound = threadOf({ ...setting, model: sonnet });
  const note =
    '{"role":"system","content":[{"type":"text","text":"Noon."}],"clear_at":"next_user_message"}';

  test("becomes a message of the thread that the model is shown once", () => {
    const first = call(bound, "Noon.");
    expect(textOf(first.thread)).toBe(`${threadText}]},${note}`);
    expect(tiersOf(first)).toBe("T0 T1 T3 T3 T4 T5");
    expect(first.blocks.at(5)).toMatchObject({
      kind: "system message cleared at the next user message",
      mayCarryMarker: false,
      tokens: 1,
    });
    expect(first.volatile.bytes.length).toBe(0);
    expect(first.usedTokens).toMatchObject({ T3: 2, T4: 1, T5: 1 });
    expect(first.thread.messages.at(3)?.role).toBe("system");
  });

  test("is said again on every call, because the model is shown it once; earlier ones take no tokens", () => {
    const first = call(bound, "Noon.");
    const asked = appendMessages(first.thread, [say("assistant", toolUse("t1", "{}"))]);
    const second = call(asked, "Noon.", [say("tool", toolResult("t1", "found"))]);
    expect(tiersOf(second)).toBe("T0 T1 T3 T3 T3 T3 T3 T4 T5");
    expect(textOf(second.thread).startsWith(textOf(first.thread))).toBe(true);
    expect(textOf(second.thread).split("Noon.")).toHaveLength(3);
    expect(second.blocks.at(5)).toMatchObject({ tier: "T3", tokens: 0 });
    expect(second.usedTokens).toMatchObject({ T3: 4, T4: 1, T5: 1 });
    expect(keysOf(second).slice(0, 6)).toEqual(keysOf(first));
  });

  test("is a text that stays where the model takes no system message", () => {
    const plain = threadOf({ ...setting, model: haiku });
    const first = call(plain, "Noon.");
    expect(textOf(first.thread)).toBe(`${threadText},{"type":"text","text":"Noon."}`);
    expect(tiersOf(first)).toBe("T0 T1 T3 T3 T4 T4");
    expect(first.usedTokens).toMatchObject({ T3: 2, T4: 2, T5: 0 });
    expect(first.thread.messages.at(3)).toEqual(say("user", "Noon."));
  });

  test("that stays is sent once while it does not change", () => {
    const first = call(threadOf({ ...setting, model: haiku }), "Noon.");
    const asked = appendMessages(first.thread, [say("assistant", toolUse("t1", "{}"))]);
    const results = [say("tool", toolResult("t1", "found"))];
    const second = call(asked, "Noon.", results);
    expect(tiersOf(second)).toBe("T0 T1 T3 T3 T3 T3 T3 T4");
    expect(textOf(second.thread).split("Noon.")).toHaveLength(2);
    const third = call(asked, "One o'clock.", results);
    expect(tiersOf(third)).toBe("T0 T1 T3 T3 T3 T3 T3 T4 T4");
    expect(textOf(third.thread).startsWith(textOf(first.thread))).toBe(true);
  });

  test("stands at the end of the messages even where the layout has it before them", () => {
    const assembly = assemble({
      thread: bound,
      current,
      volatile: "Noon.",
      layout: { ...layout, volatile: "system-tail" },
      model: sonnet,
    });
    expect(textOf(assembly.thread)).toBe(`${threadText}]},${note}`);
    expect(keysOf(assembly)).toEqual(keysOf(call(bound, "Noon.")));
  });

  test("of nothing changes nothing", () => {
    expect(tiersOf(call(bound, null))).toBe("T0 T1 T3 T3 T4");
  });
});

describe("volatile text where a prefix is kept only to the end of an input", () => {
  const units = resolveModel("deepseek-flash").facts;
  const at = (volatile: Layout["volatile"]): Assembly =>
    assemble({
      thread,
      current,
      volatile: "Noon.",
      layout: { ...layout, volatile },
      model: units,
    });

  test("stays in the thread, so that the next call begins with all that this one sends", () => {
    expect(textOf(at("message-tail").thread)).toBe(`${threadText},{"type":"text","text":"Noon."}`);
    expect(tiersOf(at("message-tail"))).toBe("T0 T1 T3 T3 T4 T4");
    expect(keysOf(at("system-message"))).toEqual(keysOf(at("message-tail")));
  });

  test("stands before the messages where the layout says so: what ends a prefix comes after it", () => {
    expect(tiersOf(at("system-tail"))).toBe("T0 T1 T5 T3 T3 T4");
  });
});

test("two assemblies of one thread do not disturb each other", () => {
  const model = haiku;
  const left = assemble({ thread, current: [say("user", "Left.")], volatile: "x", layout, model });
  const right = assemble({
    thread,
    current: [say("user", "Right!")],
    volatile: "y",
    layout,
    model,
  });
  expect(textOf(left.thread)).toBe(threadText.replace("Three.", "Left."));
  expect(textOf(right.thread)).toBe(threadText.replace("Three.", "Right!"));
  expect(thread.messages.length).toBe(2);
});

test("the first call has no history", () => {
  const assembly = place("message-tail", null, threadOf({ ...setting, history: [] }));
  expect(tiersOf(assembly)).toBe("T0 T1 T4");
  expect(assembly.usedTokens).toEqual({ T0: 569, T1: 6, T2: 0, T3: 0, T4: 1, T5: 0 });
});
