// A block as a reader found it: hashed and counted, but not yet in tokens of a model.
import { hashContent } from "../../core/hash.ts";
import type { Block } from "../../core/message/message.ts";
import { promptTokens, type Lifetime, type Usage } from "../../core/message/usage.ts";
import type { Tokenizer } from "../../core/models/model-facts.ts";
import { findModel } from "../../core/models/resolve-model.ts";
import { estimateTokens } from "../../core/tokens/estimate.ts";
import { createLru, type Lru } from "../../core/tokens/lru.ts";
import type { TextCounter } from "../../core/tokens/o200k/counter.ts";
import { countMessage, type RawCount } from "../../core/tokens/raw-count.ts";
import type { BlockDraft as ReadBlock } from "../../core/wire/foreign/foreign-request.ts";
import { hashDraft } from "../../core/wire/foreign/read-request.ts";
import type { RecordedBlock } from "../recording.ts";
import { detach, excerptAt, excerptLengthMax } from "../../core/diagnosis/excerpt.ts";

export interface BlockDraft extends Omit<RecordedBlock, "tokens"> {
  /** The raw count of its content, or its tokens if they are known. */
  readonly size: RawCount | number;
  /** Whether it or a block inside it is an image. */
  readonly hasImage: boolean;
  /** Its recorded marker. */
  readonly marker: Lifetime | null;
}

/** What readers need to make drafts. */
export interface Drafting {
  readonly counter: TextCounter;
  /** A log repeats blocks in every request; the cache counts each once. */
  readonly counts: Lru<RawCount>;
  readonly excerpts: boolean;
}

const countsMax = 20_000;

export function createDrafting(counter: TextCounter, excerpts: boolean): Drafting {
  return { counter, counts: createLru(countsMax), excerpts };
}

/** Hashes and counts the blocks that a protocol read. `isReplyOpen`: whether the first one continues a reply. */
export function createDrafts(
  read: readonly ReadBlock[],
  drafting: Drafting,
  isReplyOpen = false,
): BlockDraft[] {
  return read.map((block, index) => {
    const isGoingOn = index === 0 ? isReplyOpen : read[index - 1]?.role === "assistant";
    return createDraft(block, block.role === "assistant" && !isGoingOn, drafting);
  });
}

/** `opensReply`: some tokenizers frame each reply. */
function createDraft(
  read: ReadBlock,
  opensReply: boolean,
  { counter, counts, excerpts }: Drafting,
): BlockDraft {
  const { tier, kind, role, endsMessage, mayCarryMarker } = read;
  const hash = hashDraft(read);
  const content = read.counted ?? { type: "text", text: read.text };
  const count = (): RawCount => countMessage({ role: "user", content: [content] }, counter);
  const seen = read.counted === null ? 0 : (counts.get(hash) ?? count());
  if (typeof seen !== "number") counts.set(hash, seen);
  return {
    tier,
    kind,
    role,
    endsMessage,
    mayCarryMarker,
    hash,
    size: typeof seen === "object" && opensReply ? { ...seen, replies: 1 } : seen,
    hasImage: holdsImage(content),
    // The outermost marker comes last.
    marker: read.markers.at(-1)?.lifetime ?? null,
    ...(excerpts ? { excerpt: toExcerpt(content) } : {}),
  };
}

/** What a first request was billed for, and what the recording shows of it. */
export interface FirstBill {
  readonly usage: Usage | null;
  readonly model: string | null;
  readonly shown: readonly BlockDraft[];
}

/** Stands for what a first request was billed for and the recording does not show. Empty where that is nothing. */
export function draftHidden(
  owner: string,
  tier: "T0" | "T1",
  { usage, model, shown }: FirstBill,
  drafting: Drafting,
): BlockDraft[] {
  if (usage === null || promptTokens(usage) > tokensMaxOf(model)) return [];
  const tokenizer = tokenizerOf(model);
  const shownTokens = shown.reduce((sum, draft) => sum + draftTokens(draft, tokenizer), 0);
  const tokens = promptTokens(usage) - shownTokens;
  return tokens <= 0 ? [] : [hiddenDraft(owner, tokens, tier, drafting)];
}

/** One block of known size, equal to no other owner's. */
export function hiddenDraft(
  owner: string,
  tokens: number,
  tier: "T0" | "T1",
  { excerpts }: Drafting,
): BlockDraft {
  const isTools = tier === "T0";
  return {
    hash: hashContent(`hidden ${tier}\n${owner}`),
    size: tokens,
    tier,
    kind: isTools ? "tool definition" : "system text",
    role: isTools ? "tools" : "system",
    endsMessage: true,
    mayCarryMarker: true,
    hasImage: false,
    marker: null,
    ...(excerpts ? { excerpt: "(not in the recording)" } : {}),
  };
}

/** A provider that seals reasoning bills it by its reasoning tokens when it is sent back. */
export function sizeReasoning(drafts: readonly BlockDraft[], tokens: number): BlockDraft[] {
  const count = drafts.filter(({ kind }) => kind === "thinking").length;
  const size = Math.round(tokens / Math.max(1, count));
  return drafts.map((draft) => (draft.kind === "thinking" ? { ...draft, size } : draft));
}

/** Converts the size to tokens of one model. */
export function toRecordedBlock(draft: BlockDraft, tokenizer: Tokenizer): RecordedBlock {
  const { size: _size, hasImage: _hasImage, marker: _marker, ...block } = draft;
  return { ...block, tokens: draftTokens(draft, tokenizer) };
}

function draftTokens({ size }: BlockDraft, tokenizer: Tokenizer): number {
  return typeof size === "number" ? size : estimateTokens(size, tokenizer);
}

/** A missing or unknown model gets a tokenizer that counts high. */
export function tokenizerOf(model: string | null): Tokenizer {
  if (model === null) return "other";
  return findModel(model)?.facts.tokenizer ?? "other";
}

/** More tokens than a request to the model can have: a bill beyond it is a mistake. */
export function tokensMaxOf(model: string | null): number {
  const window = model === null ? undefined : findModel(model)?.facts.windowTokens;
  return windowsMax * (window ?? unknownWindowTokens);
}

const windowsMax = 100;
const unknownWindowTokens = 10_000_000;

function holdsImage(block: Block): boolean {
  return block.type === "image" || (block.type === "tool_result" && block.content.some(holdsImage));
}

/** Only this much is read, so text after more leading white space does not show. */
const charactersRead = 8 * excerptLengthMax;

/** At most 80 characters on one line, with visible control characters; safe to print, never splits a character. */
export function toExcerpt(block: Block): string {
  const words = wordsOf(block);
  const isCut = words.length > charactersRead;
  // A surrogate pair at the cut is dropped.
  const head = isCut ? words.slice(0, charactersRead).replace(/[\ud800-\udbff]$/, "") : words;
  const line = head.replaceAll(/\s+/g, " ").trim();
  if (line === "") return isCut ? "…" : "(empty)";
  const shown = excerptAt(line, 0);
  // A substring would keep the whole text in memory.
  return detach(isCut && !shown.endsWith("…") ? `${shown}…` : shown);
}

function wordsOf(block: Block): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "tool_use":
      return `${block.name} ${block.inputJson}`;
    case "tool_result":
      return block.content.map(wordsOf).join(" ");
    case "thinking":
      return block.text === "" ? "(thinking)" : block.text;
    case "redacted_thinking":
      return "(redacted thinking)";
    case "compaction":
      return block.content ?? "(compaction)";
    case "image":
      return "(image)";
    case "document":
      return block.title ?? "(document)";
    case "opaque":
      return block.json;
  }
}
