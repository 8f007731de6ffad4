// Why a turn did not end well, in words.
import { messageOf, StrataError } from "../../../core/strata-error.ts";
import type { ProviderFailure } from "../../../core/wire/failure.ts";
import type { ReplyStop } from "../../../core/wire/reply.ts";
import type { TurnResult } from "../../../engine.ts";
import type { Notice } from "../state/state.ts";

/** Whether the turn is done but its last reply is incomplete: it reached the maximum length or was refused. */
export function isCutShort({ end, calls }: TurnResult): boolean {
  return end === "done" && stopWords[calls.at(-1)?.stopReason ?? "unknown"] !== undefined;
}

/** Null for a normal end. */
export function describeEnding(run: TurnResult): Notice | null {
  const { end, calls } = run;
  const last = calls.at(-1);
  switch (end) {
    case "done": {
      const text = stopWords[last?.stopReason ?? "unknown"];
      return text === undefined ? null : warn(text);
    }
    case "cancelled":
      return warn(
        "Stopped. The conversation continues from before this turn; its cost is counted.",
      );
    case "failed": {
      const failure = last?.failure ?? null;
      const isPartial = last?.status === "partial";
      const text = failure === null ? "The turn failed." : describeFailure(failure, isPartial);
      return { level: "error", text };
    }
    case "cut off":
      return warn("The reply was cut off in the middle of a tool use, so the turn ended here.");
    case "too many calls":
      return warn("The turn ended because it took too many calls; send a message to continue.");
  }
}

function warn(text: string): Notice {
  return { level: "warning", text };
}

const stopWords: Readonly<Partial<Record<ReplyStop, string>>> = {
  max_tokens: "The reply reached the maximum length and was cut off. Ask for the rest.",
  context_window: "The reply was cut off: the window is full. /compact shortens the conversation.",
  refusal: "The model refused to answer or to continue.",
};

function describeFailure({ kind, detail }: ProviderFailure, hasBegun: boolean): string {
  if (kind === "spending-cap") return `Not sent: ${detail}`;
  const advice = [hints[kind], detail.includes("ECONNREFUSED") ? nothingListens : undefined];
  const what = hasBegun ? "The reply broke off" : "The provider did not answer";
  const lines = advice.flatMap((hint) => (hint === undefined ? [] : [`\n  ${hint}`]));
  return `${what} (${kind}): ${detail}${lines.join("")}`;
}

const hints: Readonly<Partial<Record<ProviderFailure["kind"], string>>> = {
  authentication:
    "check the API key, or the credentials of the cloud; strata config show prints where a key comes from",
  permission: "the key may not use this model; /model changes it",
  billing: "add credit at the provider",
  "not-found": "check the model and the base URL; /model changes the model",
  "context-overflow": "/compact shortens the conversation",
  "rate-limited": "wait a little, then send it again",
  overloaded: "wait a little, then send it again",
  unreachable: "check the network and the base URL, then send it again",
};

/** Mostly a server of one's own that was not started. */
const nothingListens =
  "nothing listens at that address: start the server, or have it simulated: providers: { NAME: { kind: simulator } } in your strata.yaml";

export function toText(error: unknown): string {
  if (error instanceof StrataError) return `${error.message}\n  ${error.hint}`;
  return messageOf(error);
}
