// Tracks who held the lease of a turn: a commit that began after another writer took over must be refused.

export interface Committed {
  readonly writer: string;
  readonly turnId?: string;
  readonly takesLease?: boolean;
  /** When the commit began, and when it was acknowledged. */
  readonly us: number;
  readonly doneUs: number;
}

export interface Holders {
  note(committed: Committed): void;
  /** Commits by writers that had lost their lease, in words, each once. Call after all events were received. */
  findFenced(): readonly string[];
}

export function createHolders(): Holders {
  const turns = new Map<string, Committed[]>();
  return {
    note: (committed) => {
      const { turnId } = committed;
      if (turnId === undefined) return;
      turns.set(turnId, [...(turns.get(turnId) ?? []), committed]);
    },
    findFenced: () => {
      const found: string[] = [];
      for (const [turnId, commits] of turns) {
        const takeovers = commits
          .filter(({ takesLease }) => takesLease === true)
          .toSorted((left, right) => left.doneUs - right.doneUs);
        for (const { writer, us, takesLease } of commits) {
          if (takesLease === true) continue;
          const holder = takeovers.findLast(({ doneUs }) => doneUs < us)?.writer;
          if (holder !== undefined && holder !== writer) {
            found.push(`${writer} committed in turn ${turnId} after ${holder} had taken it over`);
          }
        }
        // The next writer has to take the lease first.
        turns.delete(turnId);
      }
      return found;
    },
  };
}
