// Goal: what GPT-5.6 and later cache automatically. Method: requests through the surface, usage in replies.
import { describe, expect, test } from "vitest";
import {
  assistant,
  countInput,
  createKit,
  developer,
  functionCall,
  functionOutput,
  marked,
  openingTokens,
  sendResponses,
  user,
  words,
  type Body,
} from "./test-kit.ts";

describe("from GPT-5.6 on, implicit breakpoints", () => {
  test("a growing conversation reads up to the end of the last user message it shares", () => {
    const kit = createKit();
    const first = [user(words("a", 1500))];
    const one = sendResponses(kit, first);
    expect(one).toEqual({ total: one.total, read: 0, written: one.total - openingTokens });
    const two = sendResponses(kit, [...first, assistant("Fine."), user("And now?")]);
    expect(two.read).toBe(one.written);
    expect(two.written).toBe(two.total - two.read - openingTokens);
  });

  test("a prompt below 1,024 tokens is neither written nor read", () => {
    const kit = createKit();
    expect(sendResponses(kit, [user(words("a", 1000))])).toMatchObject({ read: 0, written: 0 });
    expect(sendResponses(kit, [user(words("a", 1000))])).toMatchObject({ read: 0, written: 0 });
    const exact = [user(words("a", 1020))];
    expect(countInput(kit, exact)).toBe(1024 + openingTokens);
    expect(sendResponses(kit, exact)).toMatchObject({ read: 0, written: 1024 });
    expect(sendResponses(kit, exact)).toMatchObject({ read: 1024, written: 0 });
  });

  test("what ends an assistant message is written only with the next user message", () => {
    const kit = createKit();
    const history = [user(words("a", 1500)), assistant(words("b", 500))];
    const one = sendResponses(kit, history);
    expect(one).toEqual({ total: 2011, read: 0, written: 1504 });
  });

  test("the last of several tool outputs is a boundary, those before it are not", () => {
    const kit = createKit();
    const asked = [user(words("a", 1500)), functionCall("call_1"), functionCall("call_2")];
    const outputs = [
      functionOutput("call_1", words("b", 300)),
      functionOutput("call_2", words("c", 300)),
    ];
    const one = sendResponses(kit, [...asked, ...outputs]);
    expect(one.written).toBe(one.total - openingTokens);
    const two = sendResponses(kit, [...asked, outputs[0], functionOutput("call_2", "other")]);
    expect(two.read).toBe(0);
    const three = sendResponses(kit, [...asked, ...outputs, assistant("Done."), user("Thanks.")]);
    expect(three.read).toBe(one.written);
  });

  test("the end of the initial developer messages is found, later ones are no boundaries", () => {
    const kit = createKit();
    const rules = developer(words("rules", 1500));
    const warm = sendResponses(kit, [rules]);
    expect(warm.written).toBe(warm.total - openingTokens);
    expect(sendResponses(kit, [rules, user("One?")]).read).toBe(warm.written);

    const other = createKit();
    const question = user(words("a", 1500));
    const one = sendResponses(other, [question]);
    const two = sendResponses(other, [question, assistant("Fine."), developer(words("late", 200))]);
    expect(two.read).toBe(one.written);
    expect(two.written).toBe(0);
  });

  test("tools that come between the initial developer messages do not end their group", () => {
    const kit = createKit();
    const tools = { type: "additional_tools", role: "developer", tools: [] };
    const initial = [developer(words("rules", 1500)), tools, developer(words("more", 300))];
    const warm = sendResponses(kit, initial);
    expect(warm.written).toBe(warm.total - openingTokens);
    expect(sendResponses(kit, [...initial, user("One?")]).read).toBe(warm.written);
    expect(sendResponses(kit, [...initial, tools, user("Two?")]).read).toBe(warm.written);
  });

  test("a shared prefix with a varying suffix reads nothing without an explicit breakpoint", () => {
    const kit = createKit();
    const shared = words("shared", 3000);
    sendResponses(kit, [user(`${shared} first`)]);
    expect(sendResponses(kit, [user(`${shared} second`)]).read).toBe(0);
    sendResponses(kit, [developer(shared), user("first")]);
    expect(sendResponses(kit, [developer(shared), user("second")]).read).toBe(0);

    const withMarker = createKit();
    const one = sendResponses(withMarker, [marked("developer", shared), user("first")]);
    expect(one.written).toBe(one.total - openingTokens);
    const two = sendResponses(withMarker, [marked("developer", shared), user("second")]);
    expect(two.read).toBe(countInput(withMarker, [developer(shared)]) - openingTokens);
  });

  test("extending the text of a message makes its old end unmatchable", () => {
    const kit = createKit();
    const text = words("a", 1500);
    sendResponses(kit, [user(text)]);
    expect(sendResponses(kit, [user(`${text} and more`)]).read).toBe(0);
  });

  test("twenty earlier message ends are looked at, the one before them is not", () => {
    const near = createKit();
    const first = sendResponses(near, turnsOf(1));
    expect(sendResponses(near, [...turnsOf(20), user("last")]).read).toBe(first.written);
    const far = createKit();
    sendResponses(far, turnsOf(1));
    expect(sendResponses(far, [...turnsOf(21), user("last")]).read).toBe(0);
  });
});

function turnsOf(count: number): Body[] {
  return Array.from({ length: count }, (_, index) => [
    user(index === 0 ? words("a", 1500) : `question ${index}`),
    assistant(`answer ${index}`),
  ]).flat();
}
