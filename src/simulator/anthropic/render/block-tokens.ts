// Tokens of one block in the prompt; the same for counting and billing.
import type { Tokenizer } from "../../../core/models/model-facts.ts";
import type { PromptCounter } from "../../count-tokens.ts";
import { readImageSize } from "../../image-size.ts";
import { compactJson, type JsonObject } from "../../json-source.ts";
import { textOr } from "../request/read-fields.ts";
import { childrenOf, typeOf } from "../request/read-blocks.ts";
import { renderBlock, renderTool } from "./render-text.ts";
import { toolChangeOf, type ReadTool, type ToolsByName } from "../request/read-tools.ts";

export interface TokenScale {
  readonly counter: PromptCounter;
  readonly tokenizer: Tokenizer;
}

export function toolTokens(tool: ReadTool, { counter, tokenizer }: TokenScale): number {
  return counter.text(renderTool(tool), tokenizer) + counter.constant("tool", tokenizer);
}

export function blockTokens(block: JsonObject, scale: TokenScale, tools: ToolsByName): number {
  const { counter, tokenizer } = scale;
  const text = (name: string): number => counter.text(textOr(block, name, ""), tokenizer);
  const inside = (): number =>
    childrenOf(block).reduce((sum, child) => sum + blockTokens(child, scale, tools), 0);
  switch (typeOf(block)) {
    case "text":
      return text("text");
    case "thinking":
      return counter.signature(textOr(block, "signature", "").length, tokenizer);
    case "redacted_thinking":
      return counter.signature(textOr(block, "data", "").length, tokenizer);
    case "tool_use":
      return toolUseTokens(textOr(block, "name", ""), inputText(block), scale);
    case "tool_result":
      return text("content") + inside() + counter.constant("toolResult", tokenizer);
    case "image":
      return counter.image(imageSizeOf(block));
    case "document":
      return text("title") + text("context") + inside() + documentTokens(block, scale);
    case "search_result":
      return text("title") + text("source") + inside();
    case "compaction":
      return text("content");
    case "tool_reference": {
      const tool = tools.get(textOr(block, "tool_name", ""));
      return tool?.deferred === true ? toolTokens(tool, scale) : text("tool_name");
    }
    case "tool_addition":
    case "tool_removal": {
      const change = toolChangeOf(block, tools);
      if (change === null) return counter.text(renderBlock(block, tools), tokenizer);
      return change.definition === null
        ? counter.text(change.name, tokenizer)
        : toolTokens(change.definition, scale);
    }
    default:
      return counter.text(renderBlock(block, tools), tokenizer);
  }
}

export function toolUseTokens(name: string, inputJson: string, scale: TokenScale): number {
  const { counter, tokenizer } = scale;
  return counter.text(`${name} ${inputJson}`, tokenizer) + counter.constant("toolUse", tokenizer);
}

function inputText(block: JsonObject): string {
  const input = block.fields.get("input");
  return input === undefined ? "{}" : compactJson(input);
}

function imageSizeOf(block: JsonObject): ReturnType<typeof readImageSize> {
  const source = block.fields.get("source");
  if (source?.kind !== "object" || textOr(source, "type", "") !== "base64") return null;
  return readImageSize(textOr(source, "data", ""));
}

/** The middle of the published 1,500 to 3,000 tokens per page. */
const tokensPerPage = 2250;

/** Text by tokens, a PDF by its pages. One page if the pages cannot be counted or the document is a URL. */
function documentTokens(block: JsonObject, { counter, tokenizer }: TokenScale): number {
  const source = block.fields.get("source");
  if (source?.kind !== "object") return 0;
  const data = textOr(source, "data", "");
  switch (textOr(source, "type", "")) {
    case "text":
      return counter.text(data, tokenizer);
    case "content":
      return counter.text(textOr(source, "content", ""), tokenizer);
    case "base64": {
      const pages = Buffer.from(data, "base64")
        .toString("latin1")
        .match(/\/Type\s*\/Page(?!s)/g);
      return tokensPerPage * (pages?.length ?? 1);
    }
    default:
      return tokensPerPage;
  }
}
