// What fixed rules may not write for an agent that does not wait for people: nothing for an hour, and nothing without a reader.
import type { BlockList } from "../assembly/prompt-block.ts";
import { lifetimes } from "../message/usage.ts";
import type { DroppedMarker, DropReason } from "./cache-plan.ts";
import type { Candidate } from "./fit-markers.ts";
import { seenGaps, type Pace, type PaceKind } from "./pace.ts";

export const onlyCall: DropReason = "a one-shot without tools sends no second call";

/** Workers and one-shots come back within minutes or never, so an hour is paid for nothing. */
export function limitByPace(
  candidates: readonly Candidate[],
  pace: Pace,
  blocks: BlockList,
): { readonly candidates: readonly Candidate[]; readonly dropped: readonly DroppedMarker[] } {
  if (sendsOnce(pace, blocks)) {
    const dropped = candidates.map(({ block, lifetime, slot }) => ({
      block,
      lifetime,
      slot,
      reason: onlyCall,
    }));
    return { candidates: [], dropped };
  }
  const isShort = shortPaces.includes(pace.kind);
  return {
    candidates: isShort ? candidates.map((each) => shorten(each, pace)) : candidates,
    dropped: [],
  };
}

/** A tool causes another call; without tools a one-shot makes one, unless it has made more before. */
export function sendsOnce(pace: Pace, blocks: BlockList): boolean {
  if (pace.kind !== "one-shot" || blocks.at(0)?.tier === "T0") return false;
  return seenGaps(pace) === 0;
}

const shortPaces: readonly PaceKind[] = ["worker", "one-shot"];

const [shortest] = lifetimes;

function shorten(candidate: Candidate, { kind }: Pace): Candidate {
  const { lifetime, reason } = candidate;
  if (lifetime === shortest) return candidate;
  const why = `${reason}; ${shortest} because a ${kind} comes back soon or never`;
  return { ...candidate, lifetime: shortest, reason: why };
}
