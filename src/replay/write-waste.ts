// Counts writes that are never read, on one thread under one policy.

/** Tracks the written spans of a thread, in tokens from the start of the prompt. */
export interface WriteWatch {
  /** A call that shares `shared` tokens with the previous one, reads up to `read` and writes from there to `written`. */
  observe(call: { readonly shared: number; readonly read: number; readonly written: number }): void;
  /** Totals so far; writes not read yet count as wasted. */
  totals(): WriteTotals;
}

export interface WriteTotals {
  readonly writtenTokens: number;
  /** Written and never read. */
  readonly wastedTokens: number;
  /** Written for the first time; the rest was written again. */
  readonly firstTokens: number;
}

interface Span {
  readonly from: number;
  readonly to: number;
}

export function createWriteWatch(): WriteWatch {
  let waiting: Span[] = [];
  let writtenTokens = 0;
  let wastedTokens = 0;
  let firstTokens = 0;
  /** How far the current prompt was ever written. */
  let everTo = 0;
  return {
    observe: ({ shared, read, written }) => {
      everTo = Math.min(everTo, shared);
      const kept: Span[] = [];
      for (const span of waiting) {
        // Unread tokens are wasted if the prompt diverged before their end, or if they are written again.
        const unread = Math.max(0, span.to - Math.max(span.from, read));
        const isLost = span.to > shared || written > read;
        if (unread === 0) continue;
        if (isLost) wastedTokens += unread;
        else kept.push({ from: Math.max(span.from, read), to: span.to });
      }
      waiting = kept;
      if (written <= read) return;
      writtenTokens += written - read;
      firstTokens += Math.max(0, written - Math.max(read, everTo));
      everTo = Math.max(everTo, written);
      waiting.push({ from: read, to: written });
    },
    totals: () => ({
      writtenTokens,
      wastedTokens: wastedTokens + waiting.reduce((sum, { from, to }) => sum + to - from, 0),
      firstTokens,
    }),
  };
}
