// A simulated model: its input and output, the same for every API.

/** The same prompts in the same order give the same replies. */
export interface Model {
  (prompt: Prompt): Reply;
  /** Drops the state, for models that have one. */
  readonly reset?: () => void;
}

export interface Prompt {
  readonly model: string;
  /** `summary`: the provider asks for a summary, as in compaction. */
  readonly wants: "reply" | "summary";
  /** For a summary: what the client wants to keep. */
  readonly instructions: string | null;
  readonly system: string;
  readonly tools: readonly PromptTool[];
  readonly turns: readonly PromptTurn[];
  readonly outputTokensMax: number;
  /** Whether the model should think. */
  readonly thinks: boolean;
  readonly toolChoice: "auto" | "none" | "any" | { readonly name: string };
}

export interface PromptTool {
  readonly name: string;
  readonly description: string;
  /** Null if the tool takes free text. */
  readonly inputSchema: unknown;
}

export interface PromptTurn {
  readonly role: "system" | "user" | "assistant";
  readonly text: string;
  readonly toolUses: readonly {
    readonly id: string;
    readonly name: string;
    readonly inputJson: string;
  }[];
  readonly toolResults: readonly {
    readonly id: string;
    readonly text: string;
    readonly isError: boolean;
  }[];
}

export interface Reply {
  readonly parts: readonly ReplyPart[];
  readonly stop: "end" | "tool use" | "output limit";
}

export type ReplyPart =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "thinking"; readonly text: string }
  | { readonly kind: "tool use"; readonly name: string; readonly inputJson: string };
