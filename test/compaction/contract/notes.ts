// What stands for the compacted part, and what is still known after many compactions (CF-E, CF-J).
import { expect, test } from "vitest";
import { notesMarkers } from "../../../src/core/compaction/summary/notes-markers.ts";
import { summarySections } from "../../../src/core/compaction/summary/sections.ts";
import { historyTools } from "../../../src/edge/tools/history-tools.ts";
import type { Ledger } from "../../../src/core/ledger/ledger.ts";
import type { OpenLedger } from "../../ledger/stores.ts";
import { words } from "../speakers.ts";
import { expectCosts, expectSame, messagesOf, textOf } from "../looks.ts";
import { compactionsSoon, openWorld, sessionId, type World } from "../test-kit.ts";

/** One of each kind an index looks for; no two alike. */
const planted = [
  "src/vault/rotate-keys.ts",
  "billing-worker-7741",
  "ERR_VAULT_4019",
  "https://status.example.org/incident/88213",
  "v12.4.1-rc3",
  "max_inflight_jobs",
  "10.42.0.17:8443",
  "9f3c1e7ab2d4",
];

export function notesContract(open: OpenLedger): void {
  test("CF-E: a fold is a row, a turn, an event and one message of notes", async () => {
    const world = await openWorld(open, { settings: compactionsSoon });
    await world.talk(8);
    const [compaction, ...more] = await world.folds();
    expect(more).toEqual([]);
    expect(compaction).toMatchObject({ kind: "summary", model: "claude-sonnet-4-6" });
    const [notes] = messagesOf(world.session);
    const text = notes === undefined ? "" : textOf(notes);
    expect(notes?.role).toBe("user");
    expect(text.startsWith(notesMarkers.start)).toBe(true);
    expect(text.endsWith(notesMarkers.end)).toBe(true);
    expect(text).toContain(compaction?.summary);
    for (const { heading } of summarySections)
      expect(compaction?.summary).toContain(`## ${heading}`);
    expect(text).toContain("They are background, not a request");
    const [completed] = world.payloads("compaction.completed");
    expect(completed).toMatchObject({
      outcome: "ok",
      turns_summarized: 5,
      tokens_before: compaction?.tokensBefore,
      tokens_after: compaction?.tokensAfter,
    });
    const types = world.told.filter(({ turnId }) => turnId === "turn-8").map(({ type }) => type);
    expect(types).toEqual([
      "turn.started",
      "route.decided",
      "compaction.started",
      "compaction.completed",
      "llm.call_started",
      "llm.call_completed",
      "turn.completed",
    ]);
    expect(await world.violations()).toEqual([]);
  });

  test("CF-E: the call for a summary reads what the conversation has cached", async () => {
    const world = await openWorld(open, { settings: compactionsSoon });
    await world.talk(8);
    const at = world.bodies.findIndex(({ wants }) => wants === "summary");
    const bill = world.simulator.calls()[at]?.billed?.bill;
    const before = world.simulator.calls()[at - 1]?.billed?.bill;
    expect(bill?.readTokens).toBeGreaterThan(0.8 * (before?.readTokens ?? Infinity));
  });

  test("a model of its own writes the summary, in parts where its window is too small, and is paid for", async () => {
    const world = await openWorld(open, { settings: compactionsSoon, summariserTokens: 5_000 });
    await world.talk(8);
    const [compaction] = await world.folds();
    expect(compaction).toMatchObject({ kind: "summary", model: "claude-haiku-4-5" });
    // Eight turns, and more than one call for the summary.
    expect(world.simulator.calls().length).toBeGreaterThan(9);
    expect(compaction?.summary).toContain("src/module-1.ts");
    await expectCosts(world);
    await expectSame(world);
  });

  test("CF-E: ten folds in a row keep the facts of the first, in the notes and for searches", async () => {
    const world = await openWorld(open, {
      settings: { ...compactionsSoon, compactAtShare: 0.35 },
      auto: { turnsBetweenMin: 0, callsBetweenMin: 0, compactionsMax: 100 },
    });
    await world.say(`Remember: ${planted.join(", ")}. ${words(300, "plant")}`);
    for (let number = 2; world.session.compactionState.folds < 10; number += 1) {
      await world.talk(1, { from: number });
      expect(number).toBeLessThan(60);
    }
    const notes = notesOf(world);
    expect(planted.filter((each) => !notes.includes(each))).toEqual([]);
    expect(await notFound(world.store.ledger, planted)).toEqual([]);
    expect(await world.violations()).toEqual([]);
  });

  test("CF-E: the second summary is made with the first at hand", async () => {
    const world = await openWorld(open, {
      settings: compactionsSoon,
      auto: { turnsBetweenMin: 1 },
    });
    await world.say(`The launch is on 2027-03-14. ${words(300, "launch")}`);
    await world.talk(14, { from: 2 });
    const folds = (await world.folds()).toReversed();
    expect(folds.length).toBeGreaterThan(1);
    const asked = world.bodies.filter(({ wants }) => wants === "summary").at(-1);
    expect(asked?.text).toContain("2027-03-14");
    expect(asked?.text).toContain("take over all that still matters");
    expect(folds.at(-1)?.summary).toContain("2027-03-14");
  });

  test("CF-J: most identifiers of the folded part stand in the notes, and searches find all of them", async () => {
    const world = await openWorld(open, { settings: compactionsSoon });
    const facts = Array.from({ length: 40 }, (_, index) => factOf(index));
    for (let turn = 0; turn < 5; turn += 1) {
      const here = facts.slice(turn * 8, turn * 8 + 8);
      const said = here.map((fact) => `${fact} ${words(110, fact)}.`).join(" ");
      await world.say(`Note ${turn}: ${said}`);
    }
    await world.talk(3, { from: 6 });
    expect(await world.folds()).toMatchObject([{ turnsSummarized: 5 }]);
    const [notes, ...kept] = messagesOf(world.session).map(textOf);
    // Only what was compacted is asked for.
    expect(facts.filter((fact) => kept.some((text) => text.includes(fact)))).toEqual([]);
    const share = facts.filter((fact) => notes?.includes(fact)).length / facts.length;
    expect(share).toBeGreaterThanOrEqual(0.85);
    expect(await notFound(world.store.ledger, facts)).toEqual([]);
  });

  test("CF-J: without a model the notes still hold most identifiers", async () => {
    const world = await openWorld(open, {
      settings: compactionsSoon,
      summary: () => ({ parts: [], stop: "end" }),
    });
    const facts = Array.from({ length: 24 }, (_, index) => factOf(index));
    for (let turn = 0; turn < 6; turn += 1) {
      const here = facts.slice(turn * 4, turn * 4 + 4);
      await world.say(here.map((fact) => `${fact} ${words(600, fact)}.`).join(" "));
    }
    await world.talk(3, { from: 7 });
    expect(await world.folds()).toMatchObject([{ kind: "sliding_window" }]);
    const notes = notesOf(world);
    const kept = messagesOf(world.session).slice(1).map(textOf).join("\n");
    const compacted = facts.filter((fact) => !kept.includes(fact));
    expect(compacted.length).toBeGreaterThan(8);
    const share = compacted.filter((fact) => notes.includes(fact)).length / compacted.length;
    expect(share).toBeGreaterThanOrEqual(0.85);
  });

  test("CF-J: the agent itself finds and reads what was folded", async () => {
    const probe = await openWorld(open, { settings: compactionsSoon });
    await probe.say(`The key is in ${planted[0]}. ${words(900, "key")}`);
    await probe.talk(7, { from: 2 });
    const [search, read] = historyTools({ ledger: probe.store.ledger });
    const call = {
      sessionId,
      turnId: "any",
      toolUseId: "any",
      role: "unified",
      signal: new AbortController().signal,
    } as const;
    const found = await search?.run({ query: planted[0] }, call);
    expect(found?.text).toContain(planted[0]);
    expect(found?.text).toContain("turn 1");
    const shown = await read?.run({ turn: 1 }, call);
    expect(shown?.text).toContain(`The key is in ${planted[0]}.`);
    expect(shown?.text).toContain("not instructions");
  });
}

function notesOf({ session }: World): string {
  const [notes] = messagesOf(session);
  return notes === undefined ? "" : textOf(notes);
}

/** Identifiers of several kinds, each its own. */
function factOf(index: number): string {
  const code = (index * 7919 + 104_729).toString(36);
  const kinds = [
    `src/${code}/handler.ts`,
    `svc-${code}-worker`,
    `ERR_${code.toUpperCase()}_${4000 + index}`,
    `https://host-${code}.example.org/path`,
  ];
  return kinds[index % kinds.length] ?? code;
}

async function notFound(ledger: Ledger, facts: readonly string[]): Promise<readonly string[]> {
  const missing: string[] = [];
  for (const fact of facts) {
    const { hits } = await ledger.searchHistory({ sessionId, text: fact });
    if (!hits.some(({ excerpt }) => excerpt.includes(fact))) missing.push(fact);
  }
  return missing;
}
