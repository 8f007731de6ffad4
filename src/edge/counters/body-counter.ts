// Counts a whole request with a vocabulary only: the plain formula that many clients use.
import { readRequest } from "../../core/wire/foreign/read-request.ts";
import { hashContent } from "../../core/hash.ts";
import type { Block } from "../../core/message/message.ts";
import type { TextCounter } from "../../core/tokens/o200k/counter.ts";
import { lengthCounter } from "../../core/tokens/token-counter.ts";
import { bodyText, type EncodedRequest } from "../../core/wire/encoded-request.ts";
import type { Protocol } from "../../core/wire/protocol.ts";
import { createLru } from "../../core/tokens/lru.ts";

/** What is counted besides the text. */
export const messageOverhead = {
  perMessage: 4,
  /** The beginning of the reply. */
  priming: 3,
  /** Once, where there is any system text. */
  system: 2,
} as const;

export type BodyCounter = (request: EncodedRequest) => number;

/** Reads and counts the whole body on each call, but each long text only once. */
export function createBodyCounter(counter: TextCounter, protocol: Protocol): BodyCounter {
  const texts = rememberTexts(counter);
  const plain = {
    text: (text: string) => texts.count(text),
    message: ({ content }: { readonly content: readonly Block[] }) => countBlocks(content, texts),
  };
  return ({ pieces }) => {
    const body = bodyText(pieces);
    try {
      const { blocks } = readRequest(body, { protocol, counter: plain });
      const inSystem = blocks.filter(({ tier }) => tier === "T1");
      const messages = blocks.filter(
        ({ tier, endsMessage }) => endsMessage && tier !== "T0" && tier !== "T1",
      );
      const { perMessage, priming, system } = messageOverhead;
      const overhead =
        priming + messages.length * perMessage + (inSystem.length === 0 ? 0 : system);
      return blocks.reduce((sum, { tokens }) => sum + tokens, overhead);
    } catch {
      // A body of unknown shape is counted by its length.
      return lengthCounter.text(body);
    }
  };
}

/** Shorter texts are counted faster than they are looked up. */
const rememberedLengthMin = 256;
const rememberedMax = 20_000;

/** A conversation is counted again and again, and only its end is new. */
function rememberTexts(counter: TextCounter): TextCounter {
  const remembered = createLru<number>(rememberedMax);
  return {
    count: (text) => {
      if (text.length < rememberedLengthMin) return counter.count(text);
      const key = hashContent(text);
      const found = remembered.get(key);
      if (found !== undefined) return found;
      const tokens = counter.count(text);
      remembered.set(key, tokens);
      return tokens;
    },
  };
}

function countBlocks(blocks: readonly Block[], texts: TextCounter): number {
  return blocks.reduce((sum, block) => sum + countBlock(block, texts), 0);
}

function countBlock(block: Block, texts: TextCounter): number {
  switch (block.type) {
    case "text":
      return texts.count(block.text);
    case "tool_use":
      return texts.count(block.name) + texts.count(block.inputJson);
    case "tool_result":
      return countBlocks(block.content, texts);
    case "thinking":
      return block.text === "" ? byLength(block) : texts.count(block.text);
    case "document":
      return block.source.kind === "text" ? texts.count(block.source.data) : byLength(block);
    case "redacted_thinking":
    case "image":
    case "compaction":
    case "opaque":
      return byLength(block);
  }
}

function byLength(block: Block): number {
  return lengthCounter.message({ role: "user", content: [block] });
}
