// One turn whose calls an application sends and whose tools it runs. Everything else is the engine's interpreter.
import type { CallEntry } from "../../core/ledger/call-entry.ts";
import type { ToolUseBlock } from "../../core/message/message.ts";
import type { ProviderFailure } from "../../core/wire/failure.ts";
import type { Reply } from "../../core/wire/reply.ts";
import { advance } from "../../engine.ts";
import { closeTurn } from "../turn/close-turn.ts";
import { encodeCall, type StartedCall } from "../turn/encode-call.ts";
import { answerTools } from "../turn/answer-tools.ts";
import type { TurnRun } from "../turn/deps.ts";
import { toOwnCall, type OwnCall } from "./own-call.ts";
import { toToolMessages, type ToolAnswer } from "./tool-answers.ts";
import type { SessionTurn } from "../session/session-turn.ts";
import { apply } from "../turn/running-turn.ts";

/** What the turn waits for, or its end. */
export type Stop =
  | { readonly kind: "call"; readonly call: OwnCall; readonly started: StartedCall }
  | { readonly kind: "tools"; readonly uses: readonly ToolUseBlock[] }
  | { readonly kind: "over"; readonly run: TurnRun };

/** Runs until the application has something to do. An aborted turn asks for nothing more. */
export async function goOn(turn: SessionTurn): Promise<Stop> {
  for (;;) {
    const stop = await nextStop(turn);
    if (stop.kind === "over" || turn.deps.signal?.aborted !== true) return stop;
    await giveNothing(turn, stop);
  }
}

async function nextStop({ running, deps }: SessionTurn): Promise<Stop> {
  const step = await advance(running, deps);
  switch (step.do) {
    case "send": {
      const started = encodeCall(step, running, deps);
      const call = toOwnCall({ running, step, request: started.request }, deps);
      return { kind: "call", call, started };
    }
    case "run tools":
      deps.onPhase?.("running tools");
      return { kind: "tools", uses: step.uses };
    case "close":
      return { kind: "over", run: await closeTurn(running, step.how, deps) };
  }
}

export type Waiting = Exclude<Stop, { readonly kind: "over" }>;

/** Ends the wait of a turn that will get no answer. */
export async function giveNothing(turn: SessionTurn, stop: Waiting): Promise<void> {
  if (stop.kind === "call") giveReply(turn, stop, cancelled);
  else await giveAnswers(turn, stop.uses, []);
}

const cancelled: ProviderFailure = { kind: "cancelled", detail: "cancelled by the caller" };

/** The number of the application's attempts is unknown here. */
export function giveReply(
  { running, deps }: SessionTurn,
  { started }: Extract<Stop, { readonly kind: "call" }>,
  outcome: Reply | ProviderFailure,
): void {
  const { request, startMs } = started;
  const sent = { outcome, attempts: [] };
  apply(running, { did: "send", sent, notes: request.notes, startMs, endMs: deps.now() });
}

/** Throws and changes nothing if an answer is not for one of these uses. */
export async function giveAnswers(
  { running }: SessionTurn,
  uses: readonly ToolUseBlock[],
  given: readonly ToolAnswer[],
): Promise<void> {
  const messages = toToolMessages(given, uses);
  if (uses.length === 0) return;
  const run = (): Promise<typeof messages> => Promise.resolve(messages);
  apply(running, { did: "run tools", answers: await answerTools(uses, run, running.tools) });
}

export function findEntry({ running }: SessionTurn, { number }: OwnCall): CallEntry | undefined {
  return running.turn.calls.find((call) => call.number === number);
}
