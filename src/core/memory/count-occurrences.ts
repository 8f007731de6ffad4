// Finds a part in a whole in linear time.

export interface Occurrences {
  /** Matches may overlap: "aa" occurs in "aaa" twice. */
  readonly count: number;
  /** The first match, or -1. */
  readonly firstIndex: number;
}

/** Works on characters of a text or lines of a list. An empty part has no matches. */
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

/** For each prefix of the part: the length of its longest suffix that is also a prefix (Knuth, Morris, Pratt). */
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
