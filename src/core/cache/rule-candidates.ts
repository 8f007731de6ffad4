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
  state: CacheState,
): Candidate[] {
  return rules.flatMap(({ place, lifetime }) =>
    placesOf(place, blocks, state).map((block) => ({
      block,
      lifetime,
      slot: slotOf(place),
      reason: describePlace(place),
    })),
  );
}

function placesOf(place: MarkerPlace, blocks: BlockList, state: CacheState): readonly number[] {
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
      return state.lastTail !== null && blocks.at(state.lastTail.block)?.key === state.lastTail.key
        ? [state.lastTail.block]
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

function slotOf(place: MarkerPlace): Candidate["slot"] {
  switch (place.at) {
    case "tail":
      return "tail";
    case "previous tail":
      return "previous tail";
    case "last tool":
    case "last stable system block":
    case "system block":
      return "head";
    case "latest user":
    case "last messages":
    case "request":
      return "rule";
  }
}

function describePlace(place: MarkerPlace): string {
  switch (place.at) {
    case "last tool":
      return "end of the tools";
    case "last stable system block":
      return "end of the stable system prompt";
    case "system block":
      return `end of system block ${place.label}`;
    case "tail":
      return "end of what will be sent again";
    case "previous tail":
      return "where the last call ended";
    case "latest user":
      return "end of the latest user message";
    case "last messages":
      return `end of one of the last ${place.count} messages`;
    case "request":
      return "the whole request";
  }
}
