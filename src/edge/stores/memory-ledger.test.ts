import { expect, test } from "vitest";
import type { CallEntry } from "../../core/ledger/ledger.ts";
import { createMemoryLedger } from "./memory-ledger.ts";

const entry: CallEntry = {
  turnId: "turn-1",
  number: 1,
  startMs: 1000,
  endMs: 2000,
  model: "claude-sonnet-4-6",
  policy: "adaptive",
  promptKey: "k1",
  plan: {
    markers: [],
    requestMarker: null,
    mode: null,
    cacheKey: null,
    expected: {
      hitBlock: null,
      hit: null,
      spanEnds: {},
      refreshed: [],
      written: [],
      readTokens: 0,
      writeTokens: {},
      uncachedTokens: 10,
      costPicoUsd: null,
    },
    dropped: [],
    keepWarm: { pays: false, afterMs: null, gainTokens: 0, reason: "the provider has no way to" },
  },
  sent: [],
  reply: null,
  status: "failed",
  stopReason: null,
  usage: null,
  discarded: [],
  costPicoUsd: null,
  failure: { kind: "timeout", detail: "no answer" },
  verdict: null,
  refuted: [],
  notes: [],
};

test("calls come back in the order they were recorded", async () => {
  const ledger = createMemoryLedger();
  expect(ledger.calls()).toEqual([]);
  const second = { ...entry, number: 2 };
  const other = { ...entry, turnId: "turn-2" };
  for (const each of [entry, second, other]) await ledger.append(each);
  expect(ledger.calls()).toEqual([entry, second, other]);
});

test("the same call twice is refused, and the first record stays", async () => {
  const ledger = createMemoryLedger();
  await ledger.append(entry);
  await expect(ledger.append({ ...entry, endMs: 9000 })).rejects.toMatchObject({
    code: "input-invalid",
    message: "call 1 of turn turn-1 is recorded already",
    hint: "give every turn an id of its own",
  });
  expect(ledger.calls()).toEqual([entry]);
});

test("what was handed out does not grow with what is recorded later", async () => {
  const ledger = createMemoryLedger();
  const before = ledger.calls();
  await ledger.append(entry);
  expect(before).toEqual([]);
});
