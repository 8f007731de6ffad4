// llm.context_optimization.compaction: when and how histories are shortened. Names as in core/compaction.
import { choice, flag, optionalWhole, refused, share, text, whole } from "../leaves.ts";
import { converted, group, section, written } from "../sections.ts";
import type { Spec } from "../spec.ts";

export interface CompactionConfig {
  readonly isEnabled: boolean;
  readonly compactAtShare: number;
  readonly timing: "at once" | "when it pays";
  /** Null for never. */
  readonly early: EarlyConfig | null;
  readonly tailKeepTokens: number;
  readonly toolResultShareMax: number;
  /** Null for the session's own model. */
  readonly summarizerModel: string | null;
  readonly summaryShape: "message" | "pair";
  readonly summaryShareMax: number;
  readonly summaryTokensMax: number;
  readonly userWordsTokensMax: number;
  /** Null for as long as a lease of the ledger. */
  readonly lockSeconds: number | null;
  readonly mayUseProvider: boolean;
  readonly flushesMemory: boolean;
  readonly clearing: ClearingConfig;
  readonly auto: AutoConfig;
}

interface EarlyConfig {
  readonly fromShare: number;
  readonly fromTokensMax: number;
  readonly gainFactorMin: number;
}

interface ClearingConfig {
  readonly thresholdBytes: number;
  /** Refused where they are set. */
  readonly model: null;
  readonly summaryCharsMax: null;
}

interface AutoConfig {
  /** Null where `compactAtShare` decides. */
  readonly tokenShare: number | null;
  /** Null for any age. */
  readonly ageMinutesMax: number | null;
  readonly bufferTokens: number;
  readonly turnsBetweenMin: number;
  /** 0 for never. */
  readonly consecutiveFailuresMax: number;
}

const early: Spec<EarlyConfig | null> = section(
  "compaction before compact_at_pct is reached, with timing: when_it_pays",
  {
    enabled: flag(true, "whether to compact early when the saving is many times the cost"),
    from_pct: share(2 / 3, "not below this share of compact_at_pct"),
    from_tokens_max: whole(
      { usual: 256_000, min: 1 },
      "allowed from this many tokens on in any case",
    ),
    gain_factor_min: whole(
      { usual: 8, min: 1 },
      "how many times its cost it must save, if the session goes on as long as it has lasted",
    ),
  },
  (get) => {
    const settings = {
      fromShare: get("from_pct"),
      fromTokensMax: get("from_tokens_max"),
      gainFactorMin: get("gain_factor_min"),
    };
    return get("enabled") ? settings : null;
  },
);

const noMicroModel =
  "no model writes a text for a cleared result: a fixed line replaces it, and history_read returns all of it";

const micro: Spec<ClearingConfig> = group("clearing old results of bulky tools", {
  thresholdBytes: whole({ usual: 16_384, min: 1 }, "smaller results are not cleared"),
  model: written("provider", refused(noMicroModel, "name no model here")),
  summaryCharsMax: written("summary_max_chars", refused(noMicroModel, "give no length here")),
});

const auto: Spec<AutoConfig> = section(
  "compaction by size and by age; without this section only by size",
  {
    token_pct: share(0.8, "share of the effective window, instead of compact_at_pct"),
    max_age_minutes: whole({ usual: 120, min: 0 }, "compact a session this old; 0: never"),
    buffer_tokens: whole(
      { usual: 13_000, min: 0 },
      "part of the window that stays free besides the reply",
    ),
    min_turns_between: whole(
      { usual: 5, min: 0 },
      "turns between two compactions, unless the window is full",
    ),
    max_consecutive_failures: whole(
      { usual: 3, min: 0 },
      "failures in a row after which only a full window is compacted; 0: no limit",
    ),
  },
  (get, { node }) => {
    const [tokenShare, ageMinutes] = [get("token_pct"), get("max_age_minutes")];
    return {
      tokenShare: node === undefined ? null : tokenShare,
      ageMinutesMax: node === undefined || ageMinutes === 0 ? null : ageMinutes,
      bufferTokens: get("buffer_tokens"),
      turnsBetweenMin: get("min_turns_between"),
      consecutiveFailuresMax: get("max_consecutive_failures"),
    };
  },
  { isSwitch: true },
);

const timing: Spec<CompactionConfig["timing"]> = converted(
  choice(
    ["when_it_pays", "at_once"],
    "when_it_pays",
    "above that share: as soon as the saving is worth the rewriting, or immediately",
  ),
  (name) => (name === "at_once" ? "at once" : "when it pays"),
);

export const compaction: Spec<CompactionConfig> = group("shortening histories", {
  isEnabled: written(
    "enabled",
    flag(false, "whether histories are compacted before the window is full"),
  ),
  compactAtShare: written(
    "compact_at_pct",
    share(0.75, "share of the effective window above which a compaction may happen"),
  ),
  timing,
  early,
  tailKeepTokens: whole({ usual: 20_000, min: 0 }, "tokens of the latest turns that are kept"),
  toolResultShareMax: written(
    "tool_result_max_pct",
    share(0.3, "share of the window that one tool result may take"),
  ),
  summarizerModel: text("the model that writes summaries; default: the session's own"),
  summaryShape: choice(
    ["message", "pair"],
    "message",
    "a summary as one user message, or followed by an acknowledgement",
  ),
  summaryShareMax: written(
    "summary_pct",
    share(0.2, "the longest summary, as a share of what it replaces; at least 4096 tokens"),
  ),
  summaryTokensMax: written(
    "summary_max_tokens",
    whole(
      { usual: 12_000, min: 200 },
      "the longest summary; also at most a twentieth of the window where that is above 4096 tokens",
    ),
  ),
  userWordsTokensMax: written(
    "user_words_max_tokens",
    whole(
      { usual: 2000, min: 0 },
      "tokens for the user's latest messages of the compacted part, which are kept word for word; 0: none",
    ),
  ),
  lockSeconds: written(
    "lock_ttl_seconds",
    optionalWhole(
      { min: 1, max: 7200 },
      "how long the lock of a compaction lasts if its process dies; default: as long as a lease of the ledger",
    ),
  ),
  mayUseProvider: written(
    "use_provider",
    flag(false, "whether a provider's own compaction may be used where there is one"),
  ),
  flushesMemory: written(
    "memory_flush",
    flag(false, "whether the agent gets a silent turn to save memory before a compaction"),
  ),
  clearing: written("micro", micro),
  auto,
});
