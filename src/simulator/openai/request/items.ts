// The items of a conversation, in one form for both APIs.
import type { Lifetime } from "../../billing/billable-request.ts";

export type Item =
  | {
      readonly kind: "message";
      readonly role: Role;
      /** Rendered beside the role: a name or a phase. */
      readonly label: string;
      readonly parts: readonly Part[];
    }
  | {
      readonly kind: "tool use";
      readonly callId: string;
      /** Includes the namespace, if any. */
      readonly name: string;
      /** JSON, or free text if the tool takes that. */
      readonly input: string;
      readonly isCustom: boolean;
    }
  | {
      readonly kind: "tool output";
      readonly callId: string;
      readonly parts: readonly Part[];
      readonly isCustom: boolean;
    }
  /** Tools that come with the messages. */
  | { readonly kind: "tools"; readonly tools: readonly ToolDefinition[]; readonly source: string }
  | {
      readonly kind: "reasoning";
      readonly summary: string;
      /** The provider's sealed text that the client sends back; null if the client left it out. */
      readonly sealed: string | null;
    }
  | { readonly kind: "compaction"; readonly sealed: string }
  | { readonly kind: "configuration"; readonly effort: string | null; readonly source: string }
  /** Any other item, rendered as sent, without its id. */
  | { readonly kind: "other"; readonly type: string; readonly source: string };

export type Role = "system" | "developer" | "user" | "assistant";

/** `source` is the part as the client sent it, without its breakpoint. */
export type Part = { readonly marker: Marker | null } & (
  | { readonly kind: "text"; readonly text: string }
  | {
      readonly kind: "image";
      readonly source: string;
      readonly size: { readonly width: number; readonly height: number } | null;
    }
  | { readonly kind: "file" | "audio"; readonly source: string; readonly tokens: number }
);

/** An explicit breakpoint set by the client. */
export interface Marker {
  /** Null: the lifetime set for the request. */
  readonly lifetime: Lifetime | null;
  readonly path: string;
}

export interface ToolDefinition {
  readonly name: string;
  readonly namespace: string | null;
  readonly description: string;
  /** `hosted`: the provider runs it, so the simulated model never calls it. */
  readonly kind: "function" | "custom" | "hosted";
  readonly inputSchema: unknown;
  /** Not in the prompt until a search loads it. */
  readonly isDeferred: boolean;
}

/** The text of an item's parts, as the model sees it. */
export function textOf(parts: readonly Part[]): string {
  return parts.map((part) => (part.kind === "text" ? part.text : `[${part.kind}]`)).join("\n");
}

export function isInitial(item: Item): boolean {
  if (item.kind === "tools") return true;
  return item.kind === "message" && (item.role === "developer" || item.role === "system");
}

export function isToolOutput(item: Item): boolean {
  return item.kind === "tool output" || (item.kind === "other" && item.type.endsWith("_output"));
}

export function isToolUse(item: Item): boolean {
  return item.kind === "tool use" || (item.kind === "other" && item.type.endsWith("_call"));
}
