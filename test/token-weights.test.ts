// Goal: weights are made from bills alone, and text that an agent hides is left out by a rule that sees no bill.
// Method: small sessions written by hand, billed by known weights.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { differencesIn, type Difference } from "../bench/tokens/differences.ts";
import { fitWeights } from "../bench/tokens/fit-weights.ts";
import { createReminderRule } from "../bench/tokens/hidden-reminders.ts";
import type { Block, Message } from "../src/core/message/message.ts";
import { cheapCounter } from "../src/core/tokens/cheap-counter.ts";
import { noRawCount, type RawCount } from "../src/core/tokens/raw-count.ts";

const root = mkdtempSync(join(tmpdir(), "strata-weights-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

test("a fit finds the weights that bills were made with, and a rare feature keeps its prior", () => {
  const weights = { textTokens: 0.6, smallLetters: 0.1, markRuns: 0.7, toolUses: 50 };
  const differences = Array.from({ length: 200 }, (_, index) => {
    const textTokens = 200 + ((index * 37) % 900);
    const rest = {
      ...noRawCount,
      textTokens,
      smallLetters: textTokens * (2 + (index % 5) / 2),
      markRuns: textTokens * (0.1 + (index % 7) / 10),
      toolUses: 1 + (index % 3),
    };
    // Every tenth bill has 300 tokens that no feature explains.
    return billOf(rest, weights, index % 10 === 0 ? 300 : 0);
  });
  const fitted = fitWeights(differences, [], {});
  expect(fitted.textTokens).toBeCloseTo(0.6, 1);
  expect(fitted.smallLetters).toBeCloseTo(0.1, 1);
  expect(fitted.markRuns).toBeCloseTo(0.7, 1);
  expect(Math.abs((fitted.toolUses ?? 0) - 50)).toBeLessThan(5);
  // 0.6 o200k tokens each, of which 1.11 - 0.6 counts.
  expect(fitted.ideographs).toBeCloseTo(0.6 * (1.11 - (fitted.textTokens ?? 0)), 2);
});

test("an agent's reminder is expected after ten blocks without a task tool, and after ten more", () => {
  const isReminded = createReminderRule("claude-code");
  const turns = Array.from({ length: 12 }, (_, index) => {
    const messages = [reply(text, use("Bash")), results];
    return isReminded(index * 2, messages);
  });
  expect(turns.flatMap((reminded, index) => (reminded ? [index + 1] : []))).toEqual([5, 10]);
  const other = createReminderRule("pi");
  expect(other(0, [reply(...Array.from({ length: 20 }, () => text))])).toBe(false);
});

test("a task tool, thinking and a shorter history put the reminder off", () => {
  const isReminded = createReminderRule("claude-code");
  const nine = Array.from({ length: 9 }, () => text);
  expect(isReminded(0, [reply(...nine, { type: "thinking", text: "hm" })])).toBe(false);
  expect(isReminded(1, [reply(use("TaskUpdate"))])).toBe(false);
  expect(isReminded(2, [reply(...nine)])).toBe(false);
  expect(isReminded(2, [reply(...nine)])).toBe(false);
  expect(isReminded(3, [reply(text)])).toBe(true);
});

test("a request after a user turn is left out where the model forgets its thinking", async () => {
  expect(await skippedOn("claude-sonnet-4-5-20250929")).toEqual([
    "no usage before",
    "earlier thinking dropped by the provider",
  ]);
  expect(await skippedOn("claude-opus-4-6")).toEqual(["no usage before"]);
});

const text: Block = { type: "text", text: "done" };
const results: Message = { role: "user", content: [] };

function use(name: string): Block {
  return { type: "tool_use", id: "t", name, inputJson: "{}" };
}

function reply(...content: Block[]): Message {
  return { role: "assistant", content };
}

function billOf(rest: RawCount, weights: Partial<RawCount>, hiddenTokens: number): Difference {
  const shown = (Object.keys(weights) as (keyof RawCount)[]).reduce(
    (sum, feature) => sum + (weights[feature] ?? 0) * rest[feature],
    0,
  );
  const billedTokens = Math.round(shown + hiddenTokens);
  return {
    model: "claude-opus-4-6",
    family: "claude",
    tokenizer: "claude-old",
    billedTokens,
    promptTokens: billedTokens,
    knownTokens: 0,
    rest,
    whole: rest,
    isHidden: false,
  };
}

async function skippedOn(model: string): Promise<string[]> {
  const request = (keep: number, append: object[], tokens: number) =>
    JSON.stringify({ kind: "request", model, keep, append, usage: { input_tokens: tokens } });
  const ask = { role: "user", content: "Which file is it?" };
  const answer = {
    role: "assistant",
    content: [
      { type: "thinking", thinking: "Let me see.", sig_chars: 400 },
      { type: "text", text: "The first." },
    ],
  };
  const file = join(root, `${model}.jsonl`);
  const lines = ['{"kind":"session","agent":"pi"}', request(0, [ask], 100)];
  writeFileSync(file, [...lines, request(1, [answer, ask], 400)].join("\n"));
  const skipped: string[] = [];
  for await (const outcome of differencesIn(file, cheapCounter)) {
    if (typeof outcome === "string") skipped.push(outcome);
  }
  return skipped;
}
