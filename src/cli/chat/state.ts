// What is on the screen of a chat: a value. Everything that happens makes the next one (update.ts).
import type { Usage } from "../../core/message/usage.ts";
import { noUsage } from "../../core/message/usage.ts";
import type { TurnPhase } from "../../engine.ts";
import type { ContextView } from "./context-view.ts";
import { emptyEditor, type Editor } from "./line-editor.ts";

export interface ChatState {
  readonly about: ChatAbout;
  /** What was said and done, the oldest first. */
  readonly items: readonly Item[];
  /** The turn that runs. */
  readonly turn: RunningTurn | null;
  /** Tools that wait for somebody's yes, the first one asked about. */
  readonly questions: readonly Question[];
  readonly totals: Totals;
  readonly editor: Editor;
  /** Whether one more Ctrl-C ends the program. */
  readonly isQuitting: boolean;
}

export interface ChatAbout {
  readonly sessionId: string;
  readonly model: string;
  readonly windowTokens: number;
  readonly isSimulated: boolean;
  readonly workspace: string | null;
}

export type Item =
  | {
      readonly kind: "person";
      readonly text: string;
      /** Said while the agent worked. */
      readonly isSteering: boolean;
    }
  /** One line of what the model says; a long reply is many of them. */
  | {
      readonly kind: "answer";
      readonly text: string;
      readonly isOpen: boolean;
      readonly isFirst: boolean;
    }
  | ToolItem
  | { readonly kind: "notice"; readonly level: NoticeLevel; readonly text: string }
  /** As it was typed. */
  | { readonly kind: "command"; readonly text: string }
  /** What somebody is asked to allow, all of it. */
  | { readonly kind: "preview"; readonly toolName: string; readonly lines: readonly string[] }
  /** What a command of the chat shows. */
  | { readonly kind: "report"; readonly text: string }
  | { readonly kind: "context"; readonly view: ContextView };

export interface ToolItem {
  readonly kind: "tool";
  readonly toolUseId: string;
  readonly name: string;
  /** What it is called with, in a few words. */
  readonly about: string;
  readonly status: "asked" | "running" | "succeeded" | "failed" | "cancelled";
  /** Of its result; null before there is one. */
  readonly bytes: number | null;
  /** The first words of a result that is an error. */
  readonly problem: string | null;
}

export type NoticeLevel = "info" | "warning" | "error";

export interface RunningTurn {
  readonly phase: TurnPhase;
  readonly isThinking: boolean;
  readonly isStopping: boolean;
  readonly seconds: number;
}

export interface Question {
  /** Its own: providers may give two uses the same one. */
  readonly id: string;
  readonly toolName: string;
  /** What would be done, as lines. */
  readonly preview: readonly string[];
  /** Whether a key is an answer, and not what somebody was typing when the question came up. */
  readonly isReady: boolean;
}

/** Of the session so far. */
export interface Totals {
  readonly usage: Usage;
  readonly callCount: number;
  readonly costPicoUsd: bigint;
  /** Against the same calls without a cache; null where prices are not known. */
  readonly savedPicoUsd: bigint | null;
  /** What the next call begins with. */
  readonly contextTokens: number;
}

export const noTotals: Totals = {
  usage: noUsage,
  callCount: 0,
  costPicoUsd: 0n,
  savedPicoUsd: 0n,
  contextTokens: 0,
};

export function openState(about: ChatAbout, totals: Totals): ChatState {
  return {
    about,
    items: [],
    turn: null,
    questions: [],
    totals,
    editor: emptyEditor,
    isQuitting: false,
  };
}

/** Whether it may still change. */
export function isOpen(item: Item): boolean {
  if (item.kind === "answer") return item.isOpen;
  return item.kind === "tool" && (item.status === "asked" || item.status === "running");
}
