// The places in a prompt worth a marker: earlier entries, the end, and what lies between.
import type { BlockList } from "../assembly/prompt-block.ts";
import type { CacheRules } from "../models/cache-rules.ts";
import { isLive, type CacheState, type KnownEntry, type Ruler } from "./cache-state.ts";
import { foundationEnd, isFirm, tailOf } from "./expect-bill.ts";
import { lastEndings } from "./find-hit.ts";
import { canCarry, carrierAt } from "./fit-markers.ts";
import type { Pace } from "./pace.ts";

export interface CostQuestion {
  readonly blocks: BlockList;
  readonly rules: CacheRules;
  readonly state: CacheState;
  /** The entries that this prompt can read. */
  readonly known: readonly KnownEntry[];
  readonly pace: Pace;
  readonly ruler: Ruler;
  readonly nowMs: number;
}

export interface Places {
  readonly tail: number;
  readonly tailTokens: number;
  /** The end of the foundation, if it is long enough to be cached. */
  readonly head: number | null;
  readonly headTokens: number;
  /** The live entry at the head with the longest lifetime. */
  readonly headEntry: KnownEntry | null;
  /** The longest live entry of this prefix. */
  readonly hit: KnownEntry | null;
  readonly hitTokens: number;
  /** Whether all of the hit was written for the longest lifetime, or there is no hit. */
  readonly isHitFirm: boolean;
  /** The first place after the hit that can carry a marker. */
  readonly step: number | null;
  readonly stepTokens: number;
  /** The longest live entry with a long lifetime. */
  readonly anchor: KnownEntry | null;
  readonly anchorTokens: number;
}

export function findPlaces(question: CostQuestion): Places | null {
  const { blocks, rules, ruler } = question;
  const { markers } = rules;
  if (markers === null) return null;
  const last = tailOf(blocks);
  const own = rules.automatic?.takesMarkerSlot === true ? lastEndings(blocks, 1)[0] : undefined;
  const tail = own ?? carrierAt(blocks, last, markers);
  if (tail === -1) return null;
  const minimum = rules.minimumTokens ?? 0;
  const head = carrierAt(blocks, foundationEnd(blocks), markers);
  const hasHead = head !== -1 && head < tail && ruler(head) >= minimum;
  const { hit, anchor, headEntry, isHitFirm } = findEntries(question, last, hasHead ? head : -1);
  const canBeStep = (block: number): boolean => {
    const at = blocks.at(block);
    return at !== undefined && canCarry(at, markers) && ruler(block) >= minimum;
  };
  let step = (hit?.block ?? -1) + 1;
  while (step < tail && !canBeStep(step)) step += 1;
  const hasStep = step < tail;
  return {
    tail,
    tailTokens: ruler(tail),
    head: hasHead ? head : null,
    headTokens: hasHead ? ruler(head) : 0,
    headEntry,
    hit,
    hitTokens: hit === null ? 0 : ruler(hit.block),
    isHitFirm,
    step: hasStep ? step : null,
    stepTokens: hasStep ? ruler(step) : 0,
    anchor,
    anchorTokens: anchor === null ? 0 : ruler(anchor.block),
  };
}

/** One pass over the known entries: most are too short, expired, or of another prefix. */
function findEntries(
  { blocks, rules, known, nowMs }: CostQuestion,
  last: number,
  head: number,
): Pick<Places, "hit" | "anchor" | "headEntry" | "isHitFirm"> {
  const longMs = (rules.lifetimes.at(-1)?.seconds ?? 0) * 1000;
  let hit: KnownEntry | null = null;
  let anchor: KnownEntry | null = null;
  let headEntry: KnownEntry | null = null;
  let isHitFirm = true;
  for (const entry of known) {
    const { block, keptMs } = entry;
    const isFurther = block >= (hit?.block ?? -1);
    const isAnchor = keptMs >= longMs && block > (anchor?.block ?? -1);
    const isHead = block === head && keptMs >= (headEntry?.keptMs ?? 0);
    if (block > last || !(isFurther || isAnchor || isHead) || !isLive(entry, nowMs)) continue;
    if (blocks.at(block)?.key !== entry.key) continue;
    if (isFurther) {
      isHitFirm = isFirm(entry, longMs) || (isHitFirm && hit?.block === block);
      if (hit?.block !== block) hit = entry;
    }
    if (isAnchor) anchor = entry;
    if (isHead) headEntry = entry;
  }
  return { hit, anchor, headEntry, isHitFirm };
}
