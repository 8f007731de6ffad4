// How many bytes two texts have in common. Whole slices are compared by the machine, not by our loop.

const sliceBytes = 65_536;

/** Equal bytes from two places on, at most `most`. */
export function commonBytes(
  left: Buffer,
  leftAt: number,
  right: Buffer,
  rightAt: number,
  most: number,
): number {
  const end = Math.min(most, left.length - leftAt, right.length - rightAt);
  let at = 0;
  let step = sliceBytes;
  while (at < end) {
    const length = Math.min(step, end - at);
    const isSame =
      left.compare(
        right,
        rightAt + at,
        rightAt + at + length,
        leftAt + at,
        leftAt + at + length,
      ) === 0;
    if (isSame) {
      at += length;
      continue;
    }
    if (length <= 16) return at + commonInSlice(left, leftAt + at, right, rightAt + at);
    step = length >> 1;
  }
  return Math.max(0, end);
}

/** The slices differ somewhere. */
function commonInSlice(left: Buffer, leftAt: number, right: Buffer, rightAt: number): number {
  let count = 0;
  while (left[leftAt + count] === right[rightAt + count]) count += 1;
  return count;
}
