// One turn on one screen. What comes next is decided in core/turn; what it takes is done here, in the order a call
// meets it: assemble, plan, record what is new, count, compact, encode, send, decode, record the reply, run tools.
import { assemble } from "./core/assembly/assemble.ts";
import { planCache } from "./core/cache/plan-cache.ts";
import type { Session } from "./core/session/session.ts";
import { toNextModel } from "./core/turn/move-turn.ts";
import { nextStep } from "./core/turn/next-step.ts";
import { toAssemble, toPlan } from "./core/turn/prepare-call.ts";
import type { Result, Step, StepOf } from "./core/turn/step.ts";
import {
  checkSpending,
  countPrompt,
  noteBill,
  recordReply,
  tellLostPrefix,
  tellMiss,
  compactInTurn,
  encodeCall,
  recordSent,
  refresh,
  runTools,
} from "./engine/turn/steps.ts";
import type { TurnResult } from "./core/turn/turn-result.ts";
import type { Deps, StepDeps, TurnToResume, TurnToRun } from "./engine/turn/deps.ts";
import { beginTurn, loadTurn } from "./engine/turn/begin-turn.ts";
import {
  closeTurn,
  apply,
  takeInputs,
  releaseOnError,
  type RunningTurn,
} from "./engine/turn/running-turn.ts";

export type { Deps, StepDeps, TurnPhase, TurnToResume, TurnToRun } from "./engine/turn/deps.ts";
export type { TurnResult } from "./core/turn/turn-result.ts";
export type { TurnEnding } from "./core/turn/turn.ts";

/** One turn, from what happened to what it cost. */
export async function runTurn(session: Session, turn: TurnToRun, deps: Deps): Promise<TurnResult> {
  return finish(await beginTurn(session, turn, deps), deps);
}

/** Goes on with a turn that no process closed, from its last recorded call. */
export async function resumeTurn(
  session: Session,
  turn: TurnToResume,
  deps: Deps,
): Promise<TurnResult> {
  return finish(await loadTurn(session, turn, deps), deps);
}

/** Carries a turn to its end. */
export async function finish(running: RunningTurn, deps: StepDeps): Promise<TurnResult> {
  const { how } = await carryOn(running, deps, isNone);
  return closeTurn(running, how, deps);
}

/** A step that an application with a loop of its own carries out itself, or the last one. */
export type OuterStep = StepOf<"send" | "run tools" | "close">;

/** Carries out every step up to the next one that talks to a model, runs tools or ends the turn. */
export async function advance(running: RunningTurn, deps: StepDeps): Promise<OuterStep> {
  return carryOn(running, deps, isOuter);
}

function isNone(_step: Step): _step is never {
  return false;
}

function isOuter(step: Step): step is OuterStep {
  return step.do === "send" || step.do === "run tools";
}

/** Carries out steps up to the last one, or to one that is not ours. */
async function carryOn<Other extends Step>(
  running: RunningTurn,
  deps: StepDeps,
  isOther: (step: Step) => step is Other,
): Promise<Other | StepOf<"close">> {
  return releaseOnError(running, async () => {
    for (;;) {
      if (running.endMs === null) takeInputs(running, deps);
      const step = nextStep(running.turn);
      if (step.do === "close" || isOther(step)) return step;
      apply(running, await carryOut(step, running, deps));
    }
  });
}

/** Carries out one step. */
export async function take(
  step: StepOf<Exclude<Step["do"], "close">>,
  running: RunningTurn,
  deps: StepDeps,
): Promise<void> {
  await releaseOnError(running, async () => apply(running, await carryOut(step, running, deps)));
}

/** The effects, in the order a call meets them. */
async function carryOut(
  step: StepOf<Exclude<Step["do"], "close">>,
  running: RunningTurn,
  deps: StepDeps,
): Promise<Result> {
  const { session } = running.turn;
  switch (step.do) {
    case "refresh":
      return refresh(step, running, deps);
    case "prepare": {
      const assembly = assemble(toAssemble(session, step));
      const plan = planCache(toPlan(session, assembly, step.nowMs ?? deps.now()));
      return { did: "prepare", assembly, plan };
    }
    case "record":
      await recordSent(running, step, deps);
      return { did: "record" };
    case "count":
      return { did: "count", tokens: await countPrompt(session, step.prepared, deps) };
    case "compact":
      return { did: "compact", outcome: await compactInTurn(step, running, deps) };
    case "send": {
      const refused = await checkSpending(step, running, deps);
      if (refused !== null) return refused;
      const call = encodeCall(step, running, deps);
      const { signal, onPart } = deps;
      const how = { ...(signal && { signal }), ...(onPart && { onPart }) };
      // What streams in is decoded as it comes.
      const sent = await deps.provider.send({ ...call, stream: session.options.stream, ...how });
      return { did: "send", sent, ...call, endMs: deps.now() };
    }
    case "record reply":
      await recordReply(step, running, deps);
      deps.spending?.settle();
      noteBill(running.turn, step.entry, deps);
      tellMiss(running.turn, deps);
      tellLostPrefix(running.turn, deps);
      return { did: "record reply" };
    case "run tools":
      return runTools(step, running, deps);
    case "switch model": {
      const moved = (await deps.switchModel?.(running.turn, step)) ?? null;
      if (moved !== null) await running.lease?.switchModel(toNextModel(moved, running.turn.id));
      return { did: "switch model", moved };
    }
  }
}
