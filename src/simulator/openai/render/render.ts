// Renders the prompt: blocks to bill, explicit breakpoints, and implicit boundaries.
import type { BillableBlock, BillableMarker } from "../../billing/billable-request.ts";
import type { PromptCounter } from "../../count-tokens.ts";
import { hashText } from "../../ids.ts";
import { isInitial, isToolOutput, type Item } from "../request/items.ts";
import type { ReadRequest } from "../request/read-request.ts";
import { createScale, renderItem, type Piece, type Scale } from "./render-item.ts";

export interface Rendering {
  readonly blocks: readonly BillableBlock[];
  readonly markers: readonly BillableMarker[];
  readonly totalTokens: number;
  readonly imageTokens: number;
  readonly audioTokens: number;
}

/** Counting and billing both use this, so they agree. */
export function render(request: ReadRequest, counter: PromptCounter): Rendering {
  const scale = createScale(request, counter);
  // Tools come first: a change to them invalidates everything after them.
  const pieces = [...toolPieces(request, scale)];
  const boundaries: Boundaries = { initial: -1, eligible: [] };
  const items = [...instructionItems(request), ...request.items];
  let isLeading = true;
  for (const [index, item] of items.entries()) {
    isLeading &&= isInitial(item);
    const tier = !isLeading ? "messages" : item.kind === "tools" ? "tools" : "system";
    for (const piece of renderItem(item, tier, scale)) pieces.push(piece);
    const last = pieces.length - 1;
    if (isLeading && item.kind === "message") boundaries.initial = last;
    if (isEligible(item, items[index + 1])) boundaries.eligible.push(last);
  }
  const reply = { content: "reply", tokens: scale.constant("reply"), tier: "messages" } as const;
  pieces.push({ ...reply, run: null, medium: "text", marker: null });
  return toRendering(pieces, boundaries, request);
}

function toolPieces({ tools }: ReadRequest, scale: Scale): readonly Piece[] {
  return tools
    .filter(({ isDeferred }) => !isDeferred)
    .map(({ source }) => ({
      content: `tool\n${source}`,
      tokens: scale.text(source) + scale.constant("tool"),
      tier: "tools",
      run: null,
      medium: "text",
      marker: null,
    }));
}

/** Instructions are a system message before all others. */
function instructionItems({ instructions }: ReadRequest): readonly Item[] {
  if (instructions === null) return [];
  const parts = [{ kind: "text", text: instructions, marker: null }] as const;
  return [{ kind: "message", role: "system", label: "", parts }];
}

interface Boundaries {
  /** The last of the developer messages at the start; -1 for none. */
  initial: number;
  readonly eligible: number[];
}

/** A user message, or the last of a group of tool outputs. */
function isEligible(item: Item, next: Item | undefined): boolean {
  if (item.kind === "message") return item.role === "user";
  return isToolOutput(item) && (next === undefined || !isToolOutput(next));
}

function toRendering(
  pieces: readonly Piece[],
  { initial, eligible }: Boundaries,
  { cache }: ReadRequest,
): Rendering {
  // Without an eligible message, the end of the initial group takes its place.
  const endings = new Set(eligible.length === 0 ? [initial] : eligible);
  return {
    blocks: pieces.map(({ content, tokens, tier, run }, index) => ({
      hash: hashText(content),
      tokens,
      tier,
      run,
      boundary: endings.has(index)
        ? "eligible message"
        : index === initial
          ? "initial group"
          : null,
    })),
    markers: pieces.flatMap(({ marker }, block): BillableMarker[] =>
      marker === null
        ? []
        : [{ block, lifetime: marker.lifetime ?? cache.lifetime, origin: "explicit" }],
    ),
    totalTokens: sumTokens(pieces),
    imageTokens: sumTokens(pieces.filter(({ medium }) => medium === "image")),
    audioTokens: sumTokens(pieces.filter(({ medium }) => medium === "audio")),
  };
}

function sumTokens(pieces: readonly Piece[]): number {
  return pieces.reduce((sum, { tokens }) => sum + tokens, 0);
}
