// The body of a request, kept for the observer up to a limit. The bodies of all open exchanges have a limit together.
import { assert } from "../../core/assert.ts";
import type { Observation } from "../exchange.ts";

/** Bodies that are kept at the same time. */
export interface Shelf {
  readonly bodyBytesMax: number;
  keptBytes: number;
  /** Requests that were too large to be kept. */
  unreadBodies: number;
}

export interface KeptBody {
  /** Returns the same bytes to pass on. If they are in other memory, the given piece is free. */
  add(piece: Uint8Array): readonly Uint8Array[];
  /** Null if the body was too large, or was taken. */
  pieces(): readonly Uint8Array[] | null;
  /** From here on the observer holds the body; it counts as kept until it is released. */
  take(): readonly Uint8Array[] | null;
  release(): void;
}

/** How many bodies of the largest size all open exchanges may keep at once. */
const fullBodiesMax = 4;

/** `onFault`: the observer failed, and is asked no more. */
export function openKeptBody(
  { keep }: Pick<Observation, "keep">,
  shelf: Shelf,
  onFault: (error: unknown) => void,
): KeptBody {
  let pieces: Uint8Array[] | null = [];
  let ownBytes = 0;
  let mayAsk = keep !== undefined;
  const inMemory = (piece: Uint8Array): readonly Uint8Array[] => {
    if (keep === undefined || !mayAsk) return [piece];
    try {
      const kept = keep(piece);
      assert(lengthOf(kept) === piece.byteLength, "a piece is kept whole");
      return kept;
    } catch (error) {
      mayAsk = false;
      onFault(error);
      return [piece];
    }
  };
  const release = (): void => {
    shelf.keptBytes -= ownBytes;
    [ownBytes, pieces] = [0, null];
  };
  return {
    add: (piece) => {
      if (pieces === null) return [piece];
      const kept = inMemory(piece);
      ownBytes += piece.byteLength;
      shelf.keptBytes += piece.byteLength;
      pieces.push(...kept);
      const { bodyBytesMax, keptBytes } = shelf;
      if (ownBytes > bodyBytesMax || keptBytes > bodyBytesMax * fullBodiesMax) {
        shelf.unreadBodies += 1;
        release();
      }
      return kept;
    },
    pieces: () => pieces,
    take: () => {
      const whole = pieces;
      pieces = null;
      return whole;
    },
    release,
  };
}

function lengthOf(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((sum, { byteLength }) => sum + byteLength, 0);
}
