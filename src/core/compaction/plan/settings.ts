// How and when histories are shortened: every setting with its default.
import type { CompactionShape } from "../summary/notes-messages.ts";

export interface CompactionSettings {
  /** Whether compactions may happen before the window forces them. */
  readonly isEnabled: boolean;
  /** The share of the effective window from which a compaction may happen. */
  readonly compactAtShare: number;
  /** When, from there on: at once, or as soon as the saving exceeds the cost of rewriting. */
  readonly timing: "at once" | "when it pays";
  /** A compaction that pays many times over may happen earlier. Null for never. Only with timing "when it pays". */
  readonly early: EarlyCompactions | null;
  readonly tailKeepTokens: number;
  /** A share of the effective window. The smaller of the two limits counts. */
  readonly tailShareMax: number;
  readonly tailTurnsMin: number;
  /** Shares of what is available: after a normal compaction, and after one that follows an overflow. */
  readonly targetShare: number;
  readonly recoveryTargetShare: number;
  /** A share of the window, for one result. */
  readonly toolResultShareMax: number;
  /** The longest summary, as a share of what it replaces. */
  readonly summaryShareMax: number;
  /** The limits of that. At most an eighth of the window, like everything in the notes. */
  readonly summaryTokensMin: number;
  readonly summaryTokensMax: number;
  /** The user's latest messages of the compacted part are kept word for word within this. 0 for none. */
  readonly userWordsTokensMax: number;
  readonly summaryShape: CompactionShape;
  readonly indexTokensMax: number;
  /** Whether to use the provider's own compaction if it has one. */
  readonly mayUseProvider: boolean;
  /** Whether the agent gets a silent turn to save memory before a compaction. */
  readonly flushesMemory: boolean;
  /** How long the lock of a compaction lasts if its process dies. Null for as long as a lease of the ledger. */
  readonly lockSeconds: number | null;
  readonly clearing: ClearingSettings;
  readonly auto: AutoSettings;
}

export interface EarlyCompactions {
  /** A share of the threshold. */
  readonly fromShare: number;
  /** The upper limit for that: even in a large window, every call would read all of it. */
  readonly fromTokensMax: number;
  /** How many times over a compaction must pay if the session lasts as long again. Many do not. */
  readonly gainFactorMin: number;
}

/** Old results of bulky tools. */
export interface ClearingSettings {
  readonly thresholdBytes: number;
  readonly tools: readonly string[];
  /** The newest results always stay. */
  readonly resultsKept: number;
  /** A smaller gain is not worth breaking the cache. Either one is enough. */
  readonly gainTokensMin: number;
  readonly gainShareMin: number;
}

export interface AutoSettings {
  /** Replaces `compactAtShare`. Null to use that one. */
  readonly tokenShare: number | null;
  /** A session of this age is compacted. Null for never. */
  readonly ageMinutesMax: number | null;
  readonly bufferTokens: number;
  readonly bufferShareMax: number;
  readonly turnsBetweenMin: number;
  /** This many calls count like the turns: one event may take hundreds of calls. */
  readonly callsBetweenMin: number;
  /** After this many failures in a row, only the window forces compactions. 0 for never. */
  readonly consecutiveFailuresMax: number;
  readonly cooldownSeconds: readonly number[];
  /** A compaction that frees less is ineffective. `ineffectivePassesMax` in a row stop all but forced ones. */
  readonly effectiveShareMin: number;
  readonly ineffectivePassesMax: number;
  readonly compactionsMax: number;
  readonly compactionsWindowMinutes: number;
}

export const defaultCompactionSettings: CompactionSettings = {
  isEnabled: false,
  compactAtShare: 0.75,
  timing: "when it pays",
  early: { fromShare: 2 / 3, fromTokensMax: 256_000, gainFactorMin: 8 },
  tailKeepTokens: 20_000,
  tailShareMax: 0.2,
  tailTurnsMin: 3,
  targetShare: 0.6,
  recoveryTargetShare: 0.4,
  toolResultShareMax: 0.3,
  summaryShareMax: 0.2,
  summaryTokensMin: 4_096,
  summaryTokensMax: 12_000,
  userWordsTokensMax: 2_000,
  summaryShape: "message",
  indexTokensMax: 2_000,
  mayUseProvider: false,
  flushesMemory: false,
  lockSeconds: null,
  clearing: {
    thresholdBytes: 16_384,
    tools: ["bash", "read", "write", "edit", "grep", "glob", "web_search", "web_fetch"],
    resultsKept: 3,
    gainTokensMin: 10_000,
    gainShareMin: 0.1,
  },
  auto: {
    tokenShare: null,
    ageMinutesMax: null,
    bufferTokens: 13_000,
    bufferShareMax: 0.1,
    turnsBetweenMin: 5,
    callsBetweenMin: 40,
    consecutiveFailuresMax: 3,
    cooldownSeconds: [60, 300, 900],
    effectiveShareMin: 0.1,
    ineffectivePassesMax: 2,
    compactionsMax: 3,
    compactionsWindowMinutes: 10,
  },
};
