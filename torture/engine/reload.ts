// Turns in several sessions at once while strata.yaml changes: every call shows the configuration in force at its start.
import { findPlanted } from "../../harness/planted-key.ts";
import { createRandom } from "../../harness/random-message.ts";
import { checkTrace } from "../../harness/check-trace.ts";
import {
  asksForSummary,
  lastUserText,
  summarise,
} from "../../src/simulator/behaviours/summariser.ts";
import type { Model } from "../../src/simulator/index.ts";
import { createFiller } from "../compaction/speak.ts";
import {
  eventsOf,
  openPlace,
  readAll,
  serveSimulator,
  startEngine,
  type Started,
} from "./place.ts";
import { breakFile, changeFile } from "./reload-changes.ts";
import {
  openSlot,
  playRound,
  quiet,
  receive,
  type Arrivals,
  type Run,
  type Slot,
} from "./reload-round.ts";
import { changeKinds, firstWanted, toYaml } from "./wanted.ts";

export interface ReloadOptions {
  readonly turns: number;
  readonly changes: number;
  readonly seed: number;
  readonly progress?: (line: string) => void;
}

export interface Reloaded {
  readonly turns: number;
  readonly sessions: number;
  readonly requests: number;
  /** Counts by kind of change, and by how the file was written or broken. */
  readonly changes: ReadonlyMap<string, number>;
  readonly goodChanges: number;
  readonly brokenChanges: number;
  readonly folds: number;
  readonly failedTurns: readonly string[];
  /** Calls that show another configuration than the one in force when they began. */
  readonly late: readonly string[];
  /** Broken files without exactly one notice, and valid files with one. */
  readonly misreported: readonly string[];
  /** Problems of the ledger, the trace and the key. */
  readonly problems: readonly string[];
}

/** Number of sessions that work at the same time. */
const atOnce = 4;
/** One of this many changes is broken. */
const brokenEvery = 4;
/** After this many turns a new session replaces the old one, so that histories do not only grow. */
const turnsPerSession = 30;

export async function runReload(options: ReloadOptions): Promise<Reloaded> {
  const place = openPlace();
  place.put("AGENTS.md", "Be brief. ".repeat(1500));
  const arrivals: Arrivals = {
    shown: [],
    refusals: new Map(),
    wanted: firstWanted,
    onNext: null,
  };
  const served = await serveSimulator({ model: speak, callsMax: 10 }, receive(arrivals));
  const { url } = served;
  place.configure(toYaml(firstWanted, url));
  const started = await startEngine(place);
  const fill = createFiller(createRandom(options.seed));
  const lists = { ids: [], failedTurns: [], late: [], misreported: [] };
  const counts = { turns: 0, requests: 0, folds: 0 };
  try {
    return await play({ place, url, started, arrivals, fill, ...lists, ...counts }, options);
  } finally {
    await started.close();
    await served.close();
    place.close();
  }
}

/** Uses a tool once if asked to read, so that such turns have two calls. */
const speak: Model = (prompt) => {
  if (prompt.wants === "summary" || asksForSummary(prompt)) return summarise(prompt);
  const last = prompt.turns.findLast(({ role }) => role !== "system");
  if (last?.toolResults.length === 0 && lastUserText(prompt).includes("Read it.")) {
    const use = { kind: "tool use", name: "read", inputJson: "{}" } as const;
    return { parts: [use], stop: "tool use" };
  }
  return { parts: [{ kind: "text", text: "It is as it was." }], stop: "end" };
};

async function play(run: Run, options: ReloadOptions): Promise<Reloaded> {
  const { started, ids } = run;
  const changes = new Map<string, number>();
  const count = (...names: readonly string[]): void =>
    names.forEach((name) => changes.set(name, (changes.get(name) ?? 0) + 1));
  const slots = await Promise.all(Array.from({ length: atOnce }, () => openSlot(run)));
  let [good, broken] = [0, 0];
  while (run.turns < options.turns || good + broken < options.changes) {
    await replaceOld(run, slots);
    const number = good + broken + 1;
    const isDue = run.turns >= ((number - 0.5) * options.turns) / options.changes;
    if (!isDue || number > options.changes) {
      await playRound(run, slots, quiet);
    } else if (number % brokenEvery === 0) {
      count(...(await breakFile(run, slots, broken)));
      broken += 1;
    } else {
      count(
        ...(await changeFile(run, slots, { kind: changeKinds[good % changeKinds.length], good })),
      );
      good += 1;
    }
    if (isDue && number % 10 === 0) options.progress?.(describe(run, number));
  }
  const { turns, requests, folds, failedTurns, late, misreported } = run;
  const counts = { turns, sessions: ids.length, requests, changes, folds };
  const found = { failedTurns, late, misreported, problems: await findProblems(started, ids) };
  return { ...counts, goodChanges: good, brokenChanges: broken, ...found };
}

function describe({ turns, late, failedTurns, misreported }: Run, changes: number): string {
  const found = late.length + failedTurns.length + misreported.length;
  return `${turns} turns, ${changes} changes, ${found} problems`;
}

async function replaceOld(run: Run, slots: Slot[]): Promise<void> {
  for (const [at, { turns, session }] of slots.entries()) {
    if (turns.length < turnsPerSession) continue;
    await session.close();
    slots[at] = await openSlot(run);
  }
}

async function findProblems(started: Started, ids: readonly string[]): Promise<readonly string[]> {
  const problems = [...(await readAll(started.ledger.check()))];
  for (const id of ids) {
    const events = await eventsOf(started, id);
    problems.push(...checkTrace(events).map(({ rule, message }) => `${rule}: ${message}`));
    if (findPlanted(JSON.stringify(events)) !== null)
      problems.push(`the key is in events of ${id}`);
  }
  const output = started.notices.join("\n") + (await started.metrics.render());
  if (findPlanted(output) !== null) problems.push("the key is in a notice, or in metrics");
  return problems;
}
