// How and when histories are shortened: every knob with its default.
import type { FoldShape } from "../summary/fold-messages.ts";

export interface CompactionSettings {
  /** Whether folds may happen before the window forces them. */
  readonly isEnabled: boolean;
  /** Share of the effective window from which on a fold may happen. */
  readonly compactAtShare: number;
  /** When, from there on: at once, or as soon as the saving is worth what the rewriting costs. */
  readonly timing: "at once" | "when it pays";
  /** What pays many times over may happen before; null for never. Only where folds wait until they pay. */
  readonly early: EarlyFolds | null;
  readonly tailKeepTokens: number;
  /** Of the effective window; the smaller of both counts. */
  readonly tailShareMax: number;
  readonly tailTurnsMin: number;
  /** Of what is available, after a fold and after one that follows an overflow. */
  readonly targetShare: number;
  readonly recoveryTargetShare: number;
  /** Of the window, for one result. */
  readonly toolResultShareMax: number;
  /** An eighth of the window at most, as are the index and an outline. */
  readonly summaryTokensMax: number;
  readonly summaryShape: FoldShape;
  readonly indexTokensMax: number;
  /** Whether the provider's own compaction may be used where it has one. */
  readonly mayUseProvider: boolean;
  readonly clearing: ClearingSettings;
  readonly auto: AutoSettings;
}

export interface EarlyFolds {
  /** Of the threshold. */
  readonly fromShare: number;
  /** From here on in any case: a large window is no reason to read all of it with every call. */
  readonly fromTokensMax: number;
  /** How many times over a fold has to pay if the session goes on as long as it has. Many do not. */
  readonly gainFactorMin: number;
}

/** Old results of bulky tools (`micro` in the seeds). */
export interface ClearingSettings {
  readonly thresholdBytes: number;
  readonly tools: readonly string[];
  /** The newest ones stay, wherever they stand. */
  readonly resultsKept: number;
  /** Less is not worth breaking the cache for; either is enough. */
  readonly gainTokensMin: number;
  readonly gainShareMin: number;
}

export interface AutoSettings {
  /** Instead of `compactAtShare`; null for that one. */
  readonly tokenShare: number | null;
  /** A session this old is folded; null for never. */
  readonly ageMinutesMax: number | null;
  readonly bufferTokens: number;
  readonly bufferShareMax: number;
  readonly turnsBetweenMin: number;
  /** Calls that are as good as turns: one event may take hundreds. */
  readonly callsBetweenMin: number;
  /** Failures in a row until only the window forces folds; 0 for never. */
  readonly consecutiveFailuresMax: number;
  readonly cooldownSeconds: readonly number[];
  /** A fold that frees less is ineffective; so many in a row stop all but forced ones. */
  readonly effectiveShareMin: number;
  readonly ineffectivePassesMax: number;
  readonly foldsMax: number;
  readonly foldsWindowMinutes: number;
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
  summaryTokensMax: 4_096,
  summaryShape: "message",
  indexTokensMax: 2_000,
  mayUseProvider: false,
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
    foldsMax: 3,
    foldsWindowMinutes: 10,
  },
};
