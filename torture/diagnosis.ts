// Planted breaks: the diagnosis names the right cause and block, and reports nothing if nothing broke.
import { playClean } from "../harness/planted/clean-sessions.ts";
import { breakKinds } from "../harness/planted/planted-breaks.ts";
import { playPlant } from "../harness/planted/planted-sessions.ts";
import {
  atLeast,
  exactly,
  wholeNumber,
  type Experiment,
  type Report,
  type Settings,
} from "../harness/report.ts";

export const experiment: Experiment = {
  summary: "planted cache breaks get the right cause and block; clean sessions give no alarm",
  options: {
    plants: "how many breaks that cost something, 10000 by default",
    clean: "how many sessions without a break, 1000 by default",
    seed: "where to start, 1 by default",
  },
  async run(settings) {
    const seed = wholeNumber(settings, "seed", 1);
    const planted = await plantAll(settings, wholeNumber(settings, "plants", 10_000), seed);
    const clean = await playAllClean(settings, wholeNumber(settings, "clean", 1000), seed);
    return {
      figures: { seed, ...planted.figures, ...clean.figures },
      checks: [...planted.checks, ...clean.checks],
    };
  },
};

type Part = Pick<Report, "figures" | "checks">;

interface Tally {
  right: number;
  wrong: number;
  /** Breaks that did not change the bill. */
  free: number;
  freeAlarms: number;
}

/** Runs until `plants` breaks cost something; free breaks are counted separately. */
async function plantAll({ progress }: Settings, plants: number, seed: number): Promise<Part> {
  const tallies = new Map(breakKinds.map((kind) => [kind, openTally()]));
  let done = 0;
  let alarmsBefore = 0;
  for (let index = 0; done < plants; index += 1) {
    const kind = breakKinds[index % breakKinds.length] ?? "lost";
    const tally = tallies.get(kind) ?? openTally();
    const ownSeed = seed + index * seedStep;
    const outcome = await playPlant(kind, ownSeed);
    const { isCostly, isRight, layout, api } = outcome;
    alarmsBefore += outcome.alarmsBefore;
    done += isCostly ? 1 : 0;
    if (isCostly) tally[isRight ? "right" : "wrong"] += 1;
    else tally.free += 1;
    if (!isCostly && !isRight) tally.freeAlarms += 1;
    if (!isRight) progress(`seed ${ownSeed}, ${kind}, ${api}, ${layout}: ${outcome.said}`);
    if (isCostly && done % 500 === 0) progress(`${done} of ${plants} breaks`);
  }
  const sum = (count: keyof Tally): number =>
    [...tallies.values()].reduce((total, tally) => total + tally[count], 0);
  return {
    figures: {
      ...Object.fromEntries([...tallies].map(([kind, tally]) => [kind, describe(tally)])),
      "breaks without effect": sum("free"),
    },
    checks: [
      exactly("plants", done, plants),
      atLeast("right cause and block share", sum("right") / done, 0.99),
      exactly("alarms on breaks without effect", sum("freeAlarms"), 0),
      exactly("alarms before the break", alarmsBefore, 0),
    ],
  };
}

const seedStep = 7919;

function openTally(): Tally {
  return { right: 0, wrong: 0, free: 0, freeAlarms: 0 };
}

function describe({ right, wrong, free }: Tally): string {
  return `${right} right, ${wrong} wrong, ${free} without effect`;
}

async function playAllClean({ progress }: Settings, sessions: number, seed: number): Promise<Part> {
  let calls = 0;
  let alarms = 0;
  let unread = 0;
  for (let index = 0; index < sessions; index += 1) {
    const ownSeed = seed + index * seedStep;
    const outcome = await playClean(ownSeed);
    calls += outcome.calls;
    alarms += outcome.alarms;
    unread += outcome.unread;
    for (const said of outcome.said) progress(`seed ${ownSeed}, a clean session: ${said}`);
  }
  return {
    figures: { "clean sessions": sessions, "clean calls": calls },
    checks: [
      exactly("false alarms in clean sessions", alarms, 0),
      exactly("clean calls that read less than was kept", unread, 0),
    ],
  };
}
