// The first block at which two prompts part, and what that block is about.
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
  /** Of the first difference within the block's text; null where there is none or the text is not known. */
  readonly byteOffset: number | null;
  /** At most 80 characters, control characters made visible; null where there is nothing or it is not known. */
  readonly before: string | null;
  readonly after: string | null;
}

export type ContentCause =
  | "tools changed"
  | "tools reordered"
  | "system changed"
  | "history rewritten";

/** Finds the text of an earlier block; undefined where it is not kept. */
export type TextOfHash = (hash: ContentHash) => string | undefined;

/** How many blocks at the beginning are the same. Keys are chained, so halving finds it. */
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

/** What changed at the first block that differs: the earliest tier of the two that stand there. */
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

/** The block as it stands now; as it stood before where there is none any more. */
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
    // The same words in another role, or as another kind of block.
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

/** Whether a block is an earlier one with some words changed, and not another one in its place. */
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

/** Less is what two results of tools share anyway: names of fields and ids. */
const editedLengthMin = 100;

/** Another ending of the same conversation, or another conversation on the same beginning: there is no reply in what is new. */
export function branchesOff(
  before: readonly RememberedBlock[],
  now: readonly ViewBlock[],
  at: number,
): boolean {
  if (at === 0 || before[at]?.tier !== "T3" || now[at]?.tier !== "T3") return false;
  return !now.slice(at).some(({ role }) => role === "assistant");
}

/** A branch from a place where no marker stood; words changed in the last message are no branch. */
export function isUnmarkedBranch(
  before: readonly RememberedBlock[],
  now: readonly ViewBlock[],
  at: number,
  textBefore: TextOfHash,
): boolean {
  if (!branchesOff(before, now, at)) return false;
  return now[at - 1]?.tier !== "T3" || !isEdited(before[at], now[at], textBefore);
}
