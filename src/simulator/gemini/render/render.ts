// Renders a prompt into the blocks that are billed: tools, system text, contents.
import type { ModelFacts } from "../../../core/models/model-facts.ts";
import type { BillableBlock, BilledTier } from "../../billing/billable-request.ts";
import type { PromptCounter } from "../../count-tokens.ts";
import { cutText } from "../../cut-text.ts";
import { hashText } from "../../ids.ts";
import type { Media, Part } from "../request/contents.ts";
import type { PromptPart } from "../request/read-request.ts";

export interface Rendering {
  readonly blocks: readonly BillableBlock[];
  readonly modalities: readonly Modality[];
  readonly totalTokens: number;
}

/** A part of the prompt by its medium, as usage shows it. */
export interface Modality {
  readonly modality: (typeof modalities)[number];
  readonly tokenCount: number;
}

const modalities = ["TEXT", "IMAGE", "AUDIO", "VIDEO", "DOCUMENT"] as const;

interface Piece {
  /** Equal content means equal rendered bytes. */
  readonly content: string;
  readonly tokens: number;
  readonly tier: BilledTier;
  readonly modality: Modality["modality"];
  readonly run: BillableBlock["run"];
}

type Place = Pick<Piece, "tier" | "run">;

/** Counts the tokens of a model's prompts. */
interface Scale {
  text(text: string): number;
  readonly counter: PromptCounter;
  readonly tokenizer: ModelFacts["tokenizer"];
}

/**
 * Counting and billing both use this, so they agree. The opening of the reply is the last block, a new one each time: at
 * least that much is never read.
 */
export function renderPrompt(
  prompt: PromptPart,
  replyId: string,
  facts: ModelFacts,
  counter: PromptCounter,
): Rendering {
  const scale = scaleOf(facts, counter);
  const reply = counter.constant("reply", facts.tokenizer);
  const opening: Piece = {
    ...textPiece(`reply\n${replyId}`, 0, { tier: "messages", run: null }),
    tokens: reply,
  };
  return toRendering([...pieceList(prompt, scale), opening]);
}

/** What is stored is a beginning of a prompt, so no reply opens there. */
export function renderStored(
  prompt: PromptPart,
  facts: ModelFacts,
  counter: PromptCounter,
): Rendering {
  return toRendering(pieceList(prompt, scaleOf(facts, counter)));
}

function scaleOf({ tokenizer }: ModelFacts, counter: PromptCounter): Scale {
  return { text: (text) => counter.text(text, tokenizer), counter, tokenizer };
}

function pieceList(prompt: PromptPart, scale: Scale): readonly Piece[] {
  const { counter, tokenizer } = scale;
  const perTool = counter.constant("tool", tokenizer);
  const tools = prompt.tools.map(({ source }) =>
    textPiece(`tool\n${source}`, perTool + scale.text(source), { tier: "tools", run: null }),
  );
  const choice = prompt.toolChoice.source;
  const config =
    choice === ""
      ? []
      : [textPiece(`tool config\n${choice}`, scale.text(choice), { tier: "tools", run: null })];
  const system = withHead("system", prompt.system, { tier: "system", run: null }, scale);
  const contents = prompt.contents.flatMap(({ role, parts }) =>
    withHead(role, parts, { tier: "messages", run: null }, scale),
  );
  return [...tools, ...config, ...system, ...contents];
}

/** The role comes first, and is text whatever follows. */
function withHead(
  role: string,
  parts: readonly Part[],
  place: Place,
  scale: Scale,
): readonly Piece[] {
  if (parts.length === 0) return [];
  const head = scale.counter.constant("message", scale.tokenizer);
  return [
    textPiece(`role\n${role}`, head, place),
    ...parts.flatMap((part) => piecesOfPart(part, place, scale)),
  ];
}

function piecesOfPart(part: Part, place: Place, scale: Scale): readonly Piece[] {
  return [...bodyOf(part, place, scale), ...signatureOf(part, place, scale)];
}

/** A signature that is sent back is input: it carries the thought. */
function signatureOf({ signature }: Part, place: Place, scale: Scale): readonly Piece[] {
  if (signature === null || signature === "") return [];
  const tokens = scale.counter.signature(signature.length, scale.tokenizer);
  return [textPiece(`signature\n${signature}`, tokens, place)];
}

function bodyOf(part: Part, place: Place, scale: Scale): readonly Piece[] {
  const { counter, tokenizer } = scale;
  switch (part.kind) {
    case "text": {
      const kind = part.isThought ? "thought" : "text";
      return cutText(part.text).map((text) =>
        textPiece(`${kind}\n${text}`, scale.text(text), place),
      );
    }
    case "media":
      return [mediaPiece(part, place, scale)];
    case "call": {
      const tokens =
        counter.constant("toolUse", tokenizer) + scale.text(part.name) + scale.text(part.argsJson);
      const content = `call\n${part.id ?? ""}\n${part.name}\n${part.argsJson}`;
      return [textPiece(content, tokens, { ...place, run: "tool_use" })];
    }
    case "response": {
      const run: Place = { ...place, run: "tool_result" };
      const head = counter.constant("toolResult", tokenizer) + scale.text(part.name);
      const [first = "", ...rest] = cutText(part.responseJson);
      const opening = `response\n${part.id ?? ""}\n${part.name}\n${first}`;
      return [
        textPiece(opening, head + scale.text(first), run),
        ...rest.map((text) => textPiece(`response text\n${text}`, scale.text(text), run)),
        ...part.media.map((media) => mediaPiece(media, run, scale)),
      ];
    }
    case "other":
      return [textPiece(`part\n${part.source}`, scale.text(part.source), place)];
  }
}

/** Media other than images are not opened: their length is converted, at so many bytes per token. */
const bytesPerToken = { AUDIO: 1_000, VIDEO: 1_000, DOCUMENT: 200 } as const;

function mediaPiece({ mimeType, source, size, bytes }: Media, place: Place, scale: Scale): Piece {
  const modality = modalityOf(mimeType);
  const tokens =
    modality === "IMAGE" || modality === "TEXT"
      ? scale.counter.image(size)
      : Math.max(1, Math.ceil(bytes / bytesPerToken[modality]));
  return { content: `media\n${source}`, tokens, modality, ...place };
}

function modalityOf(mimeType: string): Modality["modality"] {
  const kind = mimeType.slice(0, mimeType.indexOf("/"));
  if (kind === "image") return "IMAGE";
  if (kind === "audio") return "AUDIO";
  return kind === "video" ? "VIDEO" : "DOCUMENT";
}

function textPiece(content: string, tokens: number, place: Place): Piece {
  return { content, tokens, modality: "TEXT", ...place };
}

function toRendering(pieces: readonly Piece[]): Rendering {
  return {
    blocks: pieces.map(({ content, tokens, tier, run }) => ({
      hash: hashText(content),
      tokens,
      tier,
      run,
      boundary: null,
    })),
    modalities: modalities
      .map((modality) => ({
        modality,
        tokenCount: sumTokens(pieces.filter((piece) => piece.modality === modality)),
      }))
      .filter(({ tokenCount }) => tokenCount > 0),
    totalTokens: sumTokens(pieces),
  };
}

function sumTokens(pieces: readonly Piece[]): number {
  return pieces.reduce((sum, { tokens }) => sum + tokens, 0);
}
