// How reliably a provider kept what it was not asked to keep: by the time since the call before.
import { isObject } from "../message/fields.ts";
import type { Tally } from "./evidence.ts";

export interface UnaskedReads {
  /** By the time since the call before, as in `classes`: calls that read most of what that call sent, and calls that did not. */
  readonly tallies: readonly Tally[];
  /** Whether the last call began with a stored prefix: the next one then says nothing about what is kept unasked. */
  readonly isAfterStored: boolean;
}

interface GapClass {
  readonly toMs: number;
  /** Before anything is seen. One project read 78 % (2026-07, one source); what is left after longer pauses is not published. */
  readonly prior: Tally;
}

const classes: readonly GapClass[] = [
  { toMs: 300_000, prior: { held: 0.78, broken: 0.22 } },
  { toMs: 1_800_000, prior: { held: 0.5, broken: 0.5 } },
  { toMs: 3_600_000, prior: { held: 0.3, broken: 0.7 } },
  { toMs: Infinity, prior: { held: 0.1, broken: 0.9 } },
];

export const noUnaskedReads: UnaskedReads = {
  tallies: classes.map(() => ({ held: 0, broken: 0 })),
  isAfterStored: false,
};

export function countUnasked(
  { tallies }: UnaskedReads,
  gapMs: number,
  isHeld: boolean,
): UnaskedReads {
  const at = classOf(gapMs);
  const counted = tallies.map(({ held, broken }, index): Tally => {
    if (index !== at) return { held, broken };
    return { held: held + (isHeld ? 1 : 0), broken: broken + (isHeld ? 0 : 1) };
  });
  return { tallies: counted, isAfterStored: false };
}

/** From 0 to 1: the share of calls after such a gap that find what the call before sent. */
export function unaskedChance({ tallies }: UnaskedReads, gapMs: number): number {
  const at = classOf(gapMs);
  const { held, broken } = tallies[at] ?? nothing;
  const { prior } = classes[at] ?? { prior: nothing };
  return (held + prior.held) / (held + broken + prior.held + prior.broken);
}

/** How many calls were seen. */
export function seenUnasked({ tallies }: UnaskedReads): number {
  return tallies.reduce((sum, { held, broken }) => sum + held + broken, 0);
}

const nothing: Tally = { held: 0, broken: 0 };

function classOf(gapMs: number): number {
  return classes.findIndex(({ toMs }) => gapMs <= toMs);
}

/**
 * What a new session of an agent starts from: of each class the tally of the session that saw most, because it began with
 * what earlier ones had seen. At most a dozen calls count, so that a changed provider is noticed.
 */
export function inheritUnasked(earlier: readonly UnaskedReads[]): UnaskedReads | null {
  if (earlier.length === 0) return null;
  const tallies = classes.map((_class, at): Tally => {
    const { held, broken } = earlier.reduce((most, each) => {
      const tally = each.tallies[at] ?? nothing;
      return tally.held + tally.broken > most.held + most.broken ? tally : most;
    }, nothing);
    const factor = Math.min(1, inheritedMax / Math.max(1, held + broken));
    const scale = (count: number): number => Math.round(count * factor * 1000) / 1000;
    return { held: scale(held), broken: scale(broken) };
  });
  return { tallies, isAfterStored: false };
}

const inheritedMax = 12;

/** As it was stored; null for what is none. */
export function readUnasked(stored: unknown): UnaskedReads | null {
  if (!isObject(stored) || !Array.isArray(stored["tallies"])) return null;
  const tallies: readonly unknown[] = stored["tallies"];
  if (tallies.length !== classes.length) return null;
  const read = tallies.flatMap((each): Tally[] => {
    if (!isObject(each)) return [];
    const { held, broken } = each;
    const isTally = [held, broken].every((count) => typeof count === "number" && count >= 0);
    return isTally ? [{ held: Number(held), broken: Number(broken) }] : [];
  });
  if (read.length !== classes.length) return null;
  return { tallies: read, isAfterStored: stored["isAfterStored"] === true };
}
