// Encodes a call.
import type { Step } from "../../core/turn/step.ts";
import { callStarted } from "../../core/turn/turn-events.ts";
import type { EncodedRequest } from "../../core/wire/encoded-request.ts";
import type { StepDeps } from "./deps.ts";
import { emit, type RunningTurn } from "./running-turn.ts";

export interface StartedCall {
  readonly request: EncodedRequest;
  readonly startMs: number;
}

/** Encodes the call and emits its start. */
export function encodeCall(
  { prepared, number }: Extract<Step, { readonly do: "send" }>,
  running: RunningTurn,
  deps: StepDeps,
): StartedCall {
  const { protocol, model, options } = running.turn.session;
  const { assembly, plan, promptTokens } = prepared;
  const request = protocol.encode({ assembly, plan, model, options });
  const startMs = deps.now();
  emit(running, [callStarted(running.turn, number, promptTokens)]);
  deps.onPhase?.("calling");
  return { request, startMs };
}
