// Random programs of sessions, turns, forks, compactions and crashes, run on a ledger and on the model side by side.
import * as fc from "fast-check";
import { StrataError } from "../../../src/core/strata-error.ts";
import { differencesAtEnd, differencesIn } from "./differences.ts";
import { createModel } from "./ledger-model.ts";
import { planCompaction } from "./plan-compaction.ts";
import { planAbandon, planGhost, planLook, planResume } from "./plan-lost-turns.ts";
import {
  planArchive,
  planCrash,
  planCreate,
  planDelete,
  planFork,
  planMove,
} from "./plan-session-steps.ts";
import {
  planAnswer,
  planAppend,
  planClose,
  planOpen,
  planRelease,
  planTurn,
} from "./plan-turn-steps.ts";
import type { Choice, Outcome, Planned, Run, World } from "./run.ts";

export interface Step extends Choice {
  readonly kind: (typeof kinds)[number];
}

const kinds = [
  "create",
  "open",
  "open",
  "append",
  "append",
  "append",
  "answer",
  "close",
  "close",
  "turn",
  "turn",
  "fork",
  "move",
  "fold",
  "release",
  "crash",
  "look",
  "resume",
  "abandon",
  "archive",
  "delete",
  "ghost",
] as const;

export const programs: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.record({
    kind: fc.constantFrom(...kinds),
    // Most of it in one session: that is where long stories happen.
    session: fc.constantFrom(0, 0, 0, 0, 1, 1, 2, 3),
    other: fc.nat(11),
    how: fc.nat(11),
  }),
  { minLength: 1, maxLength: 40, size: "max" },
);

/** What differs; nothing if ledger and model agree all the way. */
export async function runProgram(steps: readonly Step[], world: World): Promise<readonly string[]> {
  const run: Run = {
    model: createModel(),
    ledger: world.nodes[0],
    world,
    handles: [],
    made: 0,
    gone: new Set(),
  };
  await take(run, { kind: "create", session: 0, other: 0, how: 1 });
  for (const [index, step] of steps.entries()) {
    const known = new Set(run.model.turns.keys());
    const said = await take(run, step);
    for (const id of known) if (!run.model.turns.has(id)) run.gone.add(id);
    const differences = [...said, ...(await differencesIn(run))];
    if (differences.length > 0) return [`after step ${index}, ${step.kind}`, ...differences];
  }
  return differencesAtEnd(run);
}

/** One step on both; where their answers differ. */
async function take(run: Run, step: Step): Promise<readonly string[]> {
  const { want, work } = plan(run, step);
  const got = await outcomeOf(work);
  return got === want ? [] : [`the ledger said ${got}, the model ${want}`];
}

async function outcomeOf(work: () => Promise<unknown>): Promise<Outcome> {
  try {
    await work();
    return "done";
  } catch (error) {
    if (error instanceof StrataError) return error.code;
    throw error;
  }
}

/** What the model does, and what the ledger is asked to do. */
function plan(run: Run, step: Step): Planned {
  const { model, ledger } = run;
  const id = `s${step.session}`;
  const session = model.sessions.get(id);
  if (step.kind === "create") return planCreate(run, step, id);
  if (step.kind === "crash") return planCrash(run);
  if (step.kind === "fork") return planFork(run, step, id);
  if (session === undefined) {
    return { want: "not-found", work: () => ledger.setStatus(id, "active") };
  }
  switch (step.kind) {
    case "open":
      return planOpen(run, session, step);
    case "turn":
      return planTurn(run, session, step);
    case "append":
      return planAppend(run, session, step);
    case "answer":
      return planAnswer(run, session, step);
    case "close":
      return planClose(run, session, step);
    case "release":
      return planRelease(run, session);
    case "fold":
      return planCompaction(run, session, step);
    case "move":
      return planMove(run, session, step);
    case "look":
      return planLook(run, session);
    case "resume":
      return planResume(run, session);
    case "abandon":
      return planAbandon(run, session);
    case "archive":
      return planArchive(run, session, step);
    case "delete":
      return planDelete(run, session);
    case "ghost":
      return planGhost(run, step);
  }
}
