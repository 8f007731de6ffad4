import { expect, test } from "vitest";
import { createRandom } from "../../harness/random-message.ts";
import { createSentPrefixes } from "./sent-prefixes.ts";

test("prompts that grow, part and come back are seen block by block as a list of all blocks sees them", () => {
  const random = createRandom(5);
  for (let number = 0; number < 40; number += 1) {
    const sent = createSentPrefixes<number>((left, right) => left === right);
    const lastOf = new Map<string, number>();
    let prompts: string[][] = [[]];
    for (let call = 0; call < 40; call += 1) {
      const before = prompts[Math.floor(random() * prompts.length)] ?? [];
      const keys = before.slice(0, Math.floor(random() * (before.length + 1)));
      const added = Math.floor(random() * 4);
      for (let block = 0; block < added; block += 1) {
        keys.push(`${keys.at(-1) ?? ""}${Math.floor(random() * 3)}`);
      }
      const seen: (number | undefined)[] = [];
      sent.visit(keys, (state, { from, to }) => {
        for (let block = from; block < to; block += 1) seen[block] = state;
        return call % 3;
      });
      expect(seen).toEqual(keys.map((key) => lastOf.get(key)));
      for (const key of keys) lastOf.set(key, call % 3);
      prompts = [...prompts, keys].slice(-6);
    }
  }
});

test("a long prompt that grows by one block is visited in two spans", () => {
  const sent = createSentPrefixes<string>((left, right) => left === right);
  const keys = Array.from({ length: 1000 }, (_, block) => `key ${block}`);
  sent.visit(keys, () => "sent");
  const spans: unknown[] = [];
  sent.visit([...keys, "key 1000"], (state, span) => {
    spans.push([state, span.from, span.to]);
    return "sent";
  });
  expect(spans).toEqual([
    ["sent", 0, 1000],
    [undefined, 1000, 1001],
  ]);
});
