// Calls of other programs that the gateway saw: recorded in batches, once each, without content, and counted like our own.
import { expect, test } from "vitest";
import type { AnalysisName } from "../../../src/analytics/analysis-names.ts";
import { analyses } from "../../../src/analytics/analyses.ts";
import { askLedger } from "../../../src/analytics/ask-ledger.ts";
import type { GatewayCall } from "../../../src/core/ledger/gateway-call.ts";
import { builtInCatalogue } from "../../../src/core/models/catalogue.ts";
import { dumpLedger } from "../../../src/edge/stores/dump-ledger.ts";
import { createLedger } from "../../../src/edge/stores/ledger/create-ledger.ts";
import { restoreLedger } from "../../../src/edge/stores/restore-ledger.ts";
import { migrations } from "../../../src/edge/stores/sql/migrations.ts";
import type { TestStore } from "../stores.ts";
import {
  all,
  each,
  lines,
  loneCall,
  newTurn,
  openSession,
  openWith,
  refusal,
  startMs,
} from "../test-kit.ts";
import { plantedKey } from "../../../harness/planted-key.ts";
import { block, gatewayCall, missed, said } from "../gateway-kit.ts";

function sections(names: string): GatewayCall["addedBlocks"] {
  return names.split(" ").map((name) => block(name));
}

export function gatewayCallsContract({ open, blank, connect }: TestStore): void {
  test("a batch is stored as it was given, with its conversations", async () => {
    const { ledger } = await open();
    const first = gatewayCall("a", 1, { addedBlocks: [block("system"), block("user message 1")] });
    const second = gatewayCall("a", 2, {
      keptBlocks: 2,
      addedBlocks: [block("assistant message 2")],
      gatewayKey: "ci",
      user: "ana",
      team: "shop",
      costPicoUsd: 9_007_199_254_740_993n,
      arm: "strata",
      clientCostPicoUsd: 9_007_199_254_740_997n,
      plainCostPicoUsd: 9_007_199_254_740_999n,
      otherPolicies: [{ policy: "tail-1h", costPicoUsd: 9_007_199_254_740_995n }],
      tiers: [["T1", 40]],
      repairs: ["sort_tools", "volatile_to_tail"],
      purpose: "keep_warm",
      diagnosis: { says: "tools_changed", agreement: "agrees" },
    });
    const worker = gatewayCall("a/worker", 1, {}, { kind: "sub-agent", parentId: "a" });
    expect(await ledger.recordCalls([first, second, worker])).toEqual({
      recordedCount: 3,
      repeatedCount: 0,
      refused: [],
    });
    expect(await ledger.readGatewayCalls("a")).toEqual([first, second]);
    expect(await ledger.readGatewayCalls("a/worker")).toEqual([worker]);
    expect(await ledger.findSession("a")).toMatchObject({
      origin: "gateway",
      agent: "claude-code",
      role: "unified",
      model: "claude-sonnet-5",
      provider: "anthropic",
      turnCount: 0,
      headTurnId: null,
      costPicoUsd: 9_007_199_254_741_993n,
      createdMs: first.startMs,
      updatedMs: second.endMs,
    });
    expect(await ledger.findSession("a/worker")).toMatchObject({
      role: "worker",
      parent: { sessionId: "a" },
    });
  });

  test("a call that comes again is stored once, also within one batch and with new ones beside it", async () => {
    const { ledger } = await open();
    const [one, two] = [gatewayCall("a", 1), gatewayCall("a", 2)];
    expect(await ledger.recordCalls([one, one])).toMatchObject({
      recordedCount: 1,
      repeatedCount: 1,
    });
    expect(await ledger.recordCalls([one, two])).toMatchObject({
      recordedCount: 1,
      repeatedCount: 1,
    });
    expect(await ledger.recordCalls([one, two])).toMatchObject({ recordedCount: 0 });
    expect(await ledger.readGatewayCalls("a")).toEqual([one, two]);
    expect(await ledger.findSession("a")).toMatchObject({ costPicoUsd: 2000n });
    expect((await said(ledger, "a")).map(({ type }) => type)).toEqual([
      "gateway.call",
      "gateway.call",
    ]);
    expect(await ledger.recordCalls([])).toMatchObject({ recordedCount: 0 });
  });

  test("a call that cannot be stored keeps no other out, and the reason is told", async () => {
    const { ledger } = await open();
    await openSession(ledger, "ours");
    await ledger.recordCalls([gatewayCall("a", 1)]);
    const { recordedCount, refused } = await ledger.recordCalls([
      gatewayCall("a", 1, { endMs: startMs + 99_000 }),
      gatewayCall("ours", 1),
      gatewayCall("a", 2, { requestBytes: Number.NaN }),
      gatewayCall("a", 3, { id: "line\nbreak" }),
      gatewayCall("a", 4, { costPicoUsd: 2n ** 63n }),
      gatewayCall("a", 5),
    ]);
    expect(recordedCount).toBe(1);
    expect(refused).toEqual([
      { id: "a-2", reason: "its requestBytes is NaN" },
      { id: "line\nbreak", reason: '"line\\nbreak" cannot name a call' },
      { id: "a-4", reason: "call a-4 cannot have cost 9223372036854775808 pico-dollars" },
      { id: "a-1", reason: "conversation a already has a different call of this name" },
      { id: "ours-1", reason: "session ours is one of our own" },
    ]);
    expect((await ledger.readGatewayCalls("a")).map(({ id }) => id)).toEqual(["a-1", "a-5"]);
  });

  test("counts of a provider that cannot be true are no usage, and the call says so", async () => {
    const { ledger } = await open();
    const { usage } = gatewayCall("a", 1);
    const absurd = { ...usage, cacheReadTokens: 2_000_000_000 };
    await ledger.recordCalls([
      gatewayCall("a", 1, { usage: absurd as NonNullable<GatewayCall["usage"]> }),
    ]);
    expect(await ledger.readGatewayCalls("a")).toMatchObject([
      {
        usage: null,
        costPicoUsd: null,
        notes: ["the reported usage cannot be true: 10, 2000000000, 20, 0, 7"],
      },
    ]);
  });

  test("the prompt of any call is put together from what each call brought", async () => {
    const { ledger } = await open();
    await ledger.recordCalls([
      gatewayCall("a", 1, { addedBlocks: sections("tools system u1") }),
      gatewayCall("a", 2, { keptBlocks: 3, addedBlocks: sections("a1 u2") }),
      gatewayCall("a", 3, { keptBlocks: 2, addedBlocks: sections("summary") }),
      gatewayCall("a", 4, { keptBlocks: 3, addedBlocks: sections("u3") }),
      gatewayCall("a", 6, { keptBlocks: 2, addedBlocks: sections("u4") }),
    ]);
    const sent = async (id: string): Promise<unknown> => {
      const { blocks, unknownCount } = await ledger.readPrompt("a", id);
      return [unknownCount, blocks.map(({ section }) => section).join(" ")];
    };
    expect(await sent("a-1")).toEqual([0, "tools system u1"]);
    expect(await sent("a-2")).toEqual([0, "tools system u1 a1 u2"]);
    expect(await sent("a-3")).toEqual([0, "tools system summary"]);
    expect(await sent("a-4")).toEqual([0, "tools system summary u3"]);
    // Call 5 was lost, and with it what the first two blocks of call 6 are.
    expect(await sent("a-6")).toEqual([2, "u4"]);
    expect(await refusal(ledger.readPrompt("a", "a-5"))).toMatchObject({
      message: "there is no call a-5 in conversation a of a gateway",
    });
  });

  test("no text of a prompt is stored, nor a credential in a failure or a note", async () => {
    const { ledger, database } = await open();
    await ledger.recordCalls([
      gatewayCall("a", 1, {
        explanation: missed({ before: "secret plan of monday", after: "secret plan of tuesday" }),
        failure: { kind: "authentication", detail: `invalid key ${plantedKey}` },
        notes: [`header x was ${plantedKey}`],
      }),
    ]);
    const rows = [];
    for (const table of ["calls", "sessions", "conversation_blocks", "events"]) {
      rows.push(...(await database.query(`SELECT * FROM ${table}`)));
    }
    const stored = JSON.stringify(rows, (_name, value: unknown) =>
      typeof value === "bigint" ? String(value) : value,
    );
    expect(stored).not.toContain("secret plan");
    expect(stored).not.toContain(plantedKey);
    expect(stored).toContain("user message 3");
  });

  test("a conversation is not listed among our sessions, and is never run, forked or compacted", async () => {
    const { ledger } = await open();
    await openSession(ledger, "ours");
    await ledger.recordCalls([gatewayCall("a", 1)]);
    const ids = async (origin?: "gateway" | "all"): Promise<unknown> =>
      (await ledger.listSessions(origin && { origin })).map(({ id }) => id);
    expect(await ids()).toEqual(["ours"]);
    expect(await ids("gateway")).toEqual(["a"]);
    expect(await ids("all")).toEqual(["a", "ours"]);
    const refused = {
      code: "conflict",
      message:
        "session a is a conversation of claude-code that the gateway saw; its messages are not stored",
    };
    expect(await refusal(ledger.openTurn(newTurn("a", "t1", null)))).toMatchObject(refused);
    expect(await refusal(ledger.forkSession({ id: "f", from: { sessionId: "a" } }))).toMatchObject(
      refused,
    );
    expect(await refusal(ledger.lockCompaction("a"))).toMatchObject(refused);
    expect(await ledger.readLoneCalls("a")).toEqual([]);
  });

  test("spending caps of engines count what engines spend", async () => {
    const { ledger } = await open();
    await openWith(ledger, "ours", "t1");
    await ledger.recordCalls([gatewayCall("a", 1, {}, { client: "coder" })]);
    expect(await ledger.sumSpending({ agent: "coder" })).toBe(1000n);
    expect(await ledger.sumSpending({ sinceMs: 0 })).toBe(1000n);
    expect(await ledger.sumSpending({ sessionId: "a" })).toBe(1000n);
  });

  test("a burst of new conversations is stored whole, though all are opened in one millisecond", async () => {
    const { ledger } = await open();
    const calls = Array.from({ length: 500 }, (_, at) => gatewayCall(`burst-${at}`, 1));
    expect(await ledger.recordCalls(calls)).toEqual({
      recordedCount: 500,
      repeatedCount: 0,
      refused: [],
    });
  });

  test("a batch of many conversations is one transaction", async () => {
    const { ledger, reopen } = await open();
    const calls = Array.from({ length: 500 }, (_, at) =>
      gatewayCall(`c${at % 200}`, 1 + Math.floor(at / 200), { addedBlocks: [block(`u${at}`)] }),
    );
    const other = await reopen();
    const halves = await Promise.all([
      ledger.recordCalls(calls.slice(0, 300)),
      other.recordCalls(calls.slice(200)),
    ]);
    expect(halves.map(({ recordedCount, repeatedCount }) => recordedCount + repeatedCount)).toEqual(
      [300, 300],
    );
    expect(halves[0].recordedCount + halves[1].recordedCount).toBe(500);
    const found = await ledger.listSessions({ origin: "gateway", limit: 1000 });
    expect(found).toHaveLength(200);
    expect(found.reduce((sum, { costPicoUsd }) => sum + costPicoUsd, 0n)).toBe(500_000n);
  });

  test("it moves to another ledger, by export and by backup, and is deleted with its blocks and sub-agents", async () => {
    const { ledger, database } = await open();
    const call = gatewayCall("a", 1, { addedBlocks: [block("u1")], explanation: missed({}) });
    await ledger.recordCalls([call, gatewayCall("w", 1, {}, { parentId: "a", kind: "sub-agent" })]);
    const written = await lines(ledger, "a");
    const other = await createLedger(await connect(await blank()));
    await other.importSession(each(written), { isTrusted: true });
    expect(await lines(other, "a")).toEqual(written);
    expect(await other.readGatewayCalls("a")).toEqual(await ledger.readGatewayCalls("a"));
    expect(await all(other.check())).toEqual([]);
    await other.deleteSession("a");
    await other.importSession(each(written), { as: "copy" });
    expect((await other.readPrompt("copy", "a-1")).blocks).toEqual([block("u1")]);
    await other.close();

    const dump = await database.snapshot((snapshot) => all(dumpLedger(snapshot)));
    const target = await connect(await blank());
    const restored = await createLedger(target);
    await restoreLedger(target, migrations.length, each(dump));
    expect(await restored.readGatewayCalls("a")).toEqual(await ledger.readGatewayCalls("a"));
    expect(await all(restored.check())).toEqual([]);
    await restored.close();

    expect((await ledger.deleteSession("a")).sessions).toEqual(["a", "w"]);
    const left = ["sessions", "branches", "calls", "conversation_blocks"].map(async (table) => {
      const [row] = await database.query(`SELECT COUNT(*) AS rows FROM ${table}`);
      return row?.["rows"];
    });
    expect(await Promise.all(left)).toEqual([0, 0, 0, 0]);
    // The program goes on: its next call is a conversation again, of which the beginning is unknown.
    await ledger.recordCalls([gatewayCall("a", 2, { keptBlocks: 1, addedBlocks: [block("u2")] })]);
    expect(await ledger.readPrompt("a", "a-2")).toEqual({
      unknownCount: 1,
      blocks: [block("u2")],
    });
  });

  test("a check finds what does not fit, and a repair keeps what it does not mend", async () => {
    const { ledger, database, expectDamage } = await open();
    await openWith(ledger, "ours", "t1");
    const call = gatewayCall("a", 1, { addedBlocks: [block("u1")] });
    await ledger.recordCalls([call]);
    await database.query("UPDATE calls SET read_tokens = 2000000000 WHERE id = 'a-1'");
    expect(await all(ledger.check())).toEqual([
      "call a-1 of session a has counts that cannot be true",
    ]);
    expect(await all(ledger.repair())).toHaveLength(2);
    expect(await ledger.readGatewayCalls("a")).toMatchObject([
      { usage: null, protocol: "anthropic-messages", plainCostPicoUsd: 5000n },
    ]);
    expect(await all(ledger.check())).toEqual([]);
    expectDamage();
    await database.query("UPDATE sessions SET origin = 'engine' WHERE id = 'a'");
    expect(await all(ledger.check())).toEqual([
      "call a-1 of session a is of kind gateway, but the session is of the engine",
    ]);
    await database.query("UPDATE sessions SET origin = 'gateway' WHERE id = 'a'");
    await database.query("UPDATE conversation_blocks SET call_id = 'gone'");
    expect(await all(ledger.check())).toEqual([
      "blocks of conversation a belong to call gone, which does not exist",
    ]);
  });

  test("analyses count its calls like those of turns, in money and in tokens", async () => {
    const { ledger, database } = await open();
    await openWith(ledger, "ours", "t1");
    await ledger.recordCall(loneCall("ours", "w1"));
    await ledger.recordCalls([
      gatewayCall("a", 1, { costPicoUsd: 2_000_000_000n, gatewayKey: "ci", user: "ana" }),
      gatewayCall("a", 2, {
        costPicoUsd: 1_000_000_000n,
        gatewayKey: "ci",
        user: "ben",
        explanation: missed({}),
        tiers: [["T1", 117]],
      }),
      gatewayCall("b", 1, {
        status: "failed",
        usage: null,
        costPicoUsd: null,
        failure: { kind: "overloaded", detail: "busy", retryAfterMs: undefined },
      }),
    ]);
    const world = { nowMs: startMs + 100_000, catalogue: builtInCatalogue };
    const ask = async (name: AnalysisName, groupBy?: string): Promise<readonly object[]> =>
      (await askLedger(database, analyses[name], groupBy === undefined ? {} : { groupBy }, world))
        .data;
    expect(await ask("cost", "gateway_key")).toMatchObject([
      { gateway_key: "ci", call_count: 2, cost_usd: "0.003000", cached_input_tokens: 200 },
      { gateway_key: null, call_count: 2, cost_usd: "0.000000", warm_call_count: 1 },
    ]);
    expect(await ask("cost", "user")).toMatchObject([
      { user: "ana", cost_usd: "0.002000" },
      { user: "ben", cost_usd: "0.001000" },
      { user: null },
    ]);
    expect(await ask("cost", "team")).toMatchObject([{ team: null, call_count: 4 }]);
    expect(await ask("sessions")).toMatchObject([
      { session: "a", agent: "claude-code", turn_count: 0, call_count: 2, cost_usd: "0.003000" },
      { session: "ours", turn_count: 1, call_count: 1 },
      { session: "b", call_count: 1, cost_usd: "0.000000" },
    ]);
    expect(await ask("cache_effectiveness", "agent")).toMatchObject([
      { agent: "claude-code", call_count: 3, cached_input_tokens: 200 },
      { agent: "coder", call_count: 1 },
    ]);
    expect(await ask("cache_effectiveness", "tier")).toMatchObject([
      { tier: "T1", call_count: 1, cached_input_tokens: 100 },
    ]);
    expect(await ask("reliability", "none")).toMatchObject([
      { failed_call_count: 1, failures: { overloaded: 1 } },
    ]);
    expect(await ask("savings", "user")).toMatchObject([
      { user: null },
      { user: "ben", no_cache: { compared_call_count: 1, actual_cost_usd: "0.001000" } },
      { user: "ana", no_cache: { compared_call_count: 1, actual_cost_usd: "0.002000" } },
    ]);
    expect(await ask("misses", "model")).toMatchObject([
      {
        model: "claude-sonnet-5",
        miss_count: 1,
        lost_tokens: 900,
        lost_cost_usd: "0.002430",
        causes: { "history rewritten": 1 },
        costliest_session: "a",
        costliest_block: "user message 3 (T3, block 8)",
        costliest_byte: 12,
      },
    ]);
  });
}
