// Writes that nobody read: on one thread, under one policy.

/** Follows the written spans of a thread, in tokens from the start of the prompt. */
export interface WriteWatch {
  /** A call that shares `shared` tokens with the one before, reads up to `read` and writes from there up to `written`. */
  observe(call: { readonly shared: number; readonly read: number; readonly written: number }): void;
  /** So far, with what is still waiting to be read. */
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
  /** How far this very prompt was ever written. */
  let everTo = 0;
  return {
    observe: ({ shared, read, written }) => {
      everTo = Math.min(everTo, shared);
      const kept: Span[] = [];
      for (const span of waiting) {
        // What was read is useful; what lies beyond the shared part is gone, and what is written again was in vain.
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
