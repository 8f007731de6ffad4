// Fixed places → candidates in order of rank.
import type { BlockList, PromptBlock } from "../assembly/prompt-block.ts";
import type { CacheState } from "./cache-state.ts";
import { tailOf } from "./expect-bill.ts";
import type { Candidate } from "./fit-markers.ts";
import type { MarkerPlace, MarkerRule } from "./policy.ts";

/** What rules ask of the tools and the system prompt. Read once, it serves every policy. */
export interface PromptHead {
  /** The last block of each kind, or -1. */
  readonly lastTool: number;
  readonly lastStable: number;
  readonly labelled: ReadonlyMap<string, number>;
  /** Blocks that ask for a lifetime of their own. */
  readonly asked: readonly Candidate[];
}

export function readHead(blocks: BlockList): PromptHead {
  let [lastTool, lastStable] = [-1, -1];
  const labelled = new Map<string, number>();
  const asked: Candidate[] = [];
  for (let block = 0; block < blocks.length; block += 1) {
    const at = blocks.at(block);
    if (at === undefined || !isBeforeMessages(at)) break;
    const { tier, label, lifetime } = at;
    if (tier === "T0") lastTool = block;
    if (tier === "T1" || tier === "T2") lastStable = block;
    if (label !== undefined) labelled.set(label, block);
    if (lifetime === undefined) continue;
    asked.push({ block, lifetime, slot: "rule", reason: `its text asks for ${lifetime}` });
  }
  return { lastTool, lastStable, labelled, asked };
}

/** Where each rule's marker goes. A rule whose place is not in the prompt gives none. */
export function ruleCandidates(
  rules: readonly MarkerRule[],
  blocks: BlockList,
  state: Pick<CacheState, "lastTail">,
  head: PromptHead = readHead(blocks),
): Candidate[] {
  return rules.flatMap(({ place, lifetime }) =>
    placesOf(place, blocks, { ...head, lastTail: state.lastTail }).map((block) => ({
      block,
      lifetime,
      slot: named[place.at][0],
      reason: describePlace(place),
    })),
  );
}

type Known = PromptHead & Pick<CacheState, "lastTail">;

function placesOf(place: MarkerPlace, blocks: BlockList, known: Known): readonly number[] {
  const { lastTail } = known;
  switch (place.at) {
    case "last tool":
      return found(known.lastTool);
    case "last stable system block":
      return found(known.lastStable);
    case "system block":
      return found(known.labelled.get(place.label) ?? -1);
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

function found(block: number): readonly number[] {
  return block === -1 ? [] : [block];
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
  const ends: number[] = [];
  for (let block = tailOf(blocks); block >= 0 && ends.length < count; block -= 1) {
    const at = blocks.at(block);
    if (at === undefined || isBeforeMessages(at)) break;
    const next = blocks.at(block + 1);
    const goesOn = at.kind === "tool_result" && next?.role === "user" && next.tier !== "T5";
    if (at.endsMessage && !goesOn) ends.push(block);
  }
  return ends;
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
