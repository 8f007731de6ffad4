// Reads a query and ranks messages: which answer it best, and where in them. One ranking for every store.
import { findBestPassage, type TermHit } from "./best-passage.ts";
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
