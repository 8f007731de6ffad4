// For tests: states made of events.
import { noTotals, openState, type ChatAbout, type ChatState } from "./state.ts";
import { update, type ChatEvent } from "./update.ts";

export const about: ChatAbout = {
  sessionId: "s1",
  model: "claude-sonnet-5-5",
  windowTokens: 200_000,
  isSimulated: false,
  workspace: "/project",
};

export const blank: ChatState = openState(about, noTotals);

export function after(...events: readonly ChatEvent[]): ChatState {
  return events.reduce(update, blank);
}

export function token(text: string): ChatEvent {
  return { type: "part", part: { type: "text", text } };
}

export function noticed(text: string): ChatEvent {
  return { type: "noticed", level: "info", text };
}
