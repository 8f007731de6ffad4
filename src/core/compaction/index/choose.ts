// Chooses the identifiers of an index: the likeliest per token, each once, each folder paid once.
import { partsOf, type Mention } from "./mention.ts";
import type { Ranked } from "./rank.ts";

/** The limit of candidates, separately for used and for only shown ones. An index holds a few hundred. */
const candidatesMax = 3_000;
const commandShare = 0.06;
/** The share of a new folder's cost; others will share the folder. */
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
  const order = candidates.toSorted(
    (left, right) => right.chance / right.tokens - left.chance / left.tokens,
  );
  const first = pinned.map((mention) => withCost({ mention, chance: 1 }, countText));
  const used = order.filter(({ mention }) => isUsed(mention));
  let covered: ReadonlySet<string> = new Set();
  let chosen: readonly Mention[] = [];
  // A short one may be chosen before the long one that contains it; the next round frees its room.
  for (let round = 0; round < roundsMax; round += 1) {
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
  readonly folder: string;
  readonly folderTokens: number;
}

function withCost({ mention, chance }: Ranked, countText: (text: string) => number): Candidate {
  const { text, kind } = mention;
  const cut = kind === "path" ? text.lastIndexOf("/", text.length - 2) + 1 : 0;
  const folder = text.slice(0, cut);
  const tokens = Math.max(1, countText(` ${text.slice(cut)}`));
  const folderTokens = cut === 0 ? 0 : folderShare * countText(`${folder}:\n`);
  return { mention, chance, tokens, folder, folderTokens };
}

function fill(
  candidates: readonly Candidate[],
  covered: ReadonlySet<string>,
  tokensMax: number,
): readonly Mention[] {
  const chosen: Mention[] = [];
  const taken = new Set(covered);
  const folders = new Set<string>([""]);
  let used = 0;
  let commandsLeft = tokensMax * commandShare;
  for (const { mention, tokens, folder, folderTokens } of candidates) {
    if (taken.has(mention.text)) continue;
    const cost = tokens + (folders.has(folder) ? 0 : folderTokens);
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
    folders.add(folder);
    taken.add(mention.text);
    for (const part of partsOf(mention)) taken.add(part);
  }
  return chosen;
}

/** Almost nothing fits into less. */
const leastTokens = 4;
