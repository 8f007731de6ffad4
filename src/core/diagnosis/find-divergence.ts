// The first block where two prompts differ, and what that block is.
import type { ContentHash } from "../hash.ts";
import { byteLength, excerptAt, sharedEnding, sharedLength } from "./excerpt.ts";
import type { RememberedBlock } from "./remember-call.ts";
import type { ViewBlock } from "./prompt-view.ts";
import type { Tier } from "../tokens/budget.ts";

/** A place in the request, for people. */
export interface BlockPlace {
  /** Among the blocks the provider reads, from 0. */
  readonly index: number;
  readonly path: string;
  readonly tier: Tier;
  readonly section: string;
  /** Place of the first difference in the block's text; null if there is none or the text is unknown. */
  readonly byteOffset: number | null;
  /** At most 80 characters, control characters made visible; null if absent or unknown. */
  readonly before: string | null;
  readonly after: string | null;
}

export type ContentCause =
  | "tools changed"
  | "tools reordered"
  | "system changed"
  | "history rewritten";

/** Finds the text of an earlier block; undefined if it is not kept. */
export type TextOfHash = (hash: ContentHash) => string | undefined;

/** Number of equal blocks at the beginning. Keys are chained, so a binary search finds it. */
export function sharedBlocks(
  before: readonly RememberedBlock[],
  now: readonly Pick<ViewBlock, "contentKey">[],
): number {
  let low = 0;
  let high = Math.min(before.length, now.length);
  while (low < high) {
    const middle = (low + high) >> 1;
    if (before[middle]?.contentKey === now[middle]?.contentKey) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The cause at the first block that differs: the earlier tier of the two blocks there. */
export function contentCause(
  before: readonly RememberedBlock[],
  now: readonly ViewBlock[],
  at: number,
): ContentCause {
  const tiers = [before[at]?.tier, now[at]?.tier];
  if (tiers.includes("T0")) return isReordered(before, now) ? "tools reordered" : "tools changed";
  return tiers.includes("T1") || tiers.includes("T2") ? "system changed" : "history rewritten";
}

function isReordered(before: readonly RememberedBlock[], now: readonly ViewBlock[]): boolean {
  return toolHashes(before) === toolHashes(now);
}

function toolHashes(blocks: readonly (RememberedBlock | ViewBlock)[]): string {
  const tools = blocks.filter(({ tier }) => tier === "T0");
  return tools
    .map(({ hash }) => hash)
    .toSorted()
    .join();
}

/** Describes the current block, or the earlier one if it is gone. */
export function describeDifference(
  before: readonly RememberedBlock[],
  now: readonly ViewBlock[],
  at: number,
  textBefore: TextOfHash,
): BlockPlace | null {
  const old = before[at];
  const current = now[at];
  const named = current ?? old;
  if (named === undefined) return null;
  const { path, tier, section } = named;
  const place = { index: at, path, tier, section };
  const oldText = old === undefined ? undefined : textBefore(old.hash);
  if (current === undefined || oldText === undefined) {
    return {
      ...place,
      byteOffset: null,
      before: oldText === undefined ? null : excerptAt(oldText, 0),
      after: current === undefined ? null : excerptAt(current.text, 0),
    };
  }
  const shared = sharedLength(oldText, current.text);
  if (oldText === current.text && old !== undefined) {
    // The same text in another role, or as another kind of block.
    const names = [`${old.role} ${old.kind}`, `${current.role} ${current.kind}`] as const;
    return { ...place, byteOffset: 0, before: names[0], after: names[1] };
  }
  return {
    ...place,
    byteOffset: byteLength(current.text.slice(0, shared)),
    before: excerptAt(oldText, shared),
    after: excerptAt(current.text, shared),
  };
}

/** A place without a difference in it. */
export function describePlace(blocks: readonly ViewBlock[], index: number): BlockPlace | null {
  const block = blocks[index];
  if (block === undefined) return null;
  const { path, tier, section } = block;
  return { index, path, tier, section, byteOffset: null, before: null, after: null };
}

/** Whether a block is an edited version of an earlier one, not a different block. */
export function isEdited(
  old: RememberedBlock | undefined,
  current: ViewBlock | undefined,
  textBefore: TextOfHash,
): boolean {
  if (old === undefined || current === undefined) return false;
  if (old.role !== current.role || old.kind !== current.kind) return false;
  const oldText = textBefore(old.hash);
  if (oldText === undefined) return false;
  const beginning = sharedLength(oldText, current.text);
  const same = beginning + sharedEnding(oldText, current.text, beginning);
  return same >= editedLengthMin && same * 2 >= Math.min(oldText.length, current.text.length);
}

/** Two tool results share less than this anyway: field names and ids. */
const editedLengthMin = 100;

/** Whether the new part has no reply: another ending of the conversation, or another conversation with the same start. */
export function branchesOff(
  before: readonly RememberedBlock[],
  now: readonly ViewBlock[],
  at: number,
): boolean {
  if (at === 0 || before[at]?.tier !== "T3" || now[at]?.tier !== "T3") return false;
  return !now.slice(at).some(({ role }) => role === "assistant");
}

/** A branch from a place without a marker. An edit of the last message is not a branch. */
export function isUnmarkedBranch(
  before: readonly RememberedBlock[],
  now: readonly ViewBlock[],
  at: number,
  textBefore: TextOfHash,
): boolean {
  if (!branchesOff(before, now, at)) return false;
  return now[at - 1]?.tier !== "T3" || !isEdited(before[at], now[at], textBefore);
}
