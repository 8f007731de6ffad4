// Renders one item of a conversation into the pieces that are hashed and counted.
import type { BillableBlock, BilledTier } from "../../billing/billable-request.ts";
import type { PromptCounter, TokenConstant } from "../../count-tokens.ts";
import { cutText } from "../../cut-text.ts";
import { isToolOutput, isToolUse, type Item, type Marker, type Part } from "../request/items.ts";
import type { ReadRequest } from "../request/read-request.ts";
import { foreignTokens, unseal } from "./sealed.ts";

export interface Piece {
  /** Equal content means equal rendered bytes. */
  readonly content: string;
  readonly tokens: number;
  readonly tier: BilledTier;
  readonly run: BillableBlock["run"];
  readonly medium: "text" | "image" | "audio";
  /** The client's breakpoint at the end of the piece. */
  readonly marker: Marker | null;
}

export interface Scale {
  text(text: string): number;
  constant(name: TokenConstant): number;
  image(size: Parameters<PromptCounter["image"]>[0]): number;
  /** Whether to cut text into pieces, because the provider keeps any prefix of it. */
  readonly cutsText: boolean;
}

export function createScale(
  { facts, keeping }: Pick<ReadRequest, "facts" | "keeping">,
  counter: PromptCounter,
): Scale {
  const { tokenizer, cache } = facts;
  const boundary = keeping?.boundary ?? cache.automatic?.boundary;
  return {
    text: (text) => counter.text(text, tokenizer),
    constant: (name) => counter.constant(name, tokenizer),
    image: (size) => counter.image(size),
    cutsText: boundary === "every step" || boundary === "slots",
  };
}

/** Item ids are not rendered. Call ids are, because they connect an output to its use. */
export function renderItem(item: Item, tier: BilledTier, scale: Scale): readonly Piece[] {
  const one = (content: string, tokens: number, run: Piece["run"] = null): readonly Piece[] => [
    { content, tokens, tier, run, medium: "text", marker: null },
  ];
  switch (item.kind) {
    case "message":
      return renderParts(`${item.role}\n${item.label}`, item.parts, tier, scale);
    case "tool use": {
      const tokens = scale.constant("toolUse") + scale.text(item.name) + scale.text(item.input);
      return one(`tool use\n${item.callId}\n${item.name}\n${item.input}`, tokens, "tool_use");
    }
    case "tool output":
      return renderParts(`tool output\n${item.callId}`, item.parts, tier, scale, "tool_result");
    case "tools": {
      const tokens = scale.text(item.source) + scale.constant("tool") * item.tools.length;
      return one(`tools\n${item.source}`, tokens);
    }
    case "reasoning":
    case "compaction": {
      const summary = item.kind === "reasoning" ? item.summary : "";
      const text = item.sealed === null ? summary : unseal(item.sealed);
      const tokens = text === null ? foreignTokens(item.sealed ?? "") : scale.text(text);
      return one(`${item.kind}\n${item.sealed ?? summary}`, tokens);
    }
    case "configuration":
    case "other": {
      const run = isToolUse(item) ? "tool_use" : isToolOutput(item) ? "tool_result" : null;
      return one(`item\n${item.source}`, scale.text(item.source), run);
    }
  }
}

/** The head (a role, or the call it answers) is part of the first piece. */
function renderParts(
  head: string,
  parts: readonly Part[],
  tier: BilledTier,
  scale: Scale,
  run: Piece["run"] = null,
): readonly Piece[] {
  const headTokens = scale.constant(run === null ? "message" : "toolResult");
  const pieces = parts.flatMap((part) => renderPart(part, scale));
  const [first = { content: "", tokens: 0, medium: "text", marker: null } as const, ...rest] =
    pieces;
  const begun = {
    ...first,
    content: `${head}\n${first.content}`,
    tokens: headTokens + first.tokens,
  };
  return [begun, ...rest].map((piece) => ({ ...piece, tier, run }));
}

function renderPart(part: Part, scale: Scale): readonly Omit<Piece, "tier" | "run">[] {
  const { marker } = part;
  switch (part.kind) {
    case "text": {
      const texts = scale.cutsText ? cutText(part.text) : [part.text];
      return texts.map((text, index) => ({
        content: `text\n${text}`,
        tokens: scale.text(text),
        medium: "text",
        marker: index === texts.length - 1 ? marker : null,
      }));
    }
    case "image": {
      const tokens = scale.image(part.size);
      return [{ content: `image\n${part.source}`, tokens, medium: "image", marker }];
    }
    case "file":
    case "audio": {
      const { kind, source, tokens } = part;
      const medium = kind === "audio" ? "audio" : "text";
      return [{ content: `${kind}\n${source}`, tokens, medium, marker }];
    }
  }
}
