// What assembly asks of a protocol: how tools, system text and messages are written, so that bytes are made once.
import type { Block, JsonText, Message } from "../message/message.ts";
import type { ToolDefinition } from "../message/tool-definition.ts";
import type { BlockKind, PromptRole } from "./prompt-block.ts";
import type { SystemBlock } from "./system-blocks.ts";

export interface Spelling {
  tools(tools: readonly ToolDefinition[]): readonly SpelledBlock[];
  system(blocks: readonly SystemBlock[]): readonly SpelledBlock[];
  /** A message that follows what is written so far. */
  message(message: Message, written: Written): Spelled;
  /** Text after the current message that may be another one on the next call. */
  volatile(text: string, written: Written, how: VolatileForm): Spelled;
}

/**
 * `text`, `system message`: for this call alone, in the name of the user or as the model's instructions
 * where it takes them there. `kept`: stored and replayed, and shown for one turn where the protocol can.
 */
export type VolatileForm = "text" | "system message" | "kept";

/** How far the messages are written: which role's message is still open, if the protocol leaves one open. */
export interface Written {
  readonly openRole: string | null;
  /** The role of the last message; null before the first. */
  readonly lastRole: Message["role"] | null;
  /** How many blocks there are; a separator stands before all but the first. */
  readonly blockCount: number;
  /** Features a request must ask for because of what is written, by the provider's names. */
  readonly betas?: readonly string[];
}

export const nothingWritten: Written = { openRole: null, lastRole: null, blockCount: 0 };

export interface Spelled {
  readonly blocks: readonly SpelledBlock[];
  readonly written: Written;
  /** What the protocol cannot carry, with the reason; nothing is left out silently. */
  readonly leftOut: readonly LeftOut[];
  /** The canonical message to store, where text was spelled that has to be kept. */
  readonly message?: Message;
}

export interface LeftOut {
  readonly what: string;
  readonly reason: string;
}

export interface SpelledBlock {
  /** With whatever joins it to the block before it. */
  readonly json: JsonText;
  /** How many bytes before its end a marker is put in; null where it cannot carry one. */
  readonly markerFromEnd: number | null;
  readonly kind: BlockKind;
  readonly role: PromptRole;
  readonly endsMessage: boolean;
  /** What it holds, for counting. Empty for tools and system text, which are counted as text. */
  readonly content: readonly Block[];
  /** Of tools and system text: what of it could not be carried as it is. */
  readonly leftOut?: readonly LeftOut[];
  /** True where the model is shown it for one turn only: it takes no tokens afterwards. */
  readonly clearsAfterTurn?: boolean;
}
