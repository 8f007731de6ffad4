// A conversation independent of any API, for planting breaks.

export type Api = "messages" | "chat" | "responses";

export interface Talk {
  readonly api: Api;
  readonly model: string;
  readonly tools: readonly TalkTool[];
  readonly system: readonly string[];
  readonly turns: readonly Turn[];
  readonly settings: { readonly toolChoice?: string; readonly effort?: string };
  readonly layout: Layout;
}

export interface TalkTool {
  readonly name: string;
  readonly description: string;
}

export interface Turn {
  readonly role: "user" | "assistant";
  readonly parts: readonly Part[];
}

export type Part =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "call"; readonly id: string; readonly path: string }
  | { readonly type: "result"; readonly id: string; readonly text: string };

/** Where markers are. `own`: none are sent, and the provider ends prefixes by itself. */
export type Layout = (typeof layouts)[number] | "own";

export const layouts = [
  "system and tail",
  "tail",
  "tail for an hour",
  "system and two tails",
  "tools, system for an hour, tail",
  "whole request",
  "system",
  "before the last block",
] as const;

export interface Rendered {
  readonly body: string;
  /** In the provider's order. */
  readonly blocks: readonly RenderedBlock[];
  /** Blocks that end a marked prefix, in order. */
  readonly marked: readonly number[];
}

export interface RenderedBlock {
  readonly path: string;
  readonly tier: "tools" | "system" | "messages";
  /** Its spelling without markers. */
  readonly text: string;
}

export type Json = Record<string, unknown>;

/** A block of the request body that can carry a marker. */
export interface Spelled extends Omit<RenderedBlock, "text"> {
  readonly node: Json;
}

export interface Spelling {
  readonly body: Json;
  readonly spelled: readonly Spelled[];
}

/** The schema of every tool. */
export const schema = { type: "object", properties: { path: { type: "string" } } };
