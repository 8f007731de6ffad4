// Builds the identifier index of compacted messages: everything mentioned, ranked by expected use, as much as fits.
import type { HistoryMessage } from "../history.ts";
import { chooseEntries } from "./choose.ts";
import { collectMentions } from "./collect.ts";
import { joinMentions, partsOf, type Mention } from "./mention.ts";
import { compareMentions, rankMentions } from "./rank.ts";
import { renderIndex } from "./render.ts";
import { findTopic } from "./words.ts";

export interface CompactionIndex {
  /** The identifiers in the text, with what the next compaction needs to know about them. */
  readonly entries: readonly Mention[];
  /** Known identifiers that the kept part shows now. The next compaction may need them again. */
  readonly resting: readonly Mention[];
  readonly text: string;
  readonly tokens: number;
  /** How many identifiers of the compacted part are neither in the index nor in the kept part. */
  readonly leftOut: number;
}

export interface IndexSource {
  /** The part compacted now. Notes of the compaction before may lead it; `previous` covers them. */
  readonly compacted: readonly HistoryMessage[];
  readonly previous: CompactionIndex | null;
  /** The kept tail and everything else the model sees verbatim. Identifiers there need no place. */
  readonly kept?: readonly HistoryMessage[];
  readonly tokensMax?: number;
  readonly countText: (text: string) => number;
}

export const indexTokensMax = 2_000;

export function buildIndex(source: IndexSource): CompactionIndex {
  const { compacted, previous, kept = [], tokensMax = indexTokensMax, countText } = source;
  const { mentions, overflow } = collectMentions(
    previous === null ? compacted : withoutNotes(compacted),
  );
  const known = [...(previous?.entries ?? []), ...(previous?.resting ?? [])];
  const all = withKnown(mentions, known, compacted.length);
  const shown = shownIn(kept);
  const hidden = [...all.values()].filter((mention) => isHidden(mention, shown));
  const ranked = rankMentions(hidden, findTopic(compacted, kept));
  const pinned = choosePinned(hidden, known, tokensMax * pinnedShare, countText);
  const chosen = chooseEntries(ranked, pinned, tokensMax, countText);
  const covered = new Set(chosen.flatMap((mention) => [mention.text, ...partsOf(mention)]));
  const uncovered = hidden.filter(
    ({ text, kind }) => kind !== "command" && !covered.has(text),
  ).length;
  const resting = known.flatMap(({ text }) => {
    const mention = all.get(text);
    return mention === undefined || isHidden(mention, shown) ? [] : [mention];
  });
  return {
    ...fitText(chosen, uncovered + overflow, tokensMax, countText),
    resting: resting.toSorted(byUse).slice(0, restingMax),
  };
}

function withoutNotes(compacted: readonly HistoryMessage[]): readonly HistoryMessage[] {
  return compacted.filter(({ compactionPart }) => compactionPart !== "notes");
}

/** The share of the budget for the most used identifiers of earlier compactions. */
const pinnedShare = 0.2;
const restingMax = 200;

function withKnown(
  mentions: ReadonlyMap<string, Mention>,
  known: readonly Mention[],
  messages: number,
): ReadonlyMap<string, Mention> {
  const all = new Map(mentions);
  for (const mention of known) {
    const older = { ...mention, age: mention.age + messages };
    const newer = mentions.get(mention.text);
    all.set(mention.text, newer === undefined ? older : joinMentions(older, newer));
  }
  return all;
}

function shownIn(kept: readonly HistoryMessage[]): ReadonlySet<string> {
  const shown = new Set<string>();
  for (const mention of collectMentions(kept.map(withoutThinking)).mentions.values()) {
    shown.add(mention.text);
    for (const part of partsOf(mention)) shown.add(part);
  }
  return shown;
}

/** Thinking of the kept part may be removed with this compaction or later. */
function withoutThinking(each: HistoryMessage): HistoryMessage {
  const content = each.message.content.filter(({ type }) => type !== "thinking");
  return { ...each, message: { ...each.message, content } };
}

/** A command that ran once stays in the history; one that ran again is a habit. */
function isHidden({ text, kind, writes }: Mention, shown: ReadonlySet<string>): boolean {
  return !shown.has(text) && (kind !== "command" || writes > 1);
}

/** The total use, independent of age, so that repeated compactions do not lose it. */
function useOf({ writes, asks, errors }: Mention): number {
  return writes + 3 * asks + errors;
}

function byUse(left: Mention, right: Mention): number {
  return useOf(right) - useOf(left) || compareMentions(right, left);
}

function choosePinned(
  hidden: readonly Mention[],
  known: readonly Mention[],
  tokensMax: number,
  countText: (text: string) => number,
): readonly Mention[] {
  const before = new Set(known.map(({ text }) => text));
  const pinned: Mention[] = [];
  let tokens = 0;
  for (const mention of hidden.filter(({ text }) => before.has(text)).toSorted(byUse)) {
    if (useOf(mention) < 2) break;
    tokens += countText(` ${mention.text}`);
    if (tokens > tokensMax) break;
    pinned.push(mention);
  }
  return pinned;
}

/** Costs were estimated one by one, so the last entries go until the whole text fits. */
function fitText(
  chosen: readonly Mention[],
  leftOut: number,
  tokensMax: number,
  countText: (text: string) => number,
): Omit<CompactionIndex, "resting"> {
  let [least, most] = [0, chosen.length];
  const textOf = (count: number): string =>
    renderIndex(chosen.slice(0, count), leftOut + chosen.length - count);
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (countText(textOf(middle)) <= tokensMax) least = middle;
    else most = middle - 1;
  }
  const text = textOf(least);
  const entries = chosen.slice(0, least);
  return { entries, text, tokens: countText(text), leftOut: leftOut + chosen.length - least };
}
