// The state of a chat as a value. Each event makes the next state (update.ts).
import { noUsage, type Usage } from "../../../core/message/usage.ts";
import type { TurnPhase } from "../../../engine.ts";
import type { ContextView } from "./context-view.ts";
import { emptyEditor, type Editor } from "../terminal/line-editor.ts";

export interface ChatState {
  readonly about: ChatAbout;
  /** What happened, oldest first. */
  readonly items: readonly Item[];
  /** The running turn. */
  readonly turn: ShownTurn | null;
  /** Tools that wait for a confirmation; the first one is being asked about. */
  readonly questions: readonly Question[];
  readonly totals: Totals;
  /** What the current or last turn lost of the cache, in one short phrase; null for nothing. */
  readonly lastMiss: string | null;
  readonly editor: Editor;
  /** Whether one more Ctrl-C ends the program. */
  readonly isQuitting: boolean;
  /** What Tab found, on one line; empty for nothing. */
  readonly hint: string;
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
      /** Sent while the agent worked. */
      readonly isSteering: boolean;
    }
  /** One line of a reply, or the rows of a table; a long reply has many. */
  | {
      readonly kind: "answer";
      readonly text: string;
      readonly isOpen: boolean;
      readonly isFirst: boolean;
      /** What it is in Markdown; text by default. */
      readonly shape?: "text" | "code" | "fence" | "table";
      /** The language of code and of its fences. */
      readonly language?: string;
      /** The code block that is open after this line; null for none. */
      readonly fence?: Fence | null;
    }
  | ToolItem
  | ({ readonly kind: "notice" } & Notice)
  /** As it was typed. */
  | { readonly kind: "command"; readonly text: string }
  /** What the user is asked to allow, in full. */
  | { readonly kind: "preview"; readonly toolName: string; readonly lines: readonly string[] }
  /** The output of a slash command. */
  | { readonly kind: "report"; readonly text: string }
  | { readonly kind: "context"; readonly view: ContextView };

/** A block of code that is not closed yet. */
export interface Fence {
  readonly marker: string;
  readonly language: string;
}

export interface ToolItem {
  readonly kind: "tool";
  readonly toolUseId: string;
  readonly name: string;
  /** Its input in a few words. */
  readonly about: string;
  readonly status: "asked" | "running" | "succeeded" | "failed" | "cancelled";
  /** The size of its result; null until there is one. */
  readonly bytes: number | null;
  /** The first words of an error result. */
  readonly problem: string | null;
}

export interface Notice {
  readonly level: "info" | "warning" | "error";
  readonly text: string;
}

export interface ShownTurn {
  readonly phase: TurnPhase;
  readonly isThinking: boolean;
  readonly isStopping: boolean;
  readonly seconds: number;
}

export interface Question {
  /** Our own id: providers may repeat theirs. */
  readonly id: string;
  readonly toolName: string;
  /** What the tool would do, as lines. */
  readonly preview: readonly string[];
  /** Whether keys count as an answer yet; the user may still be typing something else. */
  readonly isReady: boolean;
}

/** Figures of the session so far. */
export interface Totals {
  readonly usage: Usage;
  readonly callCount: number;
  /** The sum of all known costs. */
  readonly costPicoUsd: bigint;
  /** Calls that are not in it, because their price is not known. */
  readonly unpricedCount: number;
  /** Compared with the same calls without a cache; null if prices are not known. */
  readonly savedPicoUsd: bigint | null;
  /** The same in tokens at the plain input rate; null if a model is not known. */
  readonly savedTokens: number | null;
  /** The usage of calls whose provider said something about its cache. */
  readonly told: Usage;
  /** How long servers of one's own read prompts; null if none is known to. */
  readonly prefillMs: number | null;
  /** The prompt size of the next call, without the new message. */
  readonly contextTokens: number;
}

export const noTotals: Totals = {
  usage: noUsage,
  told: noUsage,
  callCount: 0,
  costPicoUsd: 0n,
  unpricedCount: 0,
  savedPicoUsd: 0n,
  savedTokens: 0,
  prefillMs: null,
  contextTokens: 0,
};

export function openState(about: ChatAbout, totals: Totals): ChatState {
  return {
    about,
    items: [],
    turn: null,
    questions: [],
    totals,
    lastMiss: null,
    editor: emptyEditor,
    isQuitting: false,
    hint: "",
  };
}

/** Whether it may still change. */
export function isOpen(item: Item): boolean {
  if (item.kind === "answer") return item.isOpen;
  return item.kind === "tool" && (item.status === "asked" || item.status === "running");
}
