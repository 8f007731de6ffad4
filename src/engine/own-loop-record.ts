// One reply of an application, read and booked, and what is next.
import { assert } from "../core/assert.ts";
import type { CallEntry } from "../core/ledger/call-entry.ts";
import type { ToolUseBlock } from "../core/message/message.ts";
import { StrataError } from "../core/strata-error.ts";
import type { StreamPart } from "../core/wire/reply.ts";
import type { TurnRun } from "./edges.ts";
import type { OwnCall } from "./own-loop-call.ts";
import type { Stop } from "./own-loop-place.ts";
import { readReply } from "./own-loop-reply.ts";
import type { OwnTurn } from "./own-loop-turn.ts";
import type { TurnHandle } from "./turn-handle.ts";

export interface RecordOptions {
  /** Told of the events of a stream, as they are read. */
  readonly onPart?: (part: StreamPart) => void;
  /** Something to say to the agent with the next call, or in one more call. */
  readonly steer?: string;
}

export interface NextStep {
  /** To be run; `prepare` takes what they gave. */
  readonly toolUses: readonly ToolUseBlock[];
  /** Null while the turn goes on: `prepare` gives its next call, also where no tools were asked for. */
  readonly run: TurnRun | null;
}

export interface RecordedCall extends NextStep {
  /** As the ledger has it: usage, cost, what the cache did. */
  readonly entry: CallEntry;
  /** What `onPart` threw. It was told no more then; the reply is booked all the same. */
  readonly partProblem?: unknown;
}

interface TurnAtHand {
  readonly turn: OwnTurn;
  readonly handle: TurnHandle;
}

export async function recordReply(
  { turn, handle }: TurnAtHand,
  call: OwnCall,
  reply: unknown,
  { onPart, steer }: RecordOptions,
): Promise<RecordedCall> {
  const reading = turn.beginReading(call);
  if (reading === null) throw notWaiting(call);
  const { nowMs } = reading;
  const listener = toListener(onPart);
  const outcome = await readReply(reply, { ...reading, onPart: listener.onPart });
  if (steer !== undefined) handle.steer(steer);
  turn.answerCall(outcome, nowMs());
  const next = await turn.stop();
  const entry = reading.entry();
  assert(entry !== null, "a call that was answered is recorded");
  return { entry, ...toStep(next), ...listener.told() };
}

/** A listener that throws says nothing about the reply. */
function toListener(onPart: RecordOptions["onPart"] = () => {}): {
  readonly onPart: (part: StreamPart) => void;
  readonly told: () => Pick<RecordedCall, "partProblem">;
} {
  let told: Pick<RecordedCall, "partProblem"> | null = null;
  return {
    onPart: (part) => {
      if (told !== null) return;
      try {
        onPart(part);
      } catch (partProblem) {
        told = { partProblem };
      }
    },
    told: () => told ?? {},
  };
}

export function toStep(stop: Stop): NextStep {
  return {
    toolUses: stop.kind === "tools" ? stop.uses : [],
    run: stop.kind === "over" ? stop.run : null,
  };
}

function notWaiting({ turnId, number }: OwnCall): StrataError {
  return new StrataError(
    "conflict",
    `call ${number} of turn ${turnId} is not waited for: it is recorded, or its turn is over`,
    "record each call once, and the one that was prepared last",
  );
}
