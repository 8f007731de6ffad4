// Why a turn did not end well, in words.
import { StrataError } from "../../core/strata-error.ts";
import type { ProviderFailure } from "../../core/wire/failure.ts";
import type { ReplyStop } from "../../core/wire/reply.ts";
import type { TurnRun } from "../../engine.ts";
import type { NoticeLevel } from "./state.ts";

export interface EndingWords {
  readonly level: NoticeLevel;
  readonly text: string;
}

/** Whether the turn is done and its last reply is not: it was longer than replies may be, or was refused in the middle. */
export function isCutShort({ end, calls }: TurnRun): boolean {
  return end === "done" && stopWords[calls.at(-1)?.stopReason ?? "unknown"] !== undefined;
}

/** Null where it ended as it should. */
export function describeEnding(run: TurnRun): EndingWords | null {
  const { end, calls } = run;
  switch (end) {
    case "done": {
      const text = stopWords[calls.at(-1)?.stopReason ?? "unknown"];
      return text === undefined ? null : { level: "warning", text };
    }
    case "cancelled":
      return {
        level: "warning",
        text: "Stopped. The conversation goes on from before this turn; what it cost is booked.",
      };
    case "failed": {
      const last = calls.at(-1);
      const text =
        last === undefined || last.failure === null
          ? "The turn failed."
          : describeFailure(last.failure, last.status === "partial");
      return { level: "error", text };
    }
    case "cut off":
      return {
        level: "warning",
        text: "The reply was cut off in the middle of a tool use, so the turn ended here.",
      };
    case "too many calls":
      return {
        level: "warning",
        text: "The turn ended because it took too many calls; say something to go on.",
      };
  }
}

const stopWords: Readonly<Partial<Record<ReplyStop, string>>> = {
  max_tokens: "The reply is as long as replies may be, and was cut off there. Ask for the rest.",
  context_window: "The reply was cut off: the window is full. /compact shortens the conversation.",
  refusal: "The model refused to answer, or to go on.",
};

function describeFailure({ kind, detail }: ProviderFailure, hasBegun: boolean): string {
  const hint = hints[kind];
  const what = hasBegun ? "The reply broke off" : "The provider did not answer";
  return `${what} (${kind}): ${detail}${hint === undefined ? "" : `\n  ${hint}`}`;
}

const hints: Readonly<Partial<Record<ProviderFailure["kind"], string>>> = {
  authentication: "check the API key; strata config show says where it is from",
  permission: "the key may not use this model; /model changes it",
  billing: "the provider wants to be paid first",
  "not-found": "check the model and the base URL; /model changes the model",
  "context-overflow": "/compact shortens the conversation",
  "rate-limited": "wait a little, then say it again",
  overloaded: "wait a little, then say it again",
  unreachable: "check the network and the base URL, then say it again",
};

export function toText(error: unknown): string {
  if (error instanceof StrataError) return `${error.message}\n  ${error.hint}`;
  return error instanceof Error ? error.message : String(error);
}
