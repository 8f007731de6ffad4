// The end of a turn, in the ledger and in events.
import { toClosed } from "../../core/turn/close-turn.ts";
import type { TurnEnding } from "../../core/turn/turn-ending.ts";
import { turnEnded } from "../../core/turn/turn-events.ts";
import type { StepDeps, TurnRun } from "./deps.ts";
import { emit, releaseOnError, type RunningTurn } from "./running-turn.ts";

/** Closes the turn. Returns messages that came too late for a call. */
export async function closeTurn(
  running: RunningTurn,
  how: TurnEnding,
  deps: StepDeps,
): Promise<TurnRun> {
  const { turn, lease } = running;
  const endMs = deps.now();
  const { session, end } = toClosed(turn, how, endMs);
  await releaseOnError(running, async () => lease?.close(end));
  emit(running, turnEnded(turn, how, endMs));
  const unsaid = deps.takeSteered && [...turn.steered, ...deps.takeSteered()];
  return { session, calls: turn.calls, end: how, ...(unsaid && { unsaid }) };
}
