// What a ranking works on, and what it gives.

/** A message that shares terms with the query. */
export interface Candidate {
  /** From the beginning of the thread; later ones are newer. */
  readonly position: number;
  readonly text: string;
}

export interface RankedPassage<C extends Candidate> {
  readonly candidate: C;
  readonly score: number;
  /** Of the best passage in the text, in UTF-16 units. */
  readonly from: number;
  readonly to: number;
}

export interface Ranking {
  /** By what is asked for. */
  readonly weights: ReadonlyMap<string, number>;
  /** The query as it was asked, where it may be a name or a phrase; null for a longer text. */
  readonly phrase: string | null;
  /** How many messages there are. */
  readonly messageCount: number;
  readonly passageCharacters: number;
  readonly limit: number;
}

/** With what the passage has of the query. */
export interface ScoredPassage<C extends Candidate> extends RankedPassage<C> {
  readonly terms: ReadonlySet<string>;
}
