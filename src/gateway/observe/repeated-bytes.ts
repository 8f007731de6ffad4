// A long body that repeats an earlier one is held in the memory of the earlier one: its own memory is free as soon as it was compared.
import { BodyBytes } from "./body-bytes.ts";

/** The earlier body is looked for when this much of the new one has arrived. Shorter bodies are not worth it. */
const begunBytesMin = 16_384;
/** Fewer equal bytes at the beginning of a piece stay where they are. */
const repeatedBytesMin = 4096;

/**
 * Takes the pieces of a body as they arrive and gives the same bytes back, in the memory of the earlier body where it has
 * them at the same place. `find` is called once, with the beginning of the body.
 */
export function openRepeatedBytes(
  find: (begun: BodyBytes) => BodyBytes | null,
): (piece: Uint8Array) => readonly Uint8Array[] {
  const begun: Uint8Array[] = [];
  let earlier: BodyBytes | null = null;
  let isSought = false;
  let length = 0;
  return (piece) => {
    const at = length;
    length += piece.byteLength;
    if (isSought) return earlier === null ? [piece] : inMemoryOf(earlier, at, piece);
    begun.push(piece);
    if (length < begunBytesMin) return [piece];
    isSought = true;
    earlier = find(new BodyBytes(begun));
    return earlier === null || at > 0 ? [piece] : inMemoryOf(earlier, 0, piece);
  };
}

function inMemoryOf(earlier: BodyBytes, at: number, piece: Uint8Array): readonly Uint8Array[] {
  const { byteLength } = piece;
  const repeated = new BodyBytes([piece], 1).common(0, earlier, at, byteLength);
  if (repeated < Math.min(byteLength, repeatedBytesMin)) return [piece];
  const pieces = earlier.slices(at, at + repeated);
  // Copied, because a part of a piece would keep the whole of it.
  if (repeated < byteLength) pieces.push(Buffer.from(piece.subarray(repeated)));
  return pieces;
}
