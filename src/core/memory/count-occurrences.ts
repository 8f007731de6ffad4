// Where a part stands in a whole, in time that grows with their lengths and not with their product.

export interface Occurrences {
  /** They may overlap: "aa" stands in "aaa" at two places. */
  readonly count: number;
  /** Of the first one; -1 where there is none. */
  readonly firstIndex: number;
}

/** Of characters in a text, or of lines in a list. An empty part stands nowhere. */
export function countOccurrences<T>(whole: ArrayLike<T>, part: ArrayLike<T>): Occurrences {
  let [count, firstIndex] = [0, -1];
  if (part.length === 0 || part.length > whole.length) return { count, firstIndex };
  const fallbacks = toFallbacks(part);
  let matched = 0;
  for (let index = 0; index < whole.length; index += 1) {
    while (matched > 0 && whole[index] !== part[matched]) matched = fallbacks[matched - 1] ?? 0;
    if (whole[index] === part[matched]) matched += 1;
    if (matched < part.length) continue;
    if (count === 0) firstIndex = index - part.length + 1;
    count += 1;
    matched = fallbacks[matched - 1] ?? 0;
  }
  return { count, firstIndex };
}

/** For each beginning of the part: how much of its end is the part's beginning again (Knuth, Morris, Pratt). */
function toFallbacks<T>(part: ArrayLike<T>): Uint32Array {
  const fallbacks = new Uint32Array(part.length);
  let matched = 0;
  for (let index = 1; index < part.length; index += 1) {
    while (matched > 0 && part[index] !== part[matched]) matched = fallbacks[matched - 1] ?? 0;
    if (part[index] === part[matched]) matched += 1;
    fallbacks[index] = matched;
  }
  return fallbacks;
}
