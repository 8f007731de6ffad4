// Runs one turn in several sessions at once and checks which configuration their requests show.
import type { EngineSession } from "../../src/engine/session/engine-session.ts";
import type { OnRequest, Place, Started } from "./place.ts";
import { compareShown, readShown, type Shown } from "./shown.ts";
import { expectCompactions, type Wanted } from "./wanted.ts";

/** The state and counts of a run. */
export interface Run {
  readonly place: Place;
  readonly url: string;
  readonly started: Started;
  readonly arrivals: Arrivals;
  readonly fill: (tokens: number) => string;
  /** The ids of all sessions. */
  readonly ids: string[];
  readonly failedTurns: string[];
  readonly late: string[];
  readonly misreported: string[];
  turns: number;
  requests: number;
  folds: number;
}

/** Requests to the simulator, each with the configuration wanted at that moment. */
export interface Arrivals {
  readonly shown: (readonly [Shown, Wanted])[];
  /** How often each turn is refused before it is answered. */
  readonly refusals: Map<number, number>;
  wanted: Wanted;
  /** Called once, when the next request for a reply arrives. */
  onNext: (() => void) | null;
}

export function receive(arrivals: Arrivals): OnRequest {
  return (request) => {
    const shown = readShown(request);
    arrivals.shown.push([shown, arrivals.wanted]);
    if (!shown.isCount) {
      arrivals.onNext?.();
      arrivals.onNext = null;
    }
    const left = arrivals.refusals.get(shown.turn) ?? 0;
    arrivals.refusals.set(shown.turn, left - 1);
    return left > 0 ? unavailable() : undefined;
  };
}

function unavailable(): Response {
  const error = { type: "api_error", message: "Internal server error" };
  return Response.json({ type: "error", error }, { status: 500 });
}

export interface Slot {
  readonly session: EngineSession;
  /** The setting when the session was opened, which it keeps. */
  readonly volatile: Wanted["volatile"];
  /** Numbers of its turns. */
  readonly turns: number[];
}

export async function openSlot({ started, ids, arrivals }: Run): Promise<Slot> {
  const { volatile } = arrivals.wanted;
  const session = await started.engine.open();
  ids.push(session.id);
  return { session, volatile, turns: [] };
}

export interface Occasion {
  readonly what: string;
  /** The expected number of notices about a broken file. */
  readonly notices: number;
  /** Whether every turn has two calls. Default: one turn in five. */
  readonly isReading?: boolean;
  /** Work to await together with the turns. */
  readonly rest?: Promise<void>;
}

export const quiet: Occasion = { what: "no change", notices: 0 };

export async function playRound(
  run: Run,
  slots: readonly Slot[],
  { what, notices, isReading = false, rest }: Occasion,
): Promise<readonly Shown[]> {
  const { started, arrivals } = run;
  const noticesBefore = countNotices(started);
  arrivals.shown.length = 0;
  const placed = new Map<number, Wanted["volatile"]>();
  const turns = slots.map(async (slot) => {
    const turn = run.turns;
    run.turns += 1;
    placed.set(turn, slot.volatile);
    slot.turns.push(turn);
    const verb = isReading || turn % 5 === 0 ? "Read" : "Tell";
    const said = `${verb} it. Turn ${turn}. ${run.fill(400)}`;
    const { end, calls } = await slot.session.run(said).result;
    if (end === "done") return;
    const failure = calls.at(-1)?.failure?.detail ?? "";
    run.failedTurns.push(`turn ${turn} after ${what} ended as ${end}: ${failure}`);
  });
  await Promise.all([...turns, rest]);
  for (const [shown, wanted] of arrivals.shown) {
    run.requests += 1;
    if (shown.isSummary) run.folds += 1;
    const volatile = placed.get(shown.turn) ?? wanted.volatile;
    const found = compareShown(shown, { ...wanted, volatile });
    if (shown.isSummary && !expectCompactions(wanted))
      run.late.push(`${what}: something was folded`);
    run.late.push(...found.map((problem) => `${what}: ${problem}`));
  }
  const given = countNotices(started) - noticesBefore;
  if (given !== notices) run.misreported.push(`${what}: reported ${given} times, not ${notices}`);
  return arrivals.shown.map(([shown]) => shown);
}

function countNotices({ notices }: Started): number {
  return notices.filter((each) => each.includes("what was configured before still holds")).length;
}
