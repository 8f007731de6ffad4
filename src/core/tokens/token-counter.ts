// Tokens of a text or a message for one model: raw features, weighted by its tokenizer and calibration.
import type { Block, Message } from "../message/message.ts";
import type { Tokenizer } from "../models/model-facts.ts";
import { calibrate, uncalibrated, type Calibration } from "./calibration.ts";
import { estimateTokens } from "./estimate.ts";
import type { TextCounter } from "./o200k/counter.ts";
import { countMessage, countText } from "./raw-count.ts";

export interface TokenCounter {
  text(text: string): number;
  message(message: Pick<Message, "role" | "content">): number;
}

export function createTokenCounter(
  counter: TextCounter,
  tokenizer: Tokenizer,
  calibration: Calibration = uncalibrated,
): TokenCounter {
  return {
    text: (text) => calibrate(estimateTokens(countText(text, counter), tokenizer), calibration),
    message: (message) =>
      calibrate(estimateTokens(countMessage(message, counter), tokenizer), calibration),
  };
}

/** The average of English and code, in characters per token. */
const charactersPerToken = 3.6;

/** The assumed size of an image or file of unknown size. */
const mediaTokens = 1_600;

/**
 * Counts by length alone, without reading characters. Enough for a session, because replies give the
 * exact count of all but the newest messages.
 */
export const lengthCounter: TokenCounter = {
  text: (text) => Math.ceil(text.length / charactersPerToken),
  message: ({ content }) => content.reduce((sum, block) => sum + blockTokensByLength(block), 0),
};

function blockTokensByLength(block: Block): number {
  switch (block.type) {
    case "text":
      return lengthCounter.text(block.text);
    case "tool_use":
      return lengthCounter.text(block.name) + lengthCounter.text(block.inputJson);
    case "tool_result":
      return lengthCounter.message({ role: "tool", content: block.content });
    case "thinking":
      return lengthCounter.text(block.signature ?? block.text);
    case "redacted_thinking":
      return lengthCounter.text(block.data);
    case "compaction":
      return lengthCounter.text(block.content ?? "");
    case "image":
      return mediaTokens;
    case "document":
      return block.source.kind === "text" ? lengthCounter.text(block.source.data) : mediaTokens;
    case "opaque":
      return lengthCounter.text(block.json);
  }
}
