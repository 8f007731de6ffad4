// Fixed places → candidates in order of rank.
import type { BlockList, PromptBlock } from "../assembly/prompt-block.ts";
import type { CacheState } from "./cache-state.ts";
import { tailOf } from "./expect-bill.ts";
import type { Candidate } from "./fit-markers.ts";
import type { MarkerPlace, MarkerRule } from "./policy.ts";

/** Where each rule's marker goes. A rule whose place is not in the prompt gives none. */
export function ruleCandidates(
  rules: readonly MarkerRule[],
  blocks: BlockList,
  state: Pick<CacheState, "lastTail">,
): Candidate[] {
  return rules.flatMap(({ place, lifetime }) =>
    placesOf(place, blocks, state).map((block) => ({
      block,
      lifetime,
      slot: named[place.at][0],
      reason: describePlace(place),
    })),
  );
}

/** Blocks of the system prompt that ask for a lifetime of their own. */
export function askedCandidates(blocks: BlockList): readonly Candidate[] {
  const asked: Candidate[] = [];
  for (let block = 0; block < blocks.length; block += 1) {
    const at = blocks.at(block);
    if (at === undefined || !isBeforeMessages(at)) break;
    const { lifetime } = at;
    if (lifetime === undefined) continue;
    asked.push({ block, lifetime, slot: "rule", reason: `its text asks for ${lifetime}` });
  }
  return asked;
}

function placesOf(
  place: MarkerPlace,
  blocks: BlockList,
  { lastTail }: Pick<CacheState, "lastTail">,
): readonly number[] {
  switch (place.at) {
    case "last tool":
      return lastOf(blocks, ({ tier }) => tier === "T0");
    case "last stable system block":
      return lastOf(blocks, ({ tier }) => tier === "T1" || tier === "T2");
    case "system block":
      return lastOf(blocks, ({ label }) => label === place.label);
    case "tail":
      return hasMessages(blocks) ? [tailOf(blocks)] : [];
    case "previous tail":
      return lastTail !== null && blocks.at(lastTail.block)?.key === lastTail.key
        ? [lastTail.block]
        : [];
    case "latest user":
      return latestUser(blocks);
    case "last messages":
      return lastMessages(blocks, place.count);
    case "request":
      return [];
  }
}

/** The last fitting block of the tools and the system prompt. */
function lastOf(blocks: BlockList, fits: (block: PromptBlock) => boolean): readonly number[] {
  let found = -1;
  for (let block = 0; block < blocks.length; block += 1) {
    const at = blocks.at(block);
    if (at === undefined || !isBeforeMessages(at)) break;
    if (fits(at)) found = block;
  }
  return found === -1 ? [] : [found];
}

function isBeforeMessages({ role, tier }: PromptBlock): boolean {
  return role === "tools" || (role === "system" && tier !== "T3" && tier !== "T4");
}

function hasMessages(blocks: BlockList): boolean {
  const tail = blocks.at(tailOf(blocks));
  return tail !== undefined && !isBeforeMessages(tail);
}

function latestUser(blocks: BlockList): readonly number[] {
  for (let block = tailOf(blocks); block >= 0; block -= 1) {
    const at = blocks.at(block);
    if (at === undefined || isBeforeMessages(at)) return [];
    if (at.role === "user" && at.endsMessage && at.kind !== "tool_result") return [block];
  }
  return [];
}

/** Adjacent tool results are one message on the wire. */
function lastMessages(blocks: BlockList, count: number): readonly number[] {
  const found: number[] = [];
  for (let block = tailOf(blocks); block >= 0 && found.length < count; block -= 1) {
    const at = blocks.at(block);
    if (at === undefined || isBeforeMessages(at)) break;
    const next = blocks.at(block + 1);
    const goesOn = at.kind === "tool_result" && next?.role === "user" && next.tier !== "T5";
    if (at.endsMessage && !goesOn) found.push(block);
  }
  return found;
}

/** The slot and the reason of a marker at each place. */
const named: Readonly<Record<MarkerPlace["at"], readonly [Candidate["slot"], string]>> = {
  "last tool": ["head", "end of the tools"],
  "last stable system block": ["head", "end of the stable system prompt"],
  "system block": ["head", "end of system block"],
  tail: ["tail", "end of what will be sent again"],
  "previous tail": ["previous tail", "where the last call ended"],
  "latest user": ["rule", "end of the latest user message"],
  "last messages": ["rule", "end of one of the last messages"],
  request: ["rule", "the whole request"],
};

function describePlace(place: MarkerPlace): string {
  if (place.at === "last messages") return `end of one of the last ${place.count} messages`;
  const [, reason] = named[place.at];
  return place.at === "system block" ? `${reason} ${place.label}` : reason;
}
