// The inputs and outputs of a ranking.

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
