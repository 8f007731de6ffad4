// What a call was billed for, in disjoint buckets. core/wire reads the providers' own fields.

/** How long a provider keeps a written prefix, shortest first. */
export const lifetimes = ["5m", "30m", "1h", "12h", "24h"] as const;

export type Lifetime = (typeof lifetimes)[number];

export const secondsOf: Readonly<Record<Lifetime, number>> = {
  "5m": 300,
  "30m": 1800,
  "1h": 3600,
  "12h": 43_200,
  "24h": 86_400,
};

/** No token is in two buckets: uncached + read + every write is the whole prompt. */
export interface Usage {
  readonly uncachedTokens: number;
  readonly cacheReadTokens: number;
  /** Per lifetime, because each has its own price. An absent lifetime was not written. */
  readonly cacheWriteTokens: Readonly<Partial<Record<Lifetime, number>>>;
  /** Generated tokens without reasoning. */
  readonly outputTokens: number;
  /** Generated tokens spent on thinking. 0 if the provider does not report them separately. */
  readonly reasoningTokens: number;
}

export const noUsage: Usage = {
  uncachedTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: {},
  outputTokens: 0,
  reasoningTokens: 0,
};

export function writtenTokens(usage: Usage): number {
  return Object.values(usage.cacheWriteTokens).reduce((sum, tokens) => sum + tokens, 0);
}

/** Everything the model was sent. */
export function promptTokens(usage: Usage): number {
  return usage.uncachedTokens + usage.cacheReadTokens + writtenTokens(usage);
}

/** Everything the model made. */
export function generatedTokens(usage: Usage): number {
  return usage.outputTokens + usage.reasoningTokens;
}

/** The share of the prompt read from cache, 0 to 1. Null if nothing was sent. */
export function hitRate(usage: Usage): number | null {
  const prompt = promptTokens(usage);
  return prompt === 0 ? null : usage.cacheReadTokens / prompt;
}

/** The share of the prompt that the cache read or wrote. */
export function coverage(usage: Usage): number | null {
  const prompt = promptTokens(usage);
  return prompt === 0 ? null : 1 - usage.uncachedTokens / prompt;
}

export function addUsage(left: Usage, right: Usage): Usage {
  const cacheWriteTokens: Record<string, number> = { ...left.cacheWriteTokens };
  for (const [lifetime, tokens] of Object.entries(right.cacheWriteTokens)) {
    cacheWriteTokens[lifetime] = (cacheWriteTokens[lifetime] ?? 0) + tokens;
  }
  return {
    uncachedTokens: left.uncachedTokens + right.uncachedTokens,
    cacheReadTokens: left.cacheReadTokens + right.cacheReadTokens,
    cacheWriteTokens,
    outputTokens: left.outputTokens + right.outputTokens,
    reasoningTokens: left.reasoningTokens + right.reasoningTokens,
  };
}

export function totalUsage(usages: readonly Usage[]): Usage {
  return usages.reduce(addUsage, noUsage);
}
