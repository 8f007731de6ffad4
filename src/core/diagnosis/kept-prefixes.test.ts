// Where every prefix is kept, a conversation that goes on costs the same at any length, and the verdicts are those of all prefixes.
import { expect, test } from "vitest";
import { keepsEveryPrefix } from "../cache/expect-bill.ts";
import { noUsage } from "../message/usage.ts";
import { resolveModel } from "../models/resolve-model.ts";
import { viewPrompt, type PromptView } from "./prompt-view.ts";
import { simulateRead, type SimulatedRead } from "./read-ladder.ts";
import { rememberView, scaledRuler, type RememberedCall } from "./remember-call.ts";
import { messagesBody, startMs, textOf } from "./test-kit.ts";

const rules = resolveModel("gpt-5.5").facts;

/** Messages of so many tokens each. */
function viewOf(sizes: readonly number[]): PromptView {
  const request = messagesBody((body) => {
    body.messages = sizes.map((tokens, index) => ({
      role: index % 2 === 0 ? "user" : "assistant",
      content: textOf(tokens, `line ${index}`),
    }));
  });
  return viewPrompt(request, rules);
}

function remember(view: PromptView): RememberedCall {
  const usage = { ...noUsage, uncachedTokens: view.blocks.at(-1)?.endTokens ?? 0 };
  return rememberView({ view, rules, usage, entries: [], startMs, readableMs: startMs });
}

function readAfter(before: RememberedCall, view: PromptView, atMs: number): SimulatedRead {
  return simulateRead({ view, rules, startMs: atMs, ruler: scaledRuler(view, null) }, before);
}

test("a long prompt is remembered and found again without looking at each of its blocks", () => {
  expect(keepsEveryPrefix(rules.cache)).toBe(true);
  const sizes = Array.from({ length: 4000 }, () => 30);
  const view = viewOf(sizes);
  let looks = 0;
  const blocks = new Proxy(view.blocks, {
    get: (of, name) => {
      if (typeof name === "string" && /^\d+$/.test(name)) looks += 1;
      return Reflect.get(of, name) as unknown;
    },
  });
  const before = remember({ ...view, blocks });
  const next = viewOf([...sizes, 30, 30]);
  expect(readAfter(before, next, startMs + 1000).block).toBe(before.longest?.block);
  // Only those of the last step.
  expect(looks).toBeLessThan(200);
  expect(before.entries).toHaveLength(view.blocks.length);
});

test("the longest prefix is found as among all of them", () => {
  const sizes = Array.from({ length: 24 }, (_, index) => [5, 40, 700][index % 3] ?? 0);
  for (let from = 1; from <= sizes.length; from += 1) {
    const { longest, ...all } = remember(viewOf(sizes.slice(0, from)));
    const known = { ...all, ...(longest && { longest }) };
    const most = Math.max(...all.entries.map(({ tokens }) => tokens));
    expect(longest).toEqual(all.entries.find(({ tokens }) => tokens === most));
    for (const changedAt of [0, from - 1, from, sizes.length]) {
      const next = viewOf(sizes.map((size, index) => (index === changedAt ? size + 50 : size)));
      for (const atMs of [startMs - 1, startMs + 1000, startMs + 1e9]) {
        expect(readAfter(known, next, atMs)).toEqual(readAfter(all, next, atMs));
      }
    }
  }
});
