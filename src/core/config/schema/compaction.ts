// llm.context_optimization.compaction: when and how histories are shortened. Names as in core/compaction.
import { choice, flag, share, text, whole } from "../leaves.ts";
import { section } from "../sections.ts";
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
  readonly lockSeconds: number;
  readonly mayUseProvider: boolean;
  readonly clearing: ClearingConfig;
  readonly auto: AutoConfig;
}

export interface EarlyConfig {
  readonly fromShare: number;
  readonly fromTokensMax: number;
  readonly gainFactorMin: number;
}

export interface ClearingConfig {
  readonly thresholdBytes: number;
  /** Null for a fixed text. */
  readonly model: string | null;
  readonly summaryCharsMax: number;
}

export interface AutoConfig {
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
  "compaction before compact_at_pct, with the timing when_it_pays",
  {
    enabled: flag(true, "whether what pays many times over may happen before"),
    from_pct: share(2 / 3, "from this share of what compact_at_pct comes to"),
    from_tokens_max: whole({ usual: 256_000, min: 1 }, "from here on in any case"),
    gain_factor_min: whole(
      { usual: 8, min: 1 },
      "how many times over it has to pay if the session goes on as long as it has",
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

const micro: Spec<ClearingConfig> = section(
  "clearing old results of bulky tools",
  {
    threshold_bytes: whole({ usual: 16_384, min: 1 }, "smaller results stay as they are"),
    provider: text(
      "not used: a fixed line stands for what was cleared, and history_read gives all of it back",
    ),
    summary_max_chars: whole({ usual: 2048, min: 1, max: 100_000 }, "not used, as provider is not"),
  },
  (get) => ({
    thresholdBytes: get("threshold_bytes"),
    model: get("provider"),
    summaryCharsMax: get("summary_max_chars"),
  }),
);

const auto: Spec<AutoConfig> = section(
  "compaction by size and by age; without this section only by size",
  {
    token_pct: share(0.8, "share of the effective window, instead of compact_at_pct"),
    max_age_minutes: whole({ usual: 120, min: 0 }, "compact a session this old; 0 for never"),
    buffer_tokens: whole({ usual: 13_000, min: 0 }, "kept free of the window beside the reply"),
    min_turns_between: whole(
      { usual: 5, min: 0 },
      "turns between two compactions, unless the window is full",
    ),
    max_consecutive_failures: whole(
      { usual: 3, min: 0 },
      "failures in a row after which only a full window is compacted; 0 for no limit",
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

export const compaction: Spec<CompactionConfig> = section(
  "shortening histories",
  {
    enabled: flag(false, "whether histories are compacted before the window is full"),
    compact_at_pct: share(
      0.75,
      "share of the effective window above which a compaction may happen",
    ),
    timing: choice(
      ["when_it_pays", "at_once"],
      "when_it_pays",
      "from there on: as soon as the saving is worth the rewriting, or at once",
    ),
    early,
    tail_keep_tokens: whole({ usual: 20_000, min: 0 }, "of the latest turns, kept as they are"),
    tool_result_max_pct: share(0.3, "share of the window that one tool result may take"),
    summarizer_model: text("who writes summaries; the session's own model without it"),
    summary_shape: choice(
      ["message", "pair"],
      "message",
      "a summary as one user message, or with an acknowledgement after it",
    ),
    lock_ttl_seconds: whole(
      { usual: 300, min: 1, max: 7200 },
      "not used: a lock lives as long as a lease of the ledger",
    ),
    use_provider: flag(false, "whether a provider's own compaction may be used where it has one"),
    micro,
    auto,
  },
  (get) => ({
    isEnabled: get("enabled"),
    compactAtShare: get("compact_at_pct"),
    timing: get("timing") === "at_once" ? "at once" : "when it pays",
    early: get("early"),
    tailKeepTokens: get("tail_keep_tokens"),
    toolResultShareMax: get("tool_result_max_pct"),
    summarizerModel: get("summarizer_model"),
    summaryShape: get("summary_shape"),
    lockSeconds: get("lock_ttl_seconds"),
    mayUseProvider: get("use_provider"),
    clearing: get("micro"),
    auto: get("auto"),
  }),
);
