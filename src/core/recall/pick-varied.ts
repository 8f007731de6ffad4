// Picks the results to show: each adds something to those before it.

/** A message that shares terms with the query. */
export interface Candidate {
  /** Counted from the start of the thread. Later messages are newer. */
  readonly position: number;
  readonly text: string;
}

export interface RankedPassage<C extends Candidate> {
  readonly candidate: C;
  readonly score: number;
  /** The best passage in the text, in UTF-16 units. */
  readonly from: number;
  readonly to: number;
}

export interface Ranking {
  /** The weight of each term of the query. */
  readonly weights: ReadonlyMap<string, number>;
  /** The query itself, if it is short enough to be a name or a phrase. Otherwise null. */
  readonly phrase: string | null;
  readonly messageCount: number;
  readonly passageCharacters: number;
  readonly limit: number;
}

/** Includes the query terms found in the passage. */
export interface ScoredPassage<C extends Candidate> extends RankedPassage<C> {
  readonly terms: ReadonlySet<string>;
}

/** A term's weight shrinks by this factor with every result that already has it. */
const repeatedShare = 0.6;
/** A passage that shares more than this with a better one is a duplicate. */
const sharedMax = 0.8;

/** Expects passages ranked by score. Takes the best, then what adds most. Duplicates, as of a file read twice, come last. */
export function pickVaried<C extends Candidate>(
  ranked: readonly ScoredPassage<C>[],
  { weights, limit }: Pick<Ranking, "weights" | "limit">,
): readonly ScoredPassage<C>[] {
  const left = [...ranked];
  const picked: ScoredPassage<C>[] = [];
  const doubles: ScoredPassage<C>[] = [];
  const sketches: ReadonlySet<number>[] = [];
  const shown = new Map<string, number>();
  while (picked.length < limit) {
    const best = takeBest(left, weights, shown);
    if (best === null) break;
    const sketch = sketchOf(best.candidate.text.slice(best.from, best.to));
    if (sketches.some((other) => isMostlyIn(sketch, other))) {
      doubles.push(best);
      continue;
    }
    picked.push(best);
    sketches.push(sketch);
    for (const term of best.terms) shown.set(term, (shown.get(term) ?? 0) + 1);
  }
  return [...picked, ...doubles].slice(0, limit);
}

function isMostlyIn(sketch: ReadonlySet<number>, other: ReadonlySet<number>): boolean {
  return sketch.size > 0 && countShared(sketch, other) > sharedMax * sketch.size;
}

/** Removes the best from the list. Null if the list is empty. */
function takeBest<C extends Candidate>(
  left: ScoredPassage<C>[],
  weights: ReadonlyMap<string, number>,
  shown: ReadonlyMap<string, number>,
): ScoredPassage<C> | null {
  let [bestAt, bestScore] = [-1, -1];
  for (const [at, { score, terms }] of left.entries()) {
    // The share of new terms can only lower a score.
    if (score <= bestScore) break;
    const varied = score * newShareOf(terms, weights, shown);
    if (varied > bestScore) [bestAt, bestScore] = [at, varied];
  }
  const [best] = bestAt === -1 ? [] : left.splice(bestAt, 1);
  return best === undefined ? null : { ...best, score: bestScore };
}

function newShareOf(
  terms: ReadonlySet<string>,
  weights: ReadonlyMap<string, number>,
  shown: ReadonlyMap<string, number>,
): number {
  let [whole, fresh] = [0, 0];
  for (const term of terms) {
    const weight = weights.get(term) ?? 0;
    whole += weight;
    fresh += weight * repeatedShare ** (shown.get(term) ?? 0);
  }
  return whole === 0 ? 1 : fresh / whole;
}

/** A number for each line with enough text. Duplicates are found by lines, because files are read and printed in lines. */
function sketchOf(text: string): ReadonlySet<number> {
  const lines = new Set<number>();
  for (const line of text.split("\n")) {
    // Files are shown with or without line numbers.
    const plain = line.replace(/^\s*\d+\s*[\t→|:-]?/u, "").trim();
    if (plain.length >= lineCharactersMin) lines.add(hashLine(plain));
  }
  return lines;
}

const lineCharactersMin = 4;

function countShared(a: ReadonlySet<number>, b: ReadonlySet<number>): number {
  let shared = 0;
  for (const each of a) if (b.has(each)) shared += 1;
  return shared;
}

function hashLine(line: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < line.length; at += 1) {
    hash = Math.imul(hash ^ line.charCodeAt(at), 0x01000193);
  }
  return hash >>> 0;
}
