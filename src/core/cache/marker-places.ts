// The places in a prompt worth a marker: earlier entries, the end, and what lies between.
import type { BlockList } from "../assembly/prompt-block.ts";
import type { CacheRules } from "../models/cache-rules.ts";
import { isLive, type CacheState, type KnownEntry, type Ruler } from "./cache-state.ts";
import { foundationEnd, tailOf } from "./expect-bill.ts";
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
  /** The longest live entry of this prefix. */
  readonly hit: KnownEntry | null;
  readonly hitTokens: number;
  /** The first place after the hit that can carry a marker. */
  readonly step: number | null;
  readonly stepTokens: number;
  /** The longest live entry with a long lifetime. */
  readonly anchor: KnownEntry | null;
  readonly anchorTokens: number;
}

export function findPlaces({ blocks, rules, known, ruler, nowMs }: CostQuestion): Places | null {
  const { markers } = rules;
  if (markers === null) return null;
  const last = tailOf(blocks);
  const own = rules.automatic?.takesMarkerSlot === true ? lastEndings(blocks, 1)[0] : undefined;
  const tail = own ?? carrierAt(blocks, last, markers);
  if (tail === -1) return null;
  const minimum = rules.minimumTokens ?? 0;
  const head = carrierAt(blocks, foundationEnd(blocks), markers);
  const hasHead = head !== -1 && head < tail && ruler(head) >= minimum;
  const longest = rules.lifetimes.at(-1)?.lifetime;
  let hit: KnownEntry | null = null;
  let anchor: KnownEntry | null = null;
  for (const entry of known) {
    const isFurther = entry.block > (hit?.block ?? -1);
    const isLonger = entry.lifetime === longest && entry.block > (anchor?.block ?? -1);
    if (entry.block > last || !(isFurther || isLonger) || !isLive(entry, nowMs)) continue;
    if (blocks.at(entry.block)?.key !== entry.key) continue;
    if (isFurther) hit = entry;
    if (isLonger) anchor = entry;
  }
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
    hit,
    hitTokens: hit === null ? 0 : ruler(hit.block),
    step: hasStep ? step : null,
    stepTokens: hasStep ? ruler(step) : 0,
    anchor,
    anchorTokens: anchor === null ? 0 : ruler(anchor.block),
  };
}
