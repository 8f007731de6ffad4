// A turn that this process runs: the turn itself, and handles that cannot be data.
import type { EventBody } from "../../core/events/event.ts";
import type { Section } from "../../core/layers/section.ts";
import type { OpenTurn } from "../../core/ledger/ledger.ts";
import type { TurnEnd } from "../../core/ledger/turn-record.ts";
import { applyResult, toClosed } from "../../core/turn/apply-result.ts";
import { toStrataError } from "../../core/strata-error.ts";
import type { Input } from "../../core/turn/step.ts";
import { toTurnResult, type TurnResult } from "../../core/turn/turn-result.ts";
import { newsOf, turnEnded } from "../../core/turn/turn-events.ts";
import type { Turn, TurnEnding } from "../../core/turn/turn.ts";
import type { DispatchContext } from "../../edge/tools/dispatch/dispatch-options.ts";
import type { SharedChain } from "../../edge/tools/dispatch/tool-trace.ts";
import { createTurnEmitter, type TurnEmitter } from "../events/turn-emitter.ts";
import type { StepDeps, TurnToRun } from "./deps.ts";

export interface RunningTurn {
  /** Replaced by every result. */
  turn: Turn;
  /** Null until the turn is open in the ledger. */
  lease: OpenTurn | null;
  readonly emitter: TurnEmitter;
  /** The session and turn of the running tools, with the event chain that they continue. */
  readonly tools: DispatchContext & { readonly chain: SharedChain };
  /** Text for the next call only. */
  readonly volatile: () => Promise<readonly Section[]>;
  /** When it ended, where that is recorded with its last reply; null before. */
  endMs: number | null;
  /** Whether the lease was given back, or is being given back. */
  isReleased: boolean;
}

export function toRunning(
  turn: Turn,
  { signal, events }: StepDeps,
  lease: OpenTurn | null = null,
  volatile: TurnToRun["volatile"] = [],
): RunningTurn {
  const { id: turnId, before } = turn;
  const chain: SharedChain = { current: null };
  const tools = {
    sessionId: before.id,
    turnId,
    role: before.role,
    chain,
    ...(signal && { signal }),
  };
  return {
    turn,
    lease,
    tools,
    emitter: createTurnEmitter(events, tools),
    volatile: () => (typeof volatile === "function" ? volatile() : Promise.resolve(volatile)),
    endMs: null,
    isReleased: false,
  };
}

/** Adds a result to the turn, and emits the events that follow from it. */
export function apply(running: RunningTurn, input: Input): void {
  const before = running.turn;
  running.turn = applyResult(before, input);
  emit(running, () => newsOf(before, running.turn));
}

/** Events are made only where a bus takes them. */
export function emit({ emitter }: RunningTurn, events: () => readonly EventBody[]): void {
  if (!emitter.hasBus) return;
  for (const event of events()) emitter.emit(event);
}

/** Takes in new messages from people, and an abort. */
export function takeInputs(running: RunningTurn, { takeSteered, signal }: StepDeps): void {
  const messages = takeSteered?.() ?? [];
  if (messages.length > 0) apply(running, { did: "steer", messages });
  if (signal?.aborted === true && running.turn.aborted === null) {
    apply(running, { did: "abort", reason: signal.reason });
  }
}

/** Lets any process resume the turn. If the ledger fails here too, the lease ends by itself after its time. */
export async function release(running: RunningTurn): Promise<void> {
  if (running.isReleased) return;
  running.isReleased = true;
  try {
    await running.lease?.release();
  } catch {
    running.isReleased = false;
  }
}

/** The one way out of a step that throws: the turn is released, and the error has a code and a hint. */
export async function releaseOnError<Value>(
  running: RunningTurn,
  work: () => Promise<Value>,
): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    await release(running);
    throw toStrataError(error, `turn ${running.turn.id}`);
  }
}

/** Closes the turn in the ledger and in events. Its result has the messages that came too late for a call. */
export async function closeTurn(
  running: RunningTurn,
  how: TurnEnding,
  { now, takeSteered, permissionsOf, queue }: StepDeps,
): Promise<TurnResult> {
  return releaseOnError(running, async () => {
    const { turn, lease } = running;
    const endMs = running.endMs ?? now();
    const { session, end } = toClosed(turn, how, endMs);
    if (running.endMs === null) {
      await lease?.close({ ...end, ...permissionsUsed(turn, permissionsOf) });
    }
    emit(running, () => turnEnded(turn, how, endMs));
    const steered = takeSteered && [...turn.steered, ...takeSteered()];
    // A message of the queue gets a turn of its own.
    const unsaid = steered?.filter((message) => queue?.itemOf(message) === undefined);
    return toTurnResult(turn, { how, endMs, session, unsaid });
  });
}

/** What the tools that ran needed; nothing is recorded for a turn without such tools. */
export function permissionsUsed(
  { toolRuns }: Turn,
  permissionsOf: StepDeps["permissionsOf"],
): Pick<TurnEnd, "permissionsUsed"> {
  const used = new Set(toolRuns.flatMap(({ name }) => permissionsOf?.(name) ?? []));
  return used.size === 0 ? {} : { permissionsUsed: [...used].toSorted() };
}
