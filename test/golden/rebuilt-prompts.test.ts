// Goal: what a session sent can be made again from its ledger. Method: scenarios with compactions, switches, overflows
// and sub-agents; the key of each rebuilt prompt is the recorded one, and the engine's diagnosis says the same again.
import { expect, test } from "vitest";
import { builtInCatalogue } from "../../src/core/models/catalogue.ts";
import { cheapCounter } from "../../src/core/tokens/cheap-counter.ts";
import { openStore } from "../../src/edge/stores/open-store.ts";
import { readOwnTurnIds } from "../../src/edge/stores/session-inside.ts";
import { rebuildCalls } from "../../src/replay/ledger/rebuild-calls.ts";
import { readStoredMisses } from "../../src/replay/ledger/found-misses.ts";
import { allScenarios } from "./all-scenarios.ts";
import type { Scenario } from "./scenario.ts";
import { sides } from "./sides.ts";
import { openStage } from "./stage.ts";

const names = [
  "compaction-inside-turn",
  "compaction-clears-results",
  "compaction-by-hand",
  "models-there-and-back",
  "models-across-protocols",
  "overflow-recovered",
  "sub-agent-fork",
  "session-forked",
  "resume-abandoned",
];

interface Compared {
  readonly calls: number;
  readonly inexact: number;
  readonly told: readonly (string | undefined)[];
  readonly found: readonly (string | undefined)[];
}

async function compare(file: string): Promise<Compared> {
  const store = await openStore(file);
  if (store === null) throw new Error("there is no ledger");
  const { ledger, database } = store;
  let [calls, inexact] = [0, 0];
  const told: (string | undefined)[] = [];
  const found: (string | undefined)[] = [];
  const deps = { ledger, catalogue: builtInCatalogue, counter: cheapCounter };
  for (const record of await ledger.listSessions({ status: "all" })) {
    const misses = await readStoredMisses(ledger, record.id);
    const turnIds = await readOwnTurnIds(database, record.id);
    for await (const each of rebuildCalls(record, turnIds, deps)) {
      if ("reason" in each) throw new Error(each.reason);
      calls += 1;
      if (!each.isExact) inexact += 1;
      told.push(misses.get(each.turn.id)?.misses.get(each.call.number)?.cause);
      found.push(each.miss?.cause);
    }
  }
  await ledger.close();
  return { calls, inexact, told, found };
}

const cases = names.flatMap((name) => {
  const scenario: Scenario | undefined = allScenarios[name];
  const [side] = sides;
  return scenario === undefined || side === undefined ? [] : [{ name, scenario, side }];
});

test("the scenarios are there", () => {
  expect(cases.map(({ name }) => name)).toEqual(names);
});

test.each(cases)("the prompts of $name are made again to the byte", async ({ scenario, side }) => {
  const summary = scenario.summary === undefined ? {} : { summary: scenario.summary() };
  const stage = await openStage(side, { answer: scenario.answer(), ...summary });
  try {
    await scenario.play(stage);
    const { calls, inexact, told, found } = await compare(stage.file);
    expect(calls).toBeGreaterThan(0);
    expect(inexact).toBe(0);
    expect(found).toEqual(told);
  } finally {
    await stage.close();
  }
});
