// A turn that this process runs: the turn itself, and handles that cannot be data.
import type { EventBody } from "../../core/events/event.ts";
import type { Section } from "../../core/layers/section.ts";
import type { OpenTurn } from "../../core/ledger/ledger.ts";
import { applyResult } from "../../core/turn/apply-result.ts";
import type { Input } from "../../core/turn/step.ts";
import type { Turn } from "../../core/turn/turn.ts";
import type { DispatchContext } from "../../edge/tools/dispatch/dispatch-options.ts";
import type { SharedChain } from "../../edge/tools/dispatch/tool-trace.ts";
import type { StepDeps, TurnToRun } from "./deps.ts";
import { createTurnEmitter, type TurnEmitter } from "../events/turn-emitter.ts";

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
}

export interface TurnParts {
  readonly lease: OpenTurn | null;
  readonly volatile: TurnToRun["volatile"];
}

export function toRunning(
  turn: Turn,
  { lease, volatile = [] }: TurnParts,
  deps: StepDeps,
): RunningTurn {
  const { id: turnId, before } = turn;
  const { signal, events } = deps;
  const chain: SharedChain = { current: null };
  const { id: sessionId, role } = before;
  const tools = { sessionId, turnId, role, chain, ...(signal === undefined ? {} : { signal }) };
  return {
    turn,
    lease,
    tools,
    emitter: createTurnEmitter(events, tools),
    volatile: () => (typeof volatile === "function" ? volatile() : Promise.resolve(volatile)),
  };
}

/** Grows the turn by a result, and emits the events that follow from it. */
export function apply(running: RunningTurn, input: Input): void {
  running.turn = applyResult(running.turn, input);
  emit(running, running.turn.news);
}

export function emit({ emitter }: RunningTurn, events: readonly EventBody[]): void {
  for (const event of events) emitter.emit(event);
}

/** Takes in new messages from people, and an abort. */
export function takeInputs(running: RunningTurn, { takeSteered, signal }: StepDeps): void {
  const messages = takeSteered?.() ?? [];
  if (messages.length > 0) apply(running, { did: "steer", messages });
  if (signal?.aborted === true && running.turn.aborted === null) {
    apply(running, { did: "abort", reason: signal.reason });
  }
}

/** Lets another process resume the turn. The error that led here matters more than one of the ledger. */
export async function release({ lease }: RunningTurn): Promise<void> {
  await lease?.release().catch(() => {});
}

/** A turn that throws is released: any process may resume it at once. */
export async function releaseOnError<Value>(
  running: RunningTurn,
  work: () => Promise<Value>,
): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    await release(running);
    throw error;
  }
}
