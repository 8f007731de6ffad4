import { describe, expect, test } from "vitest";
import {
  predictSimple,
  leadingAccount,
  noAccounts,
  payAlone,
  settleAccounts,
  type Accounts,
} from "./accounts.ts";
import { createRuler } from "./cache-state.ts";
import { blocksOf, gpt, nowMs, sonnet, usageOf } from "./test-kit.ts";

const minute = 60_000;

interface Call {
  readonly shorts: readonly string[];
  readonly atMs?: number;
}

function questionOf({ shorts, atMs = 0 }: Call) {
  const blocks = blocksOf(...shorts);
  const ruler = createRuler(blocks, null);
  const tail = blocks.findLastIndex(({ tier }) => tier !== "T5");
  return { blocks, rules: sonnet.cache, ruler, tail, nowMs: nowMs + atMs };
}

/** The accounts after calls that each paid for their prompt in full. */
function after(...calls: readonly Call[]): Accounts {
  return calls.reduce((accounts, call) => {
    const question = questionOf(call);
    const usage = usageOf(question.ruler(question.blocks.length - 1), 0);
    return settleAccounts(accounts, question, usage);
  }, noAccounts);
}

const first = ["static 3000", "user 1000"];
const second = [...first, "said 600", "user 400"];

describe("what simple policies would have paid", () => {
  test("a first call is written whole, or plain", () => {
    expect(after({ shorts: first }).paid).toEqual({
      ours: 4000,
      "short tail": 5000,
      "long tail": 8000,
      plain: 4000,
    });
  });

  test("a prompt below the provider's minimum is plain under every policy, and leaves nothing to read", () => {
    const short = ["static 600", "user 300"];
    const { paid, tails } = after({ shorts: short });
    expect({ paid, tails }).toEqual({
      paid: { ours: 900, "short tail": 900, "long tail": 900, plain: 900 },
      tails: [],
    });
    const longer = after({ shorts: short }, { shorts: [...short, "said 1000"] }).paid;
    expect(longer["short tail"]).toBeCloseTo(900 + 1.25 * 1900, 6);
    expect(longer["long tail"]).toBeCloseTo(900 + 2 * 1900, 6);
  });

  test("a refresh of the cache is paid by ours alone", () => {
    const before = after({ shorts: first });
    const refreshed = payAlone(before, usageOf(0, 4000), sonnet.cache);
    expect(refreshed).toEqual({ ...before, paid: { ...before.paid, ours: 4000 + 400 } });
  });

  test("text that is sent once is plain under every policy", () => {
    expect(after({ shorts: [...first, "volatile 50"] }).paid).toEqual({
      ours: 4050,
      "short tail": 5050,
      "long tail": 8050,
      plain: 4050,
    });
  });

  test("both tails read what the last call ended with if the next one comes soon", () => {
    const { paid } = after({ shorts: first }, { shorts: second, atMs: 5 * minute });
    expect(paid["short tail"]).toBeCloseTo(5000 + 400 + 1250, 6);
    expect(paid["long tail"]).toBeCloseTo(8000 + 400 + 2000, 6);
  });

  test("after a pause only the long one does", () => {
    const { paid } = after({ shorts: first }, { shorts: second, atMs: 5 * minute + 1 });
    expect(paid["short tail"]).toBeCloseTo(5000 + 1.25 * 5000, 6);
    expect(paid["long tail"]).toBeCloseTo(8000 + 400 + 2000, 6);
  });

  test("a read keeps a tail alive", () => {
    const calls = [0, 50, 100].map((at) => ({ shorts: first, atMs: at * minute }));
    expect(after(...calls).paid["long tail"]).toBeCloseTo(8000 + 400 + 400, 6);
    const late = [0, 50, 111].map((at) => ({ shorts: first, atMs: at * minute }));
    expect(after(...late).paid["long tail"]).toBeCloseTo(8000 + 400 + 8000, 6);
  });

  test("history that came back changed reads an earlier call's end", () => {
    const changed = blocksOf(...second).map((block, index) =>
      index < 2 ? block : { ...block, key: `other ${index}` },
    );
    const accounts = after({ shorts: first }, { shorts: second, atMs: minute });
    const question = { ...questionOf({ shorts: second, atMs: 2 * minute }), blocks: changed };
    const settled = settleAccounts(accounts, question, usageOf(5000, 0));
    const before = accounts.paid["long tail"];
    expect(settled.paid["long tail"] - before).toBeCloseTo(400 + 2000, 6);
  });

  test("only the ends of the last eight calls are kept", () => {
    const calls = Array.from({ length: 20 }, (_, index) => ({
      shorts: ["static 3000", `said 10 x${index + 1}`],
      atMs: index * minute,
    }));
    expect(after(...calls).tails.map(({ block }) => block)).toEqual([
      13, 14, 15, 16, 17, 18, 19, 20,
    ]);
  });

  test("nothing is weighed where a provider has one lifetime", () => {
    const question = { ...questionOf({ shorts: first }), rules: gpt.cache };
    expect(settleAccounts(noAccounts, question, usageOf(4000, 0))).toBe(noAccounts);
    expect(leadingAccount(noAccounts, gpt.cache)).toBeNull();
  });
});

test("the best simple policy after this call and a pause is the one with the lower price", () => {
  const cold = questionOf({ shorts: first });
  // No marker: 4000 twice. One for an hour: 8000 and 400. One for five minutes: 5000 twice.
  expect(predictSimple(noAccounts, cold)).toEqual({
    now: { name: "plain", paid: 4000 },
    afterPause: { name: "plain", paid: 8000 },
  });
  const accounts = after({ shorts: first });
  const again = questionOf({ shorts: first, atMs: 10 * minute });
  // For an hour: 8000 so far, 400 now, 400 after the pause.
  expect(predictSimple(accounts, again)).toEqual({
    now: { name: "plain", paid: 8000 },
    afterPause: { name: "long tail", paid: 8800 },
  });
});

describe("the leading account", () => {
  test("is named with what lies between it and ours", () => {
    const question = questionOf({ shorts: first });
    const short = settleAccounts(noAccounts, question, usageOf(0, 0, { "5m": 4000 }));
    const quick = settleAccounts(
      short,
      questionOf({ shorts: second, atMs: minute }),
      usageOf(0, 4000, { "5m": 600, "1h": 400 }),
    );
    expect(leadingAccount(quick, sonnet.cache)).toEqual({
      leader: "short tail",
      leadTokens: -300,
      reason: "so far one marker at the end for 5m would have been 300 input tokens cheaper",
    });
  });

  test("is ours as long as no simple one is lower", () => {
    const question = questionOf({ shorts: second });
    const read = settleAccounts(noAccounts, question, usageOf(0, 5000));
    expect(leadingAccount(read, sonnet.cache)).toEqual({
      leader: "ours",
      leadTokens: 4500,
      reason: "so far 4500 input tokens cheaper than no caching",
    });
  });

  test("is not known before the first call", () => {
    expect(leadingAccount(noAccounts, sonnet.cache)).toBeNull();
  });
});
