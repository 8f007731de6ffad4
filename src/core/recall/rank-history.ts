// Reads a query and ranks messages: which answer it best, and where in them. One ranking for every store.
import {
  pickVaried,
  type Candidate,
  type RankedPassage,
  type Ranking,
  type ScoredPassage,
} from "./pick-varied.ts";
import { visitTerms, termsOf } from "./terms.ts";

/** Any text is a valid query, and nothing in it is an operator. */
export interface ReadQuery {
  /** Each term once. If there are too many, the longest, which are the most specific. */
  readonly terms: readonly string[];
  /** The whole query, if it is short enough to occur verbatim. Otherwise null. */
  readonly phrase: string | null;
}

/** Text beyond this is ignored. */
const charactersMax = 20_000;
const termsMax = 200;
const phraseCharactersMax = 200;

export function readQuery(text: string): ReadQuery {
  const asked = text.slice(0, charactersMax).trim();
  const terms = termsOf(asked);
  const isPhrase = terms.size > 0 && asked.length <= phraseCharactersMax;
  return {
    terms: [...terms].toSorted((a, b) => b.length - a.length).slice(0, termsMax),
    phrase: isPhrase ? asked : null,
  };
}

/** How rare a term is (BM25's inverse document frequency). */
export function rarityOf(messagesWithIt: number, messageCount: number): number {
  const without = Math.max(0, messageCount - messagesWithIt);
  return Math.log(1 + (without + 0.5) / (messagesWithIt + 0.5));
}

export function rankHistory<C extends Candidate>(
  candidates: readonly C[],
  ranking: Ranking,
): readonly RankedPassage<C>[] {
  const ranked = candidates
    .map((candidate) => scoreCandidate(candidate, ranking))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score || b.candidate.position - a.candidate.position);
  return pickVaried(ranked, ranking).map(({ candidate, score, from, to }) => {
    return { candidate, score, from, to };
  });
}

/** The weight of the whole message beside its best passage. */
const messageShare = 0.2;
/** The bonus of the newest message over the oldest. */
const recencyShare = 0.1;
const phraseFactor = 4;

function scoreCandidate<C extends Candidate>(candidate: C, ranking: Ranking): ScoredPassage<C> {
  const { weights, phrase, messageCount, passageCharacters } = ranking;
  const { text, position } = candidate;
  const hits: TermHit[] = [];
  visitTerms(text, (term, at) => {
    const weight = weights.get(term);
    if (weight !== undefined) hits.push({ term, at, weight });
  });
  // A whole name is visited after its words, so hits must be sorted.
  hits.sort((a, b) => a.at - b.at);
  const { from, to, score, hasPhrase } = findBestPassage(text, hits, { passageCharacters, phrase });
  const inMessage = weighTogether(termsIn(hits, 0, text.length), weights);
  const recency = 1 + (recencyShare * position) / Math.max(1, messageCount);
  const asked = hasPhrase ? phraseFactor : 1;
  return {
    candidate,
    score: (score + messageShare * inMessage) * recency * asked,
    from,
    to,
    terms: termsIn(hits, from, to),
  };
}

function termsIn(hits: readonly TermHit[], from: number, to: number): ReadonlySet<string> {
  const terms = new Set<string>();
  for (const { term, at } of hits) if (at >= from && at < to) terms.add(term);
  return terms;
}

function weighTogether(terms: ReadonlySet<string>, weights: ReadonlyMap<string, number>): number {
  let sum = 0;
  for (const term of terms) sum += weights.get(term) ?? 0;
  return sum;
}

interface TermHit {
  readonly term: string;
  readonly at: number;
  readonly weight: number;
}

interface Passage {
  readonly from: number;
  readonly to: number;
  readonly score: number;
  readonly hasPhrase: boolean;
}

/** Expects hits in text order. A repeated term counts again, less each time. */
function findBestPassage(
  text: string,
  hits: readonly TermHit[],
  { passageCharacters, phrase }: Pick<Ranking, "passageCharacters" | "phrase">,
): Passage {
  const phraseAt = phrase === null ? -1 : findPhrase(text, phrase);
  if (phrase !== null && phraseAt !== -1) {
    const { from, to } = around(text, phraseAt, phraseAt + phrase.length, passageCharacters);
    const inside = hits.filter(({ at }) => at >= from && at < to);
    return { from, to, score: scoreOf(inside), hasPhrase: true };
  }
  const best = slide(hits, passageCharacters * (1 - 2 * contextShare));
  const { from, to } = around(text, best.from, best.to, passageCharacters);
  // Prefers short messages: they say the same in fewer words.
  const length = Math.min(text.length, passageCharacters) / passageCharacters;
  const score = best.score / (1 - lengthShare + lengthShare * length);
  return { from, to, score, hasPhrase: false };
}

/** The share of a passage used as context before the first hit and after the last. */
const contextShare = 1 / 12;
const lengthShare = 0.5;

/** Exact case first, then any case. */
function findPhrase(text: string, phrase: string): number {
  const exact = text.indexOf(phrase);
  if (exact !== -1) return exact;
  const lower = text.toLowerCase();
  // A few characters change their length with their case.
  return lower.length === text.length ? lower.indexOf(phrase.toLowerCase()) : -1;
}

interface Window {
  readonly from: number;
  readonly to: number;
  readonly score: number;
}

/** Slides over every window of hits that fits. */
function slide(hits: readonly TermHit[], characters: number): Window {
  const counts = new Map<string, number>();
  let [first, score] = [0, 0];
  let best: Window = { from: hits[0]?.at ?? 0, to: hits[0]?.at ?? 0, score: 0 };
  for (const hit of hits) {
    score += change(counts, hit, 1);
    for (let oldest = hits[first]; oldest !== undefined; oldest = hits[first]) {
      if (hit.at - oldest.at <= characters) break;
      score += change(counts, oldest, -1);
      first += 1;
    }
    // Adding and subtracting weights leaves tiny rounding errors.
    if (score > best.score + 1e-9) best = { from: hits[first]?.at ?? hit.at, to: hit.at, score };
  }
  return best;
}

function change(counts: Map<string, number>, { term, weight }: TermHit, by: 1 | -1): number {
  const before = counts.get(term) ?? 0;
  counts.set(term, before + by);
  return weight * (worthOf(before + by) - worthOf(before));
}

/** As in BM25: one occurrence counts 1, many at most 2.2. */
function worthOf(count: number): number {
  return (count * 2.2) / (count + 1.2);
}

function scoreOf(hits: readonly TermHit[]): number {
  const counts = new Map<string, number>();
  return hits.reduce((sum, hit) => sum + change(counts, hit, 1), 0);
}

/** A stretch of `characters` around the hits, starting at the beginning of a line if one is near. */
function around(
  text: string,
  from: number,
  to: number,
  characters: number,
): Pick<Passage, "from" | "to"> {
  const room = Math.max(0, characters - (to - from));
  const start = Math.max(0, Math.min(from - Math.floor(room / 2), text.length - characters));
  const line = text.lastIndexOf("\n", start + Math.floor(characters * contextShare));
  const begin = line >= start && line < from ? line + 1 : start;
  return { from: begin, to: Math.min(text.length, begin + characters) };
}
