// Chooses the identifiers of an index: the likeliest per token, each once, each folder and owner paid once.
import { groupFolders } from "./folders.ts";
import { groupOf, partsOf, type Mention } from "./mention.ts";
import type { Ranked } from "./rank.ts";

/** The limit of candidates, separately for used and for only shown ones. An index holds a few hundred. */
const candidatesMax = 3_000;
const commandShare = 0.06;
/** The share of a new folder's cost; others share a part of it. */
const folderShare = 0.6;
const roundsMax = 3;
/** The share of the budget for used identifiers before only shown ones. */
const usedShare = 0.5;

/** In the order chosen, pinned ones first. Skips what a longer identifier already contains. */
export function chooseEntries(
  ranked: readonly Ranked[],
  pinned: readonly Mention[],
  tokensMax: number,
  countText: (text: string) => number,
): readonly Mention[] {
  const candidates = [
    ...ranked.filter(({ mention }) => isUsed(mention)).slice(0, candidatesMax),
    ...ranked.filter(({ mention }) => !isUsed(mention)).slice(0, candidatesMax),
  ].map((each) => withCost(each, countText));
  const first = pinned.map((mention) => withCost({ mention, chance: 1 }, countText));
  let covered: ReadonlySet<string> = new Set();
  let chosen: readonly Mention[] = [];
  // A short one may be chosen before the long one that contains it; the next round frees its room.
  for (let round = 0; round < roundsMax; round += 1) {
    const open = candidates.filter(({ mention }) => !covered.has(mention.text));
    const order = byDensity(open.map(toShared(chosen, countText)));
    const used = order.filter(({ mention }) => isUsed(mention));
    const reserved = new Set(fill([...first, ...used], covered, tokensMax * usedShare));
    // `fill` takes duplicates once.
    chosen = fill([...first, ...order.filter(isIn(reserved)), ...order], covered, tokensMax);
    covered = new Set(chosen.flatMap(partsOf));
  }
  return chosen;
}

function isIn(mentions: ReadonlySet<Mention>): (candidate: Candidate) => boolean {
  return ({ mention }) => mentions.has(mention);
}

/** Used by the agent, by the user, or in a failure. What was only shown may be one long listing. */
function isUsed({ writes, asks, errors }: Mention): boolean {
  return writes + asks + errors > 0;
}

interface Candidate extends Ranked {
  /** Its own tokens, with the space before it. */
  readonly tokens: number;
  /** What is written once for all of it: the folder of a path, the owner of a member. */
  readonly group: string;
  readonly groupTokens: number;
}

function withCost({ mention, chance }: Ranked, countText: (text: string) => number): Candidate {
  const { text } = mention;
  const group = groupOf(mention);
  const tokens = Math.max(1, countText(` ${text.slice(group.length)}`));
  return { mention, chance, tokens, group, groupTokens: groupCost(mention, group, countText) };
}

function groupCost({ kind }: Mention, group: string, countText: (text: string) => number): number {
  if (group === "") return 0;
  return kind === "path" ? folderShare * countText(`${group}:\n`) : countText(` ${group}`);
}

/** A folder inside one that the round before wrote costs only the rest of its path. */
function toShared(
  chosen: readonly Mention[],
  countText: (text: string) => number,
): (candidate: Candidate) => Candidate {
  const paths = chosen.filter(({ kind }) => kind === "path").map(({ text }) => text);
  const outer = groupFolders(paths).map(({ folder }) => folder);
  const costs = new Map<string, number>();
  return (candidate) => {
    const { group, mention } = candidate;
    if (mention.kind !== "path") return candidate;
    const known = costs.get(group);
    if (known !== undefined) return { ...candidate, groupTokens: known };
    const inside = outer.filter((folder) => group.startsWith(folder) && group !== folder);
    const longest = Math.max(0, ...inside.map(({ length }) => length));
    const groupTokens =
      longest === 0 ? candidate.groupTokens : countText(` ${group.slice(longest)}:\n`);
    costs.set(group, groupTokens);
    return { ...candidate, groupTokens };
  };
}

/** The most expected use per token first. The names of a folder pay for it together, as do the members of an owner. */
function byDensity(candidates: readonly Candidate[]): readonly Candidate[] {
  const groups = new Map<string, Candidate[]>();
  const rated: { readonly candidate: Candidate; readonly density: number }[] = [];
  for (const candidate of candidates) {
    const { group, chance, tokens } = candidate;
    if (group === "") rated.push({ candidate, density: chance / tokens });
    else {
      const names = groups.get(group) ?? [];
      names.push(candidate);
      groups.set(group, names);
    }
  }
  for (const names of groups.values()) rated.push(...rateGroup(names));
  return rated
    .toSorted((left, right) => right.density - left.density)
    .map(({ candidate }) => candidate);
}

/** The first names that together are worth the most per token count so; the others count alone. */
function rateGroup(
  names: readonly Candidate[],
): readonly { readonly candidate: Candidate; readonly density: number }[] {
  const alone = names
    .map((candidate) => ({ candidate, density: candidate.chance / candidate.tokens }))
    .toSorted((left, right) => right.density - left.density);
  let [chance, tokens] = [0, names[0]?.groupTokens ?? 0];
  let [best, together] = [0, 0];
  for (const [index, { candidate }] of alone.entries()) {
    chance += candidate.chance;
    tokens += candidate.tokens;
    if (chance / tokens > best) [best, together] = [chance / tokens, index + 1];
  }
  return alone.map((each, index) => (index < together ? { ...each, density: best } : each));
}

function fill(
  candidates: readonly Candidate[],
  covered: ReadonlySet<string>,
  tokensMax: number,
): readonly Mention[] {
  const chosen: Mention[] = [];
  const taken = new Set(covered);
  const groups = new Set<string>([""]);
  let used = 0;
  let commandsLeft = tokensMax * commandShare;
  for (const { mention, tokens, group, groupTokens } of candidates) {
    if (taken.has(mention.text)) continue;
    const cost = tokens + (groups.has(group) ? 0 : groupTokens);
    if (used + cost > tokensMax) {
      if (tokensMax - used < leastTokens) break;
      continue;
    }
    if (mention.kind === "command") {
      if (tokens > commandsLeft) continue;
      commandsLeft -= tokens;
    }
    used += cost;
    chosen.push(mention);
    groups.add(group);
    taken.add(mention.text);
    for (const part of partsOf(mention)) taken.add(part);
  }
  return chosen;
}

/** Almost nothing fits into less. */
const leastTokens = 4;
