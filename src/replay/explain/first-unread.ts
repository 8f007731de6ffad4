// Excerpts of the first unread block of a call, and of the block that changed.
import type { Explanation, MissCause } from "../../core/diagnosis/explanation.ts";
import { sharedBlocks } from "../../core/diagnosis/find-divergence.ts";
import type { TrackedEntry } from "../../core/diagnosis/kept-prefixes.ts";
import type { PromptView } from "../../core/diagnosis/prompt-view.ts";
import { scaledRuler, type RememberedCall } from "../../core/diagnosis/remember-call.ts";
import type { ContentHash } from "../../core/hash.ts";
import type { Usage } from "../../core/message/usage.ts";
import type { RecordedBlock } from "../recording.ts";

export interface UnreadBlock {
  /** In the form explanations use. */
  readonly path: string;
  readonly excerpt: string;
}

export interface ReadCall {
  readonly view: PromptView;
  /** The recorded blocks; equal hashes mean equal content. */
  readonly blocks: readonly RecordedBlock[];
  readonly usage: Usage;
  /** The provider's entries before the call. */
  readonly entries: readonly TrackedEntry[];
  /** The thread's previous call, or null. */
  readonly before: Pick<RememberedCall, "blocks"> | null;
}

/** The first unread block; null if the recording has no excerpt of it. */
export function findUnreadBlock(call: ReadCall): UnreadBlock | null {
  const block = call.view.blocks[firstUnread(call)];
  const excerpt = excerptOf(call.blocks, block?.hash);
  return block === undefined || excerpt === null ? null : { path: block.path, excerpt };
}

/** A read ends at a known entry. Without one, our own count decides and can be one block off. */
function firstUnread({ view, usage, entries, before }: ReadCall): number {
  const read = usage.cacheReadTokens;
  if (read === 0) return 0;
  const toleranceTokens = Math.max(tokensMin, read * toleranceShare);
  let end: { readonly block: number; readonly off: number } | null = null;
  for (const { block, key, tokens } of entries) {
    const off = Math.abs(tokens - read);
    if (view.blocks[block]?.key !== key || off > toleranceTokens) continue;
    // If two entries are equally close, the longer prefix is read.
    const isNearer = end === null || off < end.off || (off === end.off && block > end.block);
    if (isNearer) end = { block, off };
  }
  const last = view.blocks.length - 1;
  if (end !== null) return Math.min(last, end.block + 1);
  const ruler = scaledRuler(view, usage);
  const counted = view.blocks.findIndex((_, index) => ruler(index) > read + toleranceTokens);
  const shared = before === null ? last : sharedBlocks(before.blocks, view.blocks);
  return Math.min(counted === -1 ? last : counted, shared, last);
}

const tokensMin = 64;
const toleranceShare = 0.02;

/** Adds excerpts of the first different block, before and after, if the recording has them. */
export function withExcerpts(
  explanation: Explanation,
  before: { readonly blocks: readonly RecordedBlock[]; readonly last: RememberedCall },
  { view, blocks }: Pick<ReadCall, "view" | "blocks">,
): Explanation {
  const { cause, block } = explanation;
  if (block === null || !contentCauses.has(cause)) return explanation;
  const old = before.last.blocks[block.index]?.hash;
  const now = view.blocks[block.index]?.hash;
  const excerpts =
    old === now
      ? { before: null, after: null }
      : { before: excerptOf(before.blocks, old), after: excerptOf(blocks, now) };
  return { ...explanation, block: { ...block, ...excerpts } };
}

const contentCauses: ReadonlySet<MissCause> = new Set([
  "tools changed",
  "tools reordered",
  "system changed",
  "history rewritten",
]);

function excerptOf(blocks: readonly RecordedBlock[], hash: ContentHash | undefined): string | null {
  return blocks.find((block) => block.hash === hash)?.excerpt ?? null;
}
