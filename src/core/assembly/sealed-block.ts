// A prompt block with its place in the bytes, made once.
import { extendPrefixKey, hashContent, type ContentHash } from "../hash.ts";
import { growingBytes, type GrowingBytes } from "../growing/growing-bytes.ts";
import { escapeLoneSurrogates } from "../message/json-text.ts";
import type { Lifetime } from "../message/usage.ts";
import type { Tier } from "../tokens/budget.ts";
import type { PromptBlock } from "./prompt-block.ts";
import type { SpelledBlock } from "./spelling.ts";

/** The array of the request that holds a block. */
export type Region = "tools" | "system" | "messages" | "volatile";

export interface SealedBlock extends PromptBlock {
  readonly region: Region;
  /** Where a marker goes in its region. Null if the block cannot carry one. */
  readonly markerAt: number | null;
  /** Where its bytes end in its region. They begin where those of the block before end. */
  readonly endByte: number;
}

/** The end of the sealed part of a prompt. */
export interface SealedEnd {
  readonly key: ContentHash;
  readonly tokens: number;
}

export interface SealedRegion {
  readonly blocks: readonly SealedBlock[];
  readonly bytes: GrowingBytes;
  readonly end: SealedEnd;
}

export interface SealingOptions {
  readonly region: Region;
  readonly tierOf: (index: number) => Tier;
  readonly tokensOf: (spelled: SpelledBlock, index: number) => number;
  readonly labelOf?: (index: number) => string;
  readonly lifetimeOf?: (index: number) => Lifetime | undefined;
}

/** Appends blocks to the existing bytes and chains their keys to the existing key. */
export function sealBlocks(
  spelled: readonly SpelledBlock[],
  start: SealedEnd,
  { region, tierOf, tokensOf, labelOf, lifetimeOf }: SealingOptions,
  before: GrowingBytes = growingBytes(),
): SealedRegion {
  let { key, tokens: endTokens } = start;
  let bytes = before;
  const blocks = spelled.map((each, index): SealedBlock => {
    const json = escapeLoneSurrogates(each.json);
    bytes = bytes.append(json);
    key = extendPrefixKey(key, hashContent(json));
    const tokens = tokensOf(each, index);
    endTokens += tokens;
    const { kind, role, endsMessage, markerFromEnd } = each;
    const lifetime = lifetimeOf?.(index);
    return {
      key,
      tokens,
      endTokens,
      tier: tierOf(index),
      kind,
      role,
      endsMessage,
      mayCarryMarker: markerFromEnd !== null,
      ...(labelOf === undefined ? {} : { label: labelOf(index) }),
      ...(lifetime === undefined ? {} : { lifetime }),
      region,
      markerAt: markerFromEnd === null ? null : bytes.length - markerFromEnd,
      endByte: bytes.length,
    };
  });
  return { blocks, bytes, end: { key, tokens: endTokens } };
}
