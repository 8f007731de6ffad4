// What assembly needs from a protocol: how to write tools, system text and messages, so that bytes are made once.
import type { Block, JsonText, Message } from "../message/message.ts";
import type { ToolDefinition } from "../message/tool-definition.ts";
import type { BlockKind, PromptRole } from "./prompt-block.ts";
import type { SystemBlock } from "./system-blocks.ts";

export interface Spelling {
  tools(tools: readonly ToolDefinition[]): readonly SpelledBlock[];
  system(blocks: readonly SystemBlock[]): readonly SpelledBlock[];
  /** Writes a message after what is already written. */
  message(message: Message, written: Written): Spelled;
  /** Writes text after the current message that may differ on the next call. */
  volatile(text: string, written: Written, how: VolatileForm): Spelled;
}

/**
 * `text` and `system message` are for this call only: as the user, or as instructions if the model takes them
 * there. `kept` is stored and sent again, and shown for one turn if the protocol can do that.
 */
export type VolatileForm = "text" | "system message" | "kept";

/** The state after the messages written so far. A protocol may leave the last message open. */
export interface Written {
  readonly openRole: string | null;
  /** The role of the last message. Null before the first. */
  readonly lastRole: Message["role"] | null;
  /** The number of blocks. A separator stands before all but the first. */
  readonly blockCount: number;
  /** Features the request must enable because of its content, by the provider's names. */
  readonly betas?: readonly string[];
  /** What the last message of the assistant called, for a protocol whose results name more than an id. By our id of the tool use. */
  readonly calls?: ReadonlyMap<string, WrittenCall>;
}

/** A tool use as it was written. */
export interface WrittenCall {
  readonly name: string;
  /** Null if it was written without one. */
  readonly id: string | null;
}

export const nothingWritten: Written = { openRole: null, lastRole: null, blockCount: 0 };

export interface Spelled {
  readonly blocks: readonly SpelledBlock[];
  readonly written: Written;
  /** What the protocol cannot carry, with the reason. Omissions are always reported. */
  readonly leftOut: readonly LeftOut[];
  /** The canonical message to store, if the spelled text must be kept. */
  readonly message?: Message;
}

export interface LeftOut {
  readonly what: string;
  readonly reason: string;
}

export interface SpelledBlock {
  /** Includes whatever joins it to the block before. */
  readonly json: JsonText;
  /** How many bytes before its end a marker goes. Null if it cannot carry one. */
  readonly markerFromEnd: number | null;
  readonly kind: BlockKind;
  readonly role: PromptRole;
  readonly endsMessage: boolean;
  /** The content, for counting. Empty for tools and system text, which are counted as text. */
  readonly content: readonly Block[];
  /** For tools and system text: what could not be carried unchanged. */
  readonly leftOut?: readonly LeftOut[];
  /** True if the model sees it for one turn only. It takes no tokens afterwards. */
  readonly clearsAfterTurn?: boolean;
}
