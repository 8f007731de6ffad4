// Records what a call will send before it is sent, so that a crash does not lose tool results.
import { keepFoundation } from "../../core/assembly/kept-foundation.ts";
import { messageSources, type NewMessage, type NewTurn } from "../../core/ledger/turn-record.ts";
import { keptSetupOf } from "../../core/session/kept-setup.ts";
import { newMessages } from "../../core/turn/new-messages.ts";
import type { Step } from "../../core/turn/step.ts";
import type { Turn } from "../../core/turn/turn.ts";
import type { StepDeps } from "./deps.ts";
import type { RunningTurn } from "./running-turn.ts";

export async function recordSent(
  running: RunningTurn,
  step: Extract<Step, { readonly do: "record" }>,
  { ledger }: Pick<StepDeps, "ledger">,
): Promise<void> {
  const { turn } = running;
  const { plainThread } = step.prepared.assembly;
  const messages = newMessages(plainThread, turn.session.thread.messages.length);
  if (step.opens) {
    running.lease = (await ledger?.openTurn(toNewTurn(turn, messages, step.nowMs))) ?? null;
  } else if (messages.length > 0) {
    await running.lease?.answer(messages.map((message, at) => withFullText(message, turn, at)));
  }
}

function toNewTurn(turn: Turn, messages: readonly NewMessage[], startMs: number): NewTurn {
  const { before, session } = turn;
  const { model, role, permissions, workspacePath, setupPlace } = before;
  const { foundation } = session.thread;
  return {
    id: turn.id,
    sessionId: before.id,
    parentTurnId: before.headTurnId,
    model: model.id,
    provider: model.provider,
    role,
    startMs,
    ...(workspacePath === null ? {} : { workspacePath }),
    ...(setupPlace.isRecorded
      ? {}
      : {
          foundation: keepFoundation(foundation),
          setupJson: JSON.stringify(keptSetupOf(before)),
        }),
    toolset: {
      name: role,
      tools: foundation.tools.map(({ name }) => name),
      permissionsGranted: permissions,
    },
    messages: messages.map((message) => ({ ...message, ...noteOf(turn) })),
  };
}

function withFullText(message: NewMessage, { fullResults }: Turn, at: number): NewMessage {
  const whole = fullResults.get(at);
  return whole === undefined ? message : { ...message, whole };
}

/** The source of the first message. */
function noteOf({ event: { context } }: Turn): Pick<NewMessage, "source" | "contextJson"> {
  if (context === null) return {};
  const source = messageSources.find((each) => each === context.source) ?? "event";
  return { source, contextJson: JSON.stringify(context) };
}
