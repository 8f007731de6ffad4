// T3 and T4: every message exactly as it was sent. Appending costs only what is appended.
import { growingBytes, type GrowingBytes } from "../growing/growing-bytes.ts";
import { growingList, type GrowingList } from "../growing/growing-list.ts";
import type { Message } from "../message/message.ts";
import type { Foundation } from "./foundation.ts";
import { sealBlocks, type SealedBlock, type SealedEnd } from "./sealed-block.ts";
import {
  nothingWritten,
  type LeftOut,
  type Spelled,
  type SpelledBlock,
  type Written,
} from "./spelling.ts";

/** A conversation on its foundation, sealed. Immutable: it can continue from any earlier value. */
export interface Thread {
  readonly foundation: Foundation;
  readonly messages: GrowingList<Message>;
  readonly blocks: GrowingList<SealedBlock>;
  readonly bytes: GrowingBytes;
  readonly end: SealedEnd;
  /** The end of each message: its tokens, and the key of everything up to it. */
  readonly messageEnds: GrowingList<SealedEnd>;
  readonly written: Written;
  /** The last kept volatile text. Unchanged text is not sent again. */
  readonly keptVolatile: string | null;
  readonly leftOut: GrowingList<LeftOut>;
}

export function openThread(foundation: Foundation): Thread {
  return {
    foundation,
    messages: growingList(),
    blocks: growingList(),
    bytes: growingBytes(),
    end: foundation.end,
    messageEnds: growingList(),
    written: nothingWritten,
    keptVolatile: null,
    leftOut: growingList(),
  };
}

export function appendMessages(thread: Thread, messages: readonly Message[]): Thread {
  return messages.reduce(
    (grown, message) =>
      appendSpelled(grown, message, grown.foundation.spelling.message(message, grown.written)),
    thread,
  );
}

export function appendSpelled(thread: Thread, message: Message, spelled: Spelled): Thread {
  const { counter } = thread.foundation;
  const sealed = sealBlocks(
    spelled.blocks,
    thread.end,
    {
      region: "messages",
      tierOf: () => "T3",
      // Text that the model sees for one turn takes no tokens afterwards.
      tokensOf: (block) => (block.clearsAfterTurn === true ? 0 : countSpelled(block, counter)),
    },
    thread.bytes,
  );
  return {
    ...thread,
    messages: thread.messages.append([message]),
    blocks: thread.blocks.append(sealed.blocks),
    bytes: sealed.bytes,
    end: sealed.end,
    messageEnds: thread.messageEnds.append([sealed.end]),
    written: spelled.written,
    leftOut: spelled.leftOut.length === 0 ? thread.leftOut : thread.leftOut.append(spelled.leftOut),
  };
}

export function countSpelled(
  { role, content }: SpelledBlock,
  counter: Foundation["counter"],
): number {
  return counter.message({ role: role === "tools" ? "system" : role, content });
}

export function messagesFrom({ messages }: Thread, from: number): readonly Message[] {
  const found: Message[] = [];
  for (let index = from; index < messages.length; index += 1) {
    const message = messages.at(index);
    if (message !== undefined) found.push(message);
  }
  return found;
}

/** The messages from a place on, each with its tokens. */
export function countedMessages(
  thread: Thread,
  from: number,
): readonly { readonly message: Message; readonly tokens: number }[] {
  const tokens = messageTokens(thread, from);
  return messagesFrom(thread, from).map((message, at) => ({ message, tokens: tokens[at] ?? 0 }));
}

/** The tokens of each message from a place on. */
export function messageTokens(thread: Thread, from: number): readonly number[] {
  const { messageEnds, foundation, messages } = thread;
  const tokens: number[] = [];
  let before = (messageEnds.at(from - 1) ?? foundation.end).tokens;
  for (let index = from; index < messages.length; index += 1) {
    const end = messageEnds.at(index)?.tokens ?? before;
    tokens.push(end - before);
    before = end;
  }
  return tokens;
}
