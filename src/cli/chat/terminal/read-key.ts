// What a key means in the current state.
import { wholeText, type Key } from "./line-editor.ts";
import type { Answer } from "../session/confirmations.ts";
import type { ChatState } from "../state/state.ts";

export type Action =
  | { readonly kind: "edit" }
  | { readonly kind: "submit"; readonly text: string }
  | { readonly kind: "answer"; readonly id: string; readonly answer: Answer }
  /** Stops the turn. */
  | { readonly kind: "stop" }
  /** Empties the line. */
  | { readonly kind: "clear" }
  /** Announces that another Ctrl-C quits. */
  | { readonly kind: "warn" }
  | { readonly kind: "quit" }
  /** Completes the word before the cursor. */
  | { readonly kind: "complete" }
  | { readonly kind: "clear screen" }
  | { readonly kind: "suspend" }
  | { readonly kind: "nothing" };

export function readKey(state: ChatState, key: Key): Action {
  const { editor, questions } = state;
  if (editor.isPasting || key.name === "paste-start") return { kind: "edit" };
  if (key.ctrl === true) {
    if (key.name === "c") return interrupt(state);
    if (key.name === "d" && editor.text === "") return { kind: "quit" };
    if (key.name === "l") return { kind: "clear screen" };
    if (key.name === "z") return { kind: "suspend" };
  }
  const [question] = questions;
  const answer = key.ctrl === true || key.meta === true ? undefined : answers[key.name ?? ""];
  if (question?.isReady === true && editor.text === "" && answer !== undefined) {
    return { kind: "answer", id: question.id, answer };
  }
  if (key.name === "tab" && key.meta !== true) return { kind: "complete" };
  if ((key.name === "return" || key.name === "enter") && key.meta !== true) {
    return editor.text.trim() === ""
      ? { kind: "nothing" }
      : { kind: "submit", text: wholeText(editor) };
  }
  return { kind: "edit" };
}

const answers: Readonly<Record<string, Answer>> = { y: "yes", n: "no", a: "always", escape: "no" };

/** Ctrl-C stops the turn first, then empties the line, then quits. */
function interrupt({ turn, editor, isQuitting }: ChatState): Action {
  if (turn !== null) return { kind: turn.isStopping ? "quit" : "stop" };
  if (editor.text !== "") return { kind: "clear" };
  return { kind: isQuitting ? "quit" : "warn" };
}
