// Finds the known names that a misspelt one probably meant.

/** At most `count` names, nearest first. Leaves out names that are not near. Equal distances keep the given order. */
export function nearestNames(
  wanted: string,
  known: readonly string[],
  count: number,
): readonly string[] {
  return known
    .map((name) => ({ name, distance: distance(wanted.toLowerCase(), name.toLowerCase()) }))
    .filter((each) => each.distance <= farthest)
    .toSorted((left, right) => left.distance - right.distance)
    .slice(0, count)
    .map((each) => each.name);
}

/** A hint as `did you mean a or b?`; `otherwise` if no name is near. */
export function didYouMean(
  wanted: string,
  known: readonly string[],
  otherwise: string,
  count = 3,
): string {
  const near = nearestNames(wanted.slice(0, 128), known, count);
  return near.length > 0 ? `did you mean ${near.join(" or ")}?` : otherwise;
}

const farthest = 0.5;

/** From 0 (equal) to 1. Takes the better of letter edits and shared words, to find both typos and short forms. */
function distance(left: string, right: string): number {
  const letters = editDistance(left, right) / Math.max(left.length, right.length, 1);
  return Math.min(letters, wordDistance(left, right));
}

function wordDistance(left: string, right: string): number {
  const leftWords = left.split(/[^a-z0-9]+/);
  const rightWords = right.split(/[^a-z0-9]+/);
  const unmatched = [...rightWords];
  let shared = 0;
  for (const word of leftWords) {
    const index = unmatched.indexOf(word);
    if (index === -1) continue;
    unmatched.splice(index, 1);
    shared++;
  }
  return 1 - (2 * shared) / (leftWords.length + rightWords.length);
}

function editDistance(left: string, right: string): number {
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const replaced = (previous[column - 1] ?? 0) + (left[row - 1] === right[column - 1] ? 0 : 1);
      const inserted = (current[column - 1] ?? 0) + 1;
      const removed = (previous[column] ?? 0) + 1;
      current.push(Math.min(replaced, inserted, removed));
    }
    previous = current;
  }
  return previous[right.length] ?? 0;
}
