// How likely the agent writes an identifier again, by who wrote it, how long ago, and what the work is about.
import type { IdentifierKind } from "./classify.ts";
import type { Mention } from "./mention.ts";
import { wordsOf, type Topic } from "./words.ts";

export interface Ranked {
  readonly mention: Mention;
  /** From 0 to 1. */
  readonly chance: number;
}

/** The likeliest first. Ties go by age, then by characters, so that input order never matters. */
export function rankMentions(mentions: readonly Mention[], topic: Topic): readonly Ranked[] {
  const words = mentions.map(({ text }) => wordsOf(text));
  const rarity = toRarity(words);
  return mentions
    .map((mention, index) => {
      const own = words[index] ?? [];
      const asked = shareOf(own, topic.asked, rarity);
      const written = shareOf(own, topic.written, rarity);
      return { mention, chance: toChance(mention, asked, written) };
    })
    .toSorted(
      (left, right) => right.chance - left.chance || compareMentions(left.mention, right.mention),
    );
}

export function compareMentions(left: Mention, right: Mention): number {
  if (left.age !== right.age) return left.age - right.age;
  return left.text < right.text ? -1 : Number(left.text > right.text);
}

/**
 * A logistic model of "the agent writes it after the compaction, before it is shown again". Fitted on the
 * repositories of one half of a set of recorded sessions and rounded; the other half confirms it. Features that are
 * rare there have weights by judgement: user requests, failures, commands, hosts, codes and URLs. So have ids and
 * dotted names, which other sessions lost most often: few results show them again.
 */
const weights = {
  base: -7.5,
  isWritten: 1.5,
  writes: 0.5,
  occurrences: 0.3,
  ageOf20: 0.9,
  ageOf100: 1.3,
  asked: 1.2,
  written: 0.5,
  isAsked: 0.2,
  isError: 0.2,
} as const;

const kindWeights: Readonly<Record<IdentifierKind, number>> = {
  path: 0.6,
  constant: 0,
  dotted: 0.5,
  file: 0,
  symbol: 0.5,
  url: 0,
  id: 1,
  host: -0.3,
  code: -0.3,
  command: -0.5,
  version: 0.5,
  name: -1.3,
  quantity: -1.3,
  flag: 2,
};

function toChance(mention: Mention, asked: number, written: number): number {
  const { kind, writes, occurrences, asks, errors, age } = mention;
  const sum =
    weights.base +
    kindWeights[kind] +
    (writes > 0 ? weights.isWritten : 0) +
    weights.writes * Math.log1p(writes) +
    weights.occurrences * Math.log1p(occurrences) +
    weights.ageOf20 * Math.exp(-age / 20) +
    weights.ageOf100 * Math.exp(-age / 100) +
    weights.asked * asked +
    weights.written * written +
    (asks > 0 ? weights.isAsked : 0) +
    (errors > 0 ? weights.isError : 0);
  // Rounded, so that the last bit of a logarithm never decides the order.
  return Math.round(1e9 / (1 + Math.exp(-sum))) / 1e9;
}

/** The more identifiers contain a word, the less it says. */
function toRarity(words: readonly (readonly string[])[]): (word: string) => number {
  const counts = new Map<string, number>();
  for (const word of words.flat()) counts.set(word, (counts.get(word) ?? 0) + 1);
  return (word) => Math.log((words.length + 1) / (counts.get(word) ?? 1));
}

function shareOf(
  words: readonly string[],
  topic: ReadonlySet<string>,
  rarity: (word: string) => number,
): number {
  let [shared, total] = [0, 0];
  for (const word of words) {
    const weight = rarity(word);
    total += weight;
    if (topic.has(word)) shared += weight;
  }
  return total === 0 ? 0 : shared / total;
}
