// Possible merges, lowest rank first and leftmost first among equals: a binary heap of numbers.

/** Positions per heap. A rank and a position share one 32-bit number, which limits the positions to this many. */
export const positionsMax = 2048;
const positionBits = 11;

export class CandidateHeap {
  private readonly entries: Int32Array;
  private size = 0;

  constructor(entriesMax: number) {
    this.entries = new Int32Array(entriesMax);
  }

  get isEmpty(): boolean {
    return this.size === 0;
  }

  clear(): void {
    this.size = 0;
  }

  add(rank: number, position: number): void {
    const { entries } = this;
    const entry = (rank << positionBits) | position;
    let place = this.size;
    this.size += 1;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      const above = entries[parent]!;
      if (above <= entry) break;
      entries[place] = above;
      place = parent;
    }
    entries[place] = entry;
  }

  /** Removes and returns the lowest entry. Read it with rankOf and positionOf. */
  take(): number {
    const { entries } = this;
    const lowest = entries[0]!;
    const size = this.size - 1;
    this.size = size;
    const moved = entries[size]!;
    let place = 0;
    for (;;) {
      let child = place * 2 + 1;
      if (child >= size) break;
      let below = entries[child]!;
      if (child + 1 < size && entries[child + 1]! < below) {
        child += 1;
        below = entries[child]!;
      }
      if (below >= moved) break;
      entries[place] = below;
      place = child;
    }
    entries[place] = moved;
    return lowest;
  }
}

export function rankOf(entry: number): number {
  return entry >> positionBits;
}

export function positionOf(entry: number): number {
  return entry & (positionsMax - 1);
}
