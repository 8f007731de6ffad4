// When a history is compacted, and what keeps it from being compacted (CF-E: triggers, limits, breaker, lock).
import { expect, test } from "vitest";
import type { OpenLedger } from "../../ledger/stores.ts";
import { reply, writesSummaries } from "../speakers.ts";
import { messagesOf } from "../looks.ts";
import {
  compactionsSoon,
  largeTurn,
  openWorld,
  sessionId,
  type World,
  type WorldOptions,
} from "../test-kit.ts";

const minuteMs = 60_000;

export function whenContract(open: OpenLedger): void {
  test("CF-E: a history of one short turn is not folded, also when somebody asks for it", async () => {
    const world = await openWorld(open);
    await world.say("Good morning.");
    const before = world.session.thread.end;
    const run = await world.compact();
    expect(run).toMatchObject({ kind: "unchanged", why: "no boundary" });
    expect(world.session.thread.end).toEqual(before);
    expect(await world.folds()).toEqual([]);
    expect(world.payloads("compaction.skipped")).toEqual([
      { trigger: "manual", outcome: "no_boundary" },
    ]);
    expect(summaryCalls(world)).toBe(0);
  });

  test("CF-E: an empty session has nothing to fold", async () => {
    const world = await openWorld(open, { settings: compactionsSoon, auto: { ageMinutesMax: 0 } });
    const run = await world.say("The first words.");
    expect([run.end, await world.folds()]).toEqual(["done", []]);
  });

  test("CF-E: what is switched off happens only where nothing else fits the window (C-7)", async () => {
    const world = await openWorld(open, { settings: { compactAtShare: 0.3 } });
    await world.talk(10);
    expect(await world.folds()).toEqual([]);
    await world.talk(7, { from: 11, tokens: largeTurn });
    const folds = await world.folds();
    expect(folds.map(({ kind, trigger }) => ({ kind, trigger }))).toEqual([
      { kind: "summary", trigger: "context_limit" },
    ]);
    expect(reasonOf(folds[0])).toBe("context_limit");
  });

  test("CF-E: tokens above the threshold are a reason to fold", async () => {
    const world = await openWorld(open, { settings: compactionsSoon });
    await world.talk(7);
    expect(await world.folds()).toEqual([]);
    await world.talk(1, { from: 8 });
    const [compaction] = await world.folds();
    expect(reasonOf(compaction)).toBe("token_pressure");
    expect(compaction?.tokensBefore).toBeGreaterThan(8_500);
    expect(compaction?.tokensAfter).toBeLessThan(0.6 * (compaction?.tokensBefore ?? 0));
  });

  test("CF-E: age is a reason to fold, once and not with every turn from then on", async () => {
    const world = await openWorld(open, {
      settings: { isEnabled: true },
      auto: { ageMinutesMax: 60 },
    });
    await world.talk(5);
    expect(await world.folds()).toEqual([]);
    await world.pass(60 * minuteMs);
    await world.talk(1, { from: 6 });
    expect((await world.folds()).map(({ trigger }) => trigger)).toEqual(["periodic"]);
    await world.talk(6, { from: 7 });
    expect(await world.folds()).toHaveLength(1);
  });

  test("CF-E: both reasons at once are one fold", async () => {
    const world = await openWorld(open, { settings: compactionsSoon, auto: { ageMinutesMax: 60 } });
    await world.talk(7);
    await world.pass(60 * minuteMs);
    await world.talk(1, { from: 8 });
    expect((await world.folds()).map(reasonOf)).toEqual(["token_pressure"]);
  });

  test("CF-E: between two folds there are some turns, and that is told once", async () => {
    const world = await openWorld(open, {
      settings: { ...compactionsSoon, compactAtShare: 0.35 },
      auto: { turnsBetweenMin: 4 },
    });
    const at = await compactedAt(world, 14);
    expect(at.map((number, index) => number - (at[index - 1] ?? number - 4))).toEqual(
      at.map(() => 4),
    );
    expect(at.length).toBeGreaterThan(1);
    const skipped = world.payloads("compaction.skipped");
    expect(new Set(skipped.map(({ outcome }) => outcome))).toEqual(new Set(["too_soon"]));
    expect(skipped.length).toBeLessThanOrEqual(at.length);
  });

  test("CF-E: a summariser that fails is left alone for longer and longer, then until the window is full", async () => {
    const world = await openWorld(open, failing());
    await world.talk(8);
    expect(attempts(world)).toBe(1);
    await world.talk(1, { from: 9, tokens: 100 });
    expect(attempts(world)).toBe(1);
    for (const [wait, made] of [
      [minuteMs, 2],
      [minuteMs, 2],
      [4 * minuteMs, 3],
      [60 * minuteMs, 3],
    ] as const) {
      await world.pass(wait);
      const run = await world.say("And now?");
      expect([run.end, attempts(world)]).toEqual(["done", made]);
    }
    expect(world.session.compactionState.consecutiveFailures).toBe(3);
    expect(world.payloads("compaction.skipped").map(({ outcome }) => outcome)).toContain(
      "breaker_open",
    );
    expect(await world.folds()).toEqual([]);
  });

  test("CF-E: with 0 failures allowed the breaker never trips, and a fold resets the count", async () => {
    let isBroken = true;
    const world = await openWorld(open, {
      ...failing(() => isBroken),
      auto: { consecutiveFailuresMax: 0 },
    });
    await world.talk(8);
    for (const number of [9, 10, 11, 12]) {
      await world.pass(20 * minuteMs);
      await world.talk(1, { from: number, tokens: 100 });
    }
    expect(world.session.compactionState.consecutiveFailures).toBe(5);
    isBroken = false;
    await world.pass(20 * minuteMs);
    await world.talk(1, { from: 13, tokens: 100 });
    expect(await world.folds()).toHaveLength(1);
    expect(world.session.compactionState).toMatchObject({
      consecutiveFailures: 0,
      failures: 5,
      folds: 1,
    });
  });

  test("CF-E: failures are still counted after a restart", async () => {
    const world = await openWorld(open, failing());
    await world.talk(8);
    await world.restart();
    expect(world.session.compactionState.consecutiveFailures).toBe(1);
    await world.talk(1, { from: 9, tokens: 100 });
    expect(attempts(world)).toBe(1);
  });

  test("CF-E: an open breaker does not stop the fold without which nothing fits", async () => {
    const world = await openWorld(open, failing());
    await world.talk(8);
    const runs = await world.talk(5, { from: 9, tokens: largeTurn });
    expect(runs.map(({ end }) => end)).toEqual(runs.map(() => "done"));
    const folds = await world.folds();
    expect(folds.map(({ kind }) => kind)).toEqual(["sliding_window"]);
    expect(reasonOf(folds[0])).toBe("context_limit");
  });

  test("CF-E: folds that free too little are given up after two (anti-thrash by ineffectiveness)", async () => {
    const world = await openWorld(open, {
      settings: { ...compactionsSoon, compactAtShare: 0.35 },
      auto: {
        turnsBetweenMin: 0,
        callsBetweenMin: 0,
        effectiveShareMin: 0.95,
        compactionsMax: 100,
      },
    });
    await world.talk(14);
    expect(await world.folds()).toHaveLength(2);
    expect(world.session.compactionState.ineffectivePasses).toBe(2);
    expect(world.payloads("compaction.skipped")).toEqual([
      { trigger: "context_limit", outcome: "breaker_open" },
    ]);
  });

  test("CF-E: there are only so many folds in a while (anti-thrash by frequency)", async () => {
    const world = await openWorld(open, {
      settings: { ...compactionsSoon, compactAtShare: 0.35 },
      auto: {
        turnsBetweenMin: 0,
        callsBetweenMin: 0,
        compactionsMax: 2,
        compactionsWindowMinutes: 30,
      },
    });
    await world.talk(14);
    expect(await world.folds()).toHaveLength(2);
    expect(world.payloads("compaction.skipped").at(-1)?.outcome).toBe("breaker_open");
    await world.pass(31 * minuteMs);
    await world.talk(1, { from: 15 });
    expect(await world.folds()).toHaveLength(3);
  });

  test("CF-E: where another node folds the session, the turn goes out with the history as it is", async () => {
    const world = await openWorld(open, { settings: compactionsSoon });
    await world.talk(7);
    const other = await world.store.reopen();
    const lock = await other.lockCompaction(sessionId);
    const [run] = await world.talk(1, { from: 8 });
    expect(run?.end).toBe("done");
    expect(messagesOf(world.session)).toHaveLength(16);
    expect(world.payloads("compaction.skipped")).toEqual([
      { trigger: "context_limit", outcome: "lock_held" },
    ]);
    expect(await world.folds()).toEqual([]);
    await lock?.release();
    await world.talk(1, { from: 9 });
    expect(await world.folds()).toHaveLength(1);
  });

  test("CF-E: who asks for a fold gets one, whatever the settings say, with what it should dwell on", async () => {
    const world = await openWorld(open);
    await world.talk(6);
    const run = await world.compact("the port of the billing service");
    expect(run.kind).toBe("compacted");
    const [compaction] = await world.folds();
    expect(compaction).toMatchObject({ trigger: "manual", kind: "summary", turnsSummarized: 3 });
    const asked = world.bodies.find(({ wants }) => wants === "summary");
    expect(asked?.text).toContain(
      "The user wants this kept above all: the port of the billing service",
    );
    await world.talk(1, { from: 7 });
    expect(await world.violations()).toEqual([]);
  });
}

/** No summary of it passes. */
function failing(isBroken: () => boolean = () => true): WorldOptions {
  return {
    settings: compactionsSoon,
    summary: (prompt) => (isBroken() ? reply("") : writesSummaries(prompt)),
  };
}

/** At which turns a session of so many was compacted. */
async function compactedAt(world: World, turns: number): Promise<readonly number[]> {
  const at: number[] = [];
  for (let number = 1; number <= turns; number += 1) {
    const before = world.session.compactionState.folds;
    await world.talk(1, { from: number });
    if (world.session.compactionState.folds > before) at.push(number);
  }
  return at;
}

/** Why it was decided, as the numbers of the decision say. */
function reasonOf(compaction: { readonly metadataJson: string | null } | undefined): unknown {
  const told: unknown = JSON.parse(compaction?.metadataJson ?? "{}");
  return typeof told === "object" && told !== null && "trigger" in told ? told.trigger : null;
}

function attempts(world: World): number {
  return world.payloads("compaction.failed").length;
}

function summaryCalls({ bodies }: World): number {
  return bodies.filter(({ wants }) => wants === "summary").length;
}
