// Detects thinking switched on within a session: transcripts lack the setting, but replies show it.
import type { MissCause } from "../core/diagnosis/explanation.ts";
import type { ModelFacts } from "../core/models/model-facts.ts";
import type { RecordedBlock, RecordedRequest } from "./recording.ts";

/** The cause for a call that lost its history and whose reply is the first of its thread with thinking. */
export const thinkingSwitched: { readonly cause: MissCause; readonly detail: string } = {
  cause: "parameter changed",
  detail: "thinking: off → on, as the replies show",
};

export interface SwitchQuestion {
  readonly thread: {
    readonly settings: RecordedRequest["settings"];
    /** Whether any of its requests contained thinking. */
    readonly hasThought: boolean;
  };
  readonly request: Pick<RecordedRequest, "append" | "settings">;
  /** All blocks of the request. */
  readonly blocks: readonly RecordedBlock[];
  readonly facts: Pick<ModelFacts, "cache">;
}

/** Whether thinking in this reply would prove a switch: earlier replies had none, although it would have been sent back. */
export function mayHaveSwitchedThinking(question: SwitchQuestion): boolean {
  const { thread, request, blocks, facts } = question;
  const losesMessages = facts.cache.invalidation.some(
    ({ change, survives }) => change === "thinking" && !survives.includes("messages"),
  );
  const isRecorded = [thread.settings, request.settings].some((each) => "thinking" in each);
  // Clients change modes only between turns.
  const last = request.append.at(-1);
  const isUserTurn = last?.role === "user" && last.kind === "text";
  // Thinking before a tool call must be sent back with its result.
  const wouldShow = blocks.some(({ kind }) => kind === "tool_use");
  const hasThought = thread.hasThought || holdsThinking(blocks);
  return losesMessages && !isRecorded && isUserTurn && wouldShow && !hasThought;
}

export function holdsThinking(blocks: readonly RecordedBlock[]): boolean {
  return blocks.some(({ kind }) => kind === "thinking" || kind === "redacted_thinking");
}
