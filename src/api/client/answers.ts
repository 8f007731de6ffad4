// Generated from src/api/routes by npm run fix. What each route takes and answers, without any import.
// oxlint-disable max-lines

export const apiBase = "/strata/v1";

/** The name of a figure, and a direction where it is not the usual one. */
export type OrderBy<Name extends string> = Name | `${Name}:${"asc" | "desc"}`;

/** By the name of the route. */
export interface ApiRoutes {
  readonly cache_effectiveness: {
    readonly path: undefined;
    readonly query: {
      /** start: a day (`2026-11-09`), a time (`2026-11-09T08:00Z`) or an age (`24h`, `30d`); default: 7 days before the end */
      readonly from?: string;
      /** end, not included, in the same forms; default: now */
      readonly to?: string;
      /** one row per model, session, day … */
      readonly group_by?: "model" | "provider" | "session" | "agent" | "parent_session" | "is_worker" | "gateway_key" | "user" | "team" | "day" | "hour" | "none" | "tier";
      /** the figure to sort by, or `group`; `:asc` and `:desc` change the direction */
      readonly order?: OrderBy<"call_count" | "hit_rate" | "cache_write_share" | "coverage" | "rewrite_factor" | "group">;
      /** at most so many rows, 1 to 1000; default: 100 */
      readonly limit?: number;
      /** with rows by day or hour: at most so many, 1 to 2000; default: 2000 */
      readonly points?: number;
    };
    readonly body: undefined;
    readonly answer: CacheEffectivenessAnswer;
  };
  readonly cost: {
    readonly path: undefined;
    readonly query: {
      /** start: a day (`2026-11-09`), a time (`2026-11-09T08:00Z`) or an age (`24h`, `30d`); default: 7 days before the end */
      readonly from?: string;
      /** end, not included, in the same forms; default: now */
      readonly to?: string;
      /** one row per model, session, day … */
      readonly group_by?: "model" | "provider" | "session" | "agent" | "parent_session" | "is_worker" | "gateway_key" | "user" | "team" | "day" | "hour" | "none";
      /** the figure to sort by, or `group`; `:asc` and `:desc` change the direction */
      readonly order?: OrderBy<"cost_usd" | "call_count" | "hit_rate" | "group">;
      /** at most so many rows, 1 to 1000; default: 100 */
      readonly limit?: number;
      /** with rows by day or hour: at most so many, 1 to 2000; default: 2000 */
      readonly points?: number;
    };
    readonly body: undefined;
    readonly answer: CostAnswer;
  };
  readonly savings: {
    readonly path: undefined;
    readonly query: {
      /** start: a day (`2026-11-09`), a time (`2026-11-09T08:00Z`) or an age (`24h`, `30d`); default: 7 days before the end */
      readonly from?: string;
      /** end, not included, in the same forms; default: now */
      readonly to?: string;
      /** one row per model, session, day … */
      readonly group_by?: "model" | "provider" | "session" | "agent" | "parent_session" | "is_worker" | "gateway_key" | "user" | "team" | "day" | "hour" | "none";
      /** the figure to sort by, or `group`; `:asc` and `:desc` change the direction */
      readonly order?: OrderBy<"saved_usd" | "call_count" | "group">;
      /** at most so many rows, 1 to 1000; default: 100 */
      readonly limit?: number;
      /** with rows by day or hour: at most so many, 1 to 2000; default: 2000 */
      readonly points?: number;
      /** the model to compare prices with */
      readonly baseline?: string;
    };
    readonly body: undefined;
    readonly answer: SavingsAnswer;
  };
  readonly sessions: {
    readonly path: undefined;
    readonly query: {
      /** start: a day (`2026-11-09`), a time (`2026-11-09T08:00Z`) or an age (`24h`, `30d`); default: 7 days before the end */
      readonly from?: string;
      /** end, not included, in the same forms; default: now */
      readonly to?: string;
      /** one row per model, session, day … */
      readonly group_by?: "session";
      /** the figure to sort by, or `group`; `:asc` and `:desc` change the direction */
      readonly order?: OrderBy<"cost_usd" | "call_count" | "turn_count" | "hit_rate" | "last_call_at" | "group">;
      /** at most so many rows, 1 to 1000; default: 100 */
      readonly limit?: number;
      /** with rows by day or hour: at most so many, 1 to 2000; default: 2000 */
      readonly points?: number;
    };
    readonly body: undefined;
    readonly answer: SessionsAnswer;
  };
  readonly turns: {
    readonly path: undefined;
    readonly query: {
      /** start: a day (`2026-11-09`), a time (`2026-11-09T08:00Z`) or an age (`24h`, `30d`); default: 7 days before the end */
      readonly from?: string;
      /** end, not included, in the same forms; default: now */
      readonly to?: string;
      /** one row per model, session, day … */
      readonly group_by?: "turn";
      /** the figure to sort by, or `group`; `:asc` and `:desc` change the direction */
      readonly order?: OrderBy<"started_at" | "cost_usd" | "call_count" | "duration_ms" | "group">;
      /** at most so many rows, 1 to 1000; default: 100 */
      readonly limit?: number;
      /** with rows by day or hour: at most so many, 1 to 2000; default: 2000 */
      readonly points?: number;
      /** only this turn, call by call */
      readonly turn?: string;
    };
    readonly body: undefined;
    readonly answer: TurnsAnswer;
  };
  readonly reliability: {
    readonly path: undefined;
    readonly query: {
      /** start: a day (`2026-11-09`), a time (`2026-11-09T08:00Z`) or an age (`24h`, `30d`); default: 7 days before the end */
      readonly from?: string;
      /** end, not included, in the same forms; default: now */
      readonly to?: string;
      /** one row per model, session, day … */
      readonly group_by?: "model" | "provider" | "day" | "hour" | "none";
      /** the figure to sort by, or `group`; `:asc` and `:desc` change the direction */
      readonly order?: OrderBy<"call_count" | "failure_rate" | "failed_call_count" | "latency_ms_p95" | "group">;
      /** at most so many rows, 1 to 1000; default: 100 */
      readonly limit?: number;
      /** with rows by day or hour: at most so many, 1 to 2000; default: 2000 */
      readonly points?: number;
    };
    readonly body: undefined;
    readonly answer: ReliabilityAnswer;
  };
  readonly routing: {
    readonly path: undefined;
    readonly query: {
      /** start: a day (`2026-11-09`), a time (`2026-11-09T08:00Z`) or an age (`24h`, `30d`); default: 7 days before the end */
      readonly from?: string;
      /** end, not included, in the same forms; default: now */
      readonly to?: string;
      /** one row per model, session, day … */
      readonly group_by?: "model" | "day" | "none";
      /** the figure to sort by, or `group`; `:asc` and `:desc` change the direction */
      readonly order?: OrderBy<"turn_count" | "switched_turn_count" | "group">;
      /** at most so many rows, 1 to 1000; default: 100 */
      readonly limit?: number;
      /** with rows by day or hour: at most so many, 1 to 2000; default: 2000 */
      readonly points?: number;
    };
    readonly body: undefined;
    readonly answer: RoutingAnswer;
  };
  readonly skills: {
    readonly path: undefined;
    readonly query: {
      /** start: a day (`2026-11-09`), a time (`2026-11-09T08:00Z`) or an age (`24h`, `30d`); default: 7 days before the end */
      readonly from?: string;
      /** end, not included, in the same forms; default: now */
      readonly to?: string;
      /** one row per model, session, day … */
      readonly group_by?: "skill" | "source" | "session" | "day" | "none";
      /** the figure to sort by, or `group`; `:asc` and `:desc` change the direction */
      readonly order?: OrderBy<"load_count" | "loaded_tokens" | "search_count" | "last_loaded_at" | "group">;
      /** at most so many rows, 1 to 1000; default: 100 */
      readonly limit?: number;
      /** with rows by day or hour: at most so many, 1 to 2000; default: 2000 */
      readonly points?: number;
    };
    readonly body: undefined;
    readonly answer: SkillsAnswer;
  };
  readonly misses: {
    readonly path: undefined;
    readonly query: {
      /** start: a day (`2026-11-09`), a time (`2026-11-09T08:00Z`) or an age (`24h`, `30d`); default: 7 days before the end */
      readonly from?: string;
      /** end, not included, in the same forms; default: now */
      readonly to?: string;
      /** one row per model, session, day … */
      readonly group_by?: "cause" | "section" | "tier" | "model" | "session" | "turn" | "day" | "hour" | "none";
      /** the figure to sort by, or `group`; `:asc` and `:desc` change the direction */
      readonly order?: OrderBy<"lost_cost_usd" | "miss_count" | "lost_tokens" | "group">;
      /** at most so many rows, 1 to 1000; default: 100 */
      readonly limit?: number;
      /** with rows by day or hour: at most so many, 1 to 2000; default: 2000 */
      readonly points?: number;
    };
    readonly body: undefined;
    readonly answer: MissesAnswer;
  };
  readonly compactions: {
    readonly path: undefined;
    readonly query: {
      /** start: a day (`2026-11-09`), a time (`2026-11-09T08:00Z`) or an age (`24h`, `30d`); default: 7 days before the end */
      readonly from?: string;
      /** end, not included, in the same forms; default: now */
      readonly to?: string;
      /** one row per model, session, day … */
      readonly group_by?: "trigger" | "kind" | "model" | "session" | "day" | "none";
      /** the figure to sort by, or `group`; `:asc` and `:desc` change the direction */
      readonly order?: OrderBy<"compaction_count" | "cost_usd" | "tokens_before" | "group">;
      /** at most so many rows, 1 to 1000; default: 100 */
      readonly limit?: number;
      /** with rows by day or hour: at most so many, 1 to 2000; default: 2000 */
      readonly points?: number;
    };
    readonly body: undefined;
    readonly answer: CompactionsAnswer;
  };
  readonly session_picture: {
    readonly path: {
      readonly session: string;
    };
    readonly query: undefined;
    readonly body: undefined;
    readonly answer: SessionPictureAnswer;
  };
  readonly session_list: {
    readonly path: undefined;
    readonly query: {
      /** start: a day (`2026-11-09`), a time (`2026-11-09T08:00Z`) or an age (`24h`, `30d`); default: 7 days before the end */
      readonly from?: string;
      /** end, not included, in the same forms; default: now */
      readonly to?: string;
      /** only those that have all these words in their name, program, model, task, folder or context */
      readonly search?: string;
      /** sessions of our own, conversations that the gateway saw, or all */
      readonly origin?: "all" | "engine" | "gateway";
      /** only those of this agent or program */
      readonly agent?: string;
      /** only those that this session started */
      readonly parent?: string;
      /** at most so many rows, 1 to 1000; default: 100 */
      readonly limit?: number;
      /** `next_cursor` of the page before; none for the first page */
      readonly cursor?: string;
    };
    readonly body: undefined;
    readonly answer: SessionListAnswer;
  };
  readonly session: {
    readonly path: {
      readonly session: string;
    };
    readonly query: undefined;
    readonly body: undefined;
    readonly answer: SessionAnswer;
  };
  readonly call_list: {
    readonly path: undefined;
    readonly query: {
      /** start: a day (`2026-11-09`), a time (`2026-11-09T08:00Z`) or an age (`24h`, `30d`); default: 7 days before the end */
      readonly from?: string;
      /** end, not included, in the same forms; default: now */
      readonly to?: string;
      /** only those of this session */
      readonly session?: string;
      /** only those of this model */
      readonly model?: string;
      /** only those of this agent or program */
      readonly agent?: string;
      /** at most so many rows, 1 to 1000; default: 100 */
      readonly limit?: number;
      /** `next_cursor` of the page before; none for the first page */
      readonly cursor?: string;
    };
    readonly body: undefined;
    readonly answer: CallListAnswer;
  };
  readonly session_calls: {
    readonly path: {
      readonly session: string;
    };
    readonly query: {
      /** at most so many rows, 1 to 1000; default: 100 */
      readonly limit?: number;
      /** `next_cursor` of the page before; none for the first page */
      readonly cursor?: string;
    };
    readonly body: undefined;
    readonly answer: SessionCallsAnswer;
  };
  readonly call: {
    readonly path: {
      readonly session: string;
      readonly call: string;
    };
    readonly query: undefined;
    readonly body: undefined;
    readonly answer: CallAnswer;
  };
  readonly event_list: {
    readonly path: undefined;
    readonly query: {
      /** only events after this position */
      readonly after?: string;
      /** only events of these types, with commas between */
      readonly types?: string;
      /** only those of this session */
      readonly session?: string;
      /** at most so many rows, 1 to 1000; default: 100 */
      readonly limit?: number;
    };
    readonly body: undefined;
    readonly answer: EventListAnswer;
  };
  readonly event_stream: {
    readonly path: undefined;
    readonly query: {
      /** only events after this position */
      readonly after?: string;
      /** only events of these types, with commas between */
      readonly types?: string;
      /** only those of this session */
      readonly session?: string;
    };
    readonly body: undefined;
    readonly answer: EventStreamAnswer;
  };
  readonly miss_list: {
    readonly path: undefined;
    readonly query: {
      /** start: a day (`2026-11-09`), a time (`2026-11-09T08:00Z`) or an age (`24h`, `30d`); default: 7 days before the end */
      readonly from?: string;
      /** end, not included, in the same forms; default: now */
      readonly to?: string;
      /** only those of this session */
      readonly session?: string;
      /** only misses of this cause */
      readonly cause?: "first call" | "model changed" | "tools changed" | "tools reordered" | "system changed" | "history rewritten" | "parameter changed" | "beta header changed" | "lifetime expired" | "below the minimum" | "beyond lookback" | "written concurrently" | "provider lost it" | "nothing was marked" | "no slot for a marker" | "changed after the head" | "another host" | "stored prefix gone";
      /** at most so many rows, 1 to 1000; default: 100 */
      readonly limit?: number;
      /** `next_cursor` of the page before; none for the first page */
      readonly cursor?: string;
    };
    readonly body: undefined;
    readonly answer: MissListAnswer;
  };
  readonly compaction_list: {
    readonly path: undefined;
    readonly query: {
      /** start: a day (`2026-11-09`), a time (`2026-11-09T08:00Z`) or an age (`24h`, `30d`); default: 7 days before the end */
      readonly from?: string;
      /** end, not included, in the same forms; default: now */
      readonly to?: string;
      /** only those of this session */
      readonly session?: string;
      /** at most so many rows, 1 to 1000; default: 100 */
      readonly limit?: number;
      /** `next_cursor` of the page before; none for the first page */
      readonly cursor?: string;
    };
    readonly body: undefined;
    readonly answer: CompactionListAnswer;
  };
  readonly weight: {
    readonly path: undefined;
    readonly query: {
      /** start: a day (`2026-11-09`), a time (`2026-11-09T08:00Z`) or an age (`24h`, `30d`); default: 7 days before the end */
      readonly from?: string;
      /** end, not included, in the same forms; default: now */
      readonly to?: string;
      /** one row per model, session, day … */
      readonly group_by?: "section" | "tier" | "kind" | "role" | "session" | "block";
      /** only those of this session */
      readonly session?: string;
      /** at most so many rows, 1 to 1000; default: 100 */
      readonly limit?: number;
    };
    readonly body: undefined;
    readonly answer: WeightAnswer;
  };
  readonly warmth: {
    readonly path: undefined;
    readonly query: {
      /** only those of this session */
      readonly session?: string;
      /** at most so many rows, 1 to 1000; default: 100 */
      readonly limit?: number;
    };
    readonly body: undefined;
    readonly answer: WarmthAnswer;
  };
  readonly policies: {
    readonly path: undefined;
    readonly query: {
      /** start: a day (`2026-11-09`), a time (`2026-11-09T08:00Z`) or an age (`24h`, `30d`); default: 7 days before the end */
      readonly from?: string;
      /** end, not included, in the same forms; default: now */
      readonly to?: string;
      /** only those of this session */
      readonly session?: string;
      /** only those of this model */
      readonly model?: string;
      /** only those of this agent or program */
      readonly agent?: string;
    };
    readonly body: undefined;
    readonly answer: PoliciesAnswer;
  };
  readonly models: {
    readonly path: undefined;
    readonly query: {
      /** only those of this model */
      readonly model?: string;
      /** only those that have all these words in their name, program, model, task, folder or context */
      readonly search?: string;
    };
    readonly body: undefined;
    readonly answer: ModelsAnswer;
  };
  readonly health: {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: undefined;
    readonly answer: HealthAnswer;
  };
  readonly me: {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: undefined;
    readonly answer: MeAnswer;
  };
  readonly new_login_code: {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: Readonly<Record<string, never>>;
    readonly answer: NewLoginCodeAnswer;
  };
  readonly login: {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: {
      /** from `POST /login-codes` */
      readonly code: string;
    };
    readonly answer: LoginAnswer;
  };
  readonly logout: {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: Readonly<Record<string, never>>;
    readonly answer: LogoutAnswer;
  };
  readonly openapi: {
    readonly path: undefined;
    readonly query: undefined;
    readonly body: undefined;
    readonly answer: OpenapiAnswer;
  };
}

/** How much of the prompts was read from the cache, and what was written to it, once or again. */
export type CacheEffectivenessAnswer = {
  /** the time that the answer is about, in UTC */
  readonly window: {
    /** included */
    readonly start: string;
    /** not included */
    readonly end: string;
  };
  /** the latest day on which a current price was checked */
  readonly current_pricing_version: string;
  /** best first, as ordered */
  readonly data: readonly ({
    /** with `group_by=model`; null if there is none */
    readonly model?: string | null;
    /** with `group_by=provider`; null if there is none */
    readonly provider?: string | null;
    /** with `group_by=session`; null if there is none */
    readonly session?: string | null;
    /** with `group_by=agent`; null if there is none */
    readonly agent?: string | null;
    /** with `group_by=parent_session`; null if there is none */
    readonly parent_session?: string | null;
    /** with `group_by=is_worker`; null for deleted sessions */
    readonly is_worker?: boolean | null;
    /** with `group_by=gateway_key`; null if there is none */
    readonly gateway_key?: string | null;
    /** with `group_by=user`; null if there is none */
    readonly user?: string | null;
    /** with `group_by=team`; null if there is none */
    readonly team?: string | null;
    /** with `group_by=day`; null if there is none */
    readonly day?: string | null;
    /** with `group_by=hour`; null if there is none */
    readonly hour?: string | null;
    /** with `group_by=tier`; null if there is none */
    readonly tier?: string | null;
    /** whole number */
    readonly uncached_input_tokens: number;
    /** whole number */
    readonly cached_input_tokens: number;
    /** whole number */
    readonly cache_creation_tokens: number;
    /** whole number */
    readonly call_count: number;
    /** whole number; null if unknown */
    readonly distinct_tokens: number | null;
    /** a share; null if the whole is 0 */
    readonly hit_rate: number | null;
    /** a share; null if the whole is 0 */
    readonly cache_write_share: number | null;
    /** a share; null if the whole is 0 */
    readonly coverage: number | null;
    /** a share; null if the whole is 0 */
    readonly rewrite_factor: number | null;
  })[];
  /** rows beyond the limit */
  readonly left_out_count: number;
  /** what limits the figures, in words */
  readonly notes: readonly (string)[];
};

/** What was spent on calls, failed calls, warm caches and summaries. */
export type CostAnswer = {
  /** the time that the answer is about, in UTC */
  readonly window: {
    /** included */
    readonly start: string;
    /** not included */
    readonly end: string;
  };
  /** the latest day on which a current price was checked */
  readonly current_pricing_version: string;
  /** best first, as ordered */
  readonly data: readonly ({
    /** with `group_by=model`; null if there is none */
    readonly model?: string | null;
    /** with `group_by=provider`; null if there is none */
    readonly provider?: string | null;
    /** with `group_by=session`; null if there is none */
    readonly session?: string | null;
    /** with `group_by=agent`; null if there is none */
    readonly agent?: string | null;
    /** with `group_by=parent_session`; null if there is none */
    readonly parent_session?: string | null;
    /** with `group_by=is_worker`; null for deleted sessions */
    readonly is_worker?: boolean | null;
    /** with `group_by=gateway_key`; null if there is none */
    readonly gateway_key?: string | null;
    /** with `group_by=user`; null if there is none */
    readonly user?: string | null;
    /** with `group_by=team`; null if there is none */
    readonly team?: string | null;
    /** with `group_by=day`; null if there is none */
    readonly day?: string | null;
    /** with `group_by=hour`; null if there is none */
    readonly hour?: string | null;
    /** whole number */
    readonly call_count: number;
    /** whole number */
    readonly uncached_input_tokens: number;
    /** whole number */
    readonly cached_input_tokens: number;
    /** whole number */
    readonly cache_creation_tokens: number;
    /** whole number */
    readonly output_tokens: number;
    /** whole number */
    readonly warm_call_count: number;
    /** whole number */
    readonly summary_count: number;
    /** whole number */
    readonly summary_input_tokens: number;
    /** whole number */
    readonly summary_output_tokens: number;
    /** whole number */
    readonly unpriced_call_count: number;
    /** a share; null if the whole is 0 */
    readonly hit_rate: number | null;
    /** dollars */
    readonly cost_usd: string;
    /** dollars */
    readonly failed_cost_usd: string;
    /** dollars */
    readonly summary_cost_usd: string;
    /** dollars */
    readonly warm_cost_usd: string;
  })[];
  /** rows beyond the limit */
  readonly left_out_count: number;
  /** what limits the figures, in words */
  readonly notes: readonly (string)[];
};

/** What the same tokens would have cost without a cache, or on another model. */
export type SavingsAnswer = {
  /** the time that the answer is about, in UTC */
  readonly window: {
    /** included */
    readonly start: string;
    /** not included */
    readonly end: string;
  };
  /** the latest day on which a current price was checked */
  readonly current_pricing_version: string;
  /** best first, as ordered */
  readonly data: readonly ({
    /** with `group_by=model`; null if there is none */
    readonly model?: string | null;
    /** with `group_by=provider`; null if there is none */
    readonly provider?: string | null;
    /** with `group_by=session`; null if there is none */
    readonly session?: string | null;
    /** with `group_by=agent`; null if there is none */
    readonly agent?: string | null;
    /** with `group_by=parent_session`; null if there is none */
    readonly parent_session?: string | null;
    /** with `group_by=is_worker`; null for deleted sessions */
    readonly is_worker?: boolean | null;
    /** with `group_by=gateway_key`; null if there is none */
    readonly gateway_key?: string | null;
    /** with `group_by=user`; null if there is none */
    readonly user?: string | null;
    /** with `group_by=team`; null if there is none */
    readonly team?: string | null;
    /** with `group_by=day`; null if there is none */
    readonly day?: string | null;
    /** with `group_by=hour`; null if there is none */
    readonly hour?: string | null;
    /** whole number */
    readonly call_count: number;
    readonly no_cache: {
      /** whole number */
      readonly compared_call_count: number;
      /** whole number */
      readonly unpriced_call_count: number;
      /** a share; null if the whole is 0 */
      readonly saved_share: number | null;
      /** dollars */
      readonly cost_usd: string;
      /** dollars */
      readonly actual_cost_usd: string;
      /** dollars */
      readonly saved_usd: string;
      /** a name; null if there is none */
      readonly model: string | null;
      /** a name; null if there is none */
      readonly pricing_version: string | null;
      /** whether it is so */
      readonly is_partial: boolean;
    };
    readonly baseline: {
      /** whole number */
      readonly compared_call_count: number;
      /** whole number */
      readonly unpriced_call_count: number;
      /** a share; null if the whole is 0 */
      readonly saved_share: number | null;
      /** dollars */
      readonly cost_usd: string;
      /** dollars */
      readonly actual_cost_usd: string;
      /** dollars */
      readonly saved_usd: string;
      /** a name; null if there is none */
      readonly model: string | null;
      /** a name; null if there is none */
      readonly pricing_version: string | null;
      /** whether it is so */
      readonly is_partial: boolean;
    } | null;
    /** null where no conversation was optimised */
    readonly arms: {
      /** whole number */
      readonly strata_conversation_count: number;
      /** whole number */
      readonly holdout_conversation_count: number;
      /** whole number */
      readonly strata_call_count: number;
      /** whole number */
      readonly holdout_call_count: number;
      /** whole number */
      readonly marked_call_count: number;
      /** whole number */
      readonly compared_call_count: number;
      /** whole number */
      readonly unpriced_call_count: number;
      /** a share; null if the whole is 0 */
      readonly strata_cost_share: number | null;
      /** a share; null if the whole is 0 */
      readonly holdout_cost_share: number | null;
      /** a share; null if the whole is 0 */
      readonly saved_share: number | null;
      /** a share; null if the whole is 0 */
      readonly saved_share_low: number | null;
      /** a share; null if the whole is 0 */
      readonly saved_share_high: number | null;
      /** a share, 0 to 1 */
      readonly confidence: number;
      /** dollars */
      readonly strata_cost_usd: string;
      /** dollars */
      readonly holdout_cost_usd: string;
      /** dollars */
      readonly client_cost_usd: string;
      /** dollars */
      readonly compared_cost_usd: string;
      /** dollars */
      readonly saved_usd: string;
      /** dollars; null if nothing was billed or the price is unknown */
      readonly strata_cost_per_conversation_usd: string | null;
      /** dollars; null if nothing was billed or the price is unknown */
      readonly holdout_cost_per_conversation_usd: string | null;
      /** dollars; null if nothing was billed or the price is unknown */
      readonly strata_cost_per_call_usd: string | null;
      /** dollars; null if nothing was billed or the price is unknown */
      readonly holdout_cost_per_call_usd: string | null;
      /** a name; null if there is none */
      readonly claim: string | null;
      /** a name; null if there is none */
      readonly reason: string | null;
    } | null;
  })[];
  /** rows beyond the limit */
  readonly left_out_count: number;
  /** what limits the figures, in words */
  readonly notes: readonly (string)[];
};

/** What each session did: turns, calls, tokens and cost. */
export type SessionsAnswer = {
  /** the time that the answer is about, in UTC */
  readonly window: {
    /** included */
    readonly start: string;
    /** not included */
    readonly end: string;
  };
  /** the latest day on which a current price was checked */
  readonly current_pricing_version: string;
  /** best first, as ordered */
  readonly data: readonly ({
    /** a name; null if there is none */
    readonly session: string | null;
    /** whole number */
    readonly uncached_input_tokens: number;
    /** whole number */
    readonly cached_input_tokens: number;
    /** whole number */
    readonly cache_creation_tokens: number;
    /** whole number */
    readonly output_tokens: number;
    /** whole number */
    readonly turn_count: number;
    /** whole number */
    readonly call_count: number;
    /** whole number */
    readonly unpriced_call_count: number;
    /** a share; null if the whole is 0 */
    readonly hit_rate: number | null;
    /** dollars */
    readonly cost_usd: string;
    /** dollars */
    readonly summary_cost_usd: string;
    /** dollars */
    readonly warm_cost_usd: string;
    /** a name; null if there is none */
    readonly agent: string | null;
    /** a name; null if there is none */
    readonly role: string | null;
    /** a name; null if there is none */
    readonly model: string | null;
    /** a name; null if there is none */
    readonly parent_session: string | null;
    /** a name; null if there is none */
    readonly status: string | null;
    /** in UTC; null if it did not happen */
    readonly first_call_at: string | null;
    /** in UTC; null if it did not happen */
    readonly last_call_at: string | null;
  })[];
  /** rows beyond the limit */
  readonly left_out_count: number;
  /** what limits the figures, in words */
  readonly notes: readonly (string)[];
};

/** Turns with what they cost and how they ended, or one of them call by call. */
export type TurnsAnswer = {
  /** the time that the answer is about, in UTC */
  readonly window: {
    /** included */
    readonly start: string;
    /** not included */
    readonly end: string;
  };
  /** the latest day on which a current price was checked */
  readonly current_pricing_version: string;
  /** best first, as ordered */
  readonly data: readonly ({
    /** a name */
    readonly turn: string;
    /** whole number */
    readonly uncached_input_tokens: number;
    /** whole number */
    readonly cached_input_tokens: number;
    /** whole number */
    readonly cache_creation_tokens: number;
    /** whole number */
    readonly output_tokens: number;
    /** whole number */
    readonly call_count: number;
    /** whole number */
    readonly tool_use_count: number;
    /** whole number */
    readonly unpriced_call_count: number;
    /** a share; null if the whole is 0 */
    readonly hit_rate: number | null;
    /** milliseconds; null if there is nothing to measure */
    readonly duration_ms: number | null;
    /** dollars */
    readonly cost_usd: string;
    /** a name */
    readonly type: string;
    /** a name */
    readonly status: string;
    /** a name */
    readonly model: string;
    /** a name */
    readonly provider: string;
    /** a name; null if there is none */
    readonly session: string | null;
    /** a name; null if there is none */
    readonly end_reason: string | null;
    /** whether it is so */
    readonly in_flight: boolean;
    /** in UTC */
    readonly started_at: string;
    /** in UTC; null if it did not happen */
    readonly completed_at: string | null;
    /** with the parameter `turn` only */
    readonly calls?: readonly ({
      /** whole number */
      readonly number: number;
      /** whole number */
      readonly discarded_count: number;
      /** whole number */
      readonly uncached_input_tokens: number;
      /** whole number */
      readonly cached_input_tokens: number;
      /** whole number */
      readonly cache_creation_tokens: number;
      /** whole number */
      readonly output_tokens: number;
      /** a share; null if the whole is 0 */
      readonly hit_rate: number | null;
      /** milliseconds */
      readonly latency_ms: number;
      /** dollars; null if nothing was billed or the price is unknown */
      readonly cost_usd: string | null;
      /** a name */
      readonly status: string;
      /** a name */
      readonly model: string;
      /** a name */
      readonly policy: string;
      /** a name; null if there is none */
      readonly stop_reason: string | null;
      /** a name; null if there is none */
      readonly failure: string | null;
      /** in UTC */
      readonly started_at: string;
    })[];
  })[];
  /** rows beyond the limit */
  readonly left_out_count: number;
  /** what limits the figures, in words */
  readonly notes: readonly (string)[];
};

/** How often calls, turns and tools failed, why, and how long calls took. */
export type ReliabilityAnswer = {
  /** the time that the answer is about, in UTC */
  readonly window: {
    /** included */
    readonly start: string;
    /** not included */
    readonly end: string;
  };
  /** the latest day on which a current price was checked */
  readonly current_pricing_version: string;
  /** best first, as ordered */
  readonly data: readonly ({
    /** with `group_by=model`; null if there is none */
    readonly model?: string | null;
    /** with `group_by=provider`; null if there is none */
    readonly provider?: string | null;
    /** with `group_by=day`; null if there is none */
    readonly day?: string | null;
    /** with `group_by=hour`; null if there is none */
    readonly hour?: string | null;
    /** whole number */
    readonly call_count: number;
    /** whole number */
    readonly failed_call_count: number;
    /** whole number */
    readonly partial_call_count: number;
    /** whole number */
    readonly turn_count: number;
    /** whole number */
    readonly failed_turn_count: number;
    /** whole number */
    readonly open_turn_count: number;
    /** whole number */
    readonly tool_use_count: number;
    /** whole number */
    readonly failed_tool_use_count: number;
    /** a share; null if the whole is 0 */
    readonly failure_rate: number | null;
    /** milliseconds; null if there is nothing to measure */
    readonly latency_ms_p50: number | null;
    /** milliseconds; null if there is nothing to measure */
    readonly latency_ms_p95: number | null;
    /** how often, by name */
    readonly failures: Readonly<Record<string, number>>;
  })[];
  /** rows beyond the limit */
  readonly left_out_count: number;
  /** what limits the figures, in words */
  readonly notes: readonly (string)[];
};

/** Which models turns ran on, how often the model changed, and what decided it. */
export type RoutingAnswer = {
  /** the time that the answer is about, in UTC */
  readonly window: {
    /** included */
    readonly start: string;
    /** not included */
    readonly end: string;
  };
  /** the latest day on which a current price was checked */
  readonly current_pricing_version: string;
  /** best first, as ordered */
  readonly data: readonly ({
    /** with `group_by=model`; null if there is none */
    readonly model?: string | null;
    /** with `group_by=day`; null if there is none */
    readonly day?: string | null;
    /** whole number */
    readonly turn_count: number;
    /** whole number */
    readonly switched_turn_count: number;
    /** how often, by name */
    readonly decided_by: Readonly<Record<string, number>>;
  })[];
  /** rows beyond the limit */
  readonly left_out_count: number;
  /** what limits the figures, in words */
  readonly notes: readonly (string)[];
};

/** Which skills were loaded or found, why, and how many tokens they took. */
export type SkillsAnswer = {
  /** the time that the answer is about, in UTC */
  readonly window: {
    /** included */
    readonly start: string;
    /** not included */
    readonly end: string;
  };
  /** the latest day on which a current price was checked */
  readonly current_pricing_version: string;
  /** best first, as ordered */
  readonly data: readonly ({
    /** with `group_by=skill`; null if there is none */
    readonly skill?: string | null;
    /** with `group_by=source`; null if there is none */
    readonly source?: string | null;
    /** with `group_by=session`; null if there is none */
    readonly session?: string | null;
    /** with `group_by=day`; null if there is none */
    readonly day?: string | null;
    /** whole number */
    readonly load_count: number;
    /** whole number */
    readonly loaded_tokens: number;
    /** whole number */
    readonly session_count: number;
    /** whole number */
    readonly search_count: number;
    /** whole number */
    readonly preload_count: number;
    /** whole number */
    readonly asked_preload_count: number;
    /** a share; null if the whole is 0 */
    readonly asked_preload_share: number | null;
    /** in UTC; null if it did not happen */
    readonly last_loaded_at: string | null;
    /** how often, by name */
    readonly load_reasons: Readonly<Record<string, number>>;
  })[];
  /** rows beyond the limit */
  readonly left_out_count: number;
  /** what limits the figures, in words */
  readonly notes: readonly (string)[];
};

/** Why calls read less from the cache than they could have, where, and what that cost. */
export type MissesAnswer = {
  /** the time that the answer is about, in UTC */
  readonly window: {
    /** included */
    readonly start: string;
    /** not included */
    readonly end: string;
  };
  /** the latest day on which a current price was checked */
  readonly current_pricing_version: string;
  /** best first, as ordered */
  readonly data: readonly ({
    /** with `group_by=cause`; null if there is none */
    readonly cause?: string | null;
    /** with `group_by=section`; null if there is none */
    readonly section?: string | null;
    /** with `group_by=tier`; null if there is none */
    readonly tier?: string | null;
    /** with `group_by=model`; null if there is none */
    readonly model?: string | null;
    /** with `group_by=session`; null if there is none */
    readonly session?: string | null;
    /** with `group_by=turn`; null if there is none */
    readonly turn?: string | null;
    /** with `group_by=day`; null if there is none */
    readonly day?: string | null;
    /** with `group_by=hour`; null if there is none */
    readonly hour?: string | null;
    /** whole number */
    readonly miss_count: number;
    /** whole number */
    readonly session_count: number;
    /** whole number */
    readonly expected_read_tokens: number;
    /** whole number */
    readonly reported_read_tokens: number;
    /** whole number */
    readonly lost_tokens: number;
    /** whole number */
    readonly unpriced_miss_count: number;
    /** whole number */
    readonly provider_agreed_count: number;
    /** whole number */
    readonly provider_differed_count: number;
    /** whole number; null if unknown */
    readonly costliest_byte: number | null;
    /** dollars */
    readonly lost_cost_usd: string;
    /** a name */
    readonly costliest_session: string;
    /** a name; null if there is none */
    readonly costliest_cause: string | null;
    /** a name; null if there is none */
    readonly costliest_detail: string | null;
    /** a name; null if there is none */
    readonly costliest_block: string | null;
    /** a name; null if there is none */
    readonly costliest_turn: string | null;
    /** how often, by name */
    readonly causes: Readonly<Record<string, number>>;
    /** how often, by name */
    readonly sections: Readonly<Record<string, number>>;
  })[];
  /** rows beyond the limit */
  readonly left_out_count: number;
  /** what limits the figures, in words */
  readonly notes: readonly (string)[];
};

/** What compactions shortened and cost, and how attempts ended. */
export type CompactionsAnswer = {
  /** the time that the answer is about, in UTC */
  readonly window: {
    /** included */
    readonly start: string;
    /** not included */
    readonly end: string;
  };
  /** the latest day on which a current price was checked */
  readonly current_pricing_version: string;
  /** best first, as ordered */
  readonly data: readonly ({
    /** with `group_by=trigger`; null if there is none */
    readonly trigger?: string | null;
    /** with `group_by=kind`; null if there is none */
    readonly kind?: string | null;
    /** with `group_by=model`; null if there is none */
    readonly model?: string | null;
    /** with `group_by=session`; null if there is none */
    readonly session?: string | null;
    /** with `group_by=day`; null if there is none */
    readonly day?: string | null;
    /** whole number */
    readonly compaction_count: number;
    /** whole number */
    readonly turns_summarized: number;
    /** whole number */
    readonly tokens_before: number;
    /** whole number */
    readonly tokens_after: number;
    /** whole number */
    readonly summary_tokens: number;
    /** whole number */
    readonly input_tokens: number;
    /** whole number */
    readonly output_tokens: number;
    /** a share; null if the whole is 0 */
    readonly kept_share: number | null;
    /** milliseconds */
    readonly duration_ms_max: number;
    /** milliseconds; null if there is nothing to measure */
    readonly duration_ms_mean: number | null;
    /** dollars */
    readonly cost_usd: string;
    /** dollars */
    readonly failed_cost_usd: string;
    /** how often, by name */
    readonly outcomes: Readonly<Record<string, number>>;
  })[];
  /** rows beyond the limit */
  readonly left_out_count: number;
  /** what limits the figures, in words */
  readonly notes: readonly (string)[];
};

/** The cross-section of a session: what each call kept of its prompt, added and paid. */
export type SessionPictureAnswer = {
  readonly data: {
    /** its id */
    readonly session: string;
    /** the program or role */
    readonly agent: string | null;
    /** the session that started it */
    readonly parent_session: string | null;
    /** the program's own name for it */
    readonly client_session: string | null;
    /** sessions that it started, oldest first */
    readonly children: readonly ({
      /** its id */
      readonly session: string;
      /** the program or role */
      readonly agent: string | null;
      /** such as sub-agent, title, summary; else its role */
      readonly kind: string;
      /** of its latest call */
      readonly model: string;
      /** in UTC */
      readonly started_at: string;
      /** all its calls */
      readonly call_count: number;
      /** all its calls */
      readonly cost_usd: string;
      /** oldest first; of all sub-agents together at most 5000 are listed */
      readonly calls: readonly ({
        /** in UTC */
        readonly started_at: string;
        /** as billed */
        readonly prompt_tokens: number;
        /** as billed */
        readonly read_tokens: number;
      })[];
    })[];
    /** what another policy would have paid; null where none has an account */
    readonly compared: {
      /** the cheapest of those that the gateway keeps an account of */
      readonly policy: string;
      /** what it would have paid */
      readonly cost_usd: string;
      /** what was paid for the same calls */
      readonly paid_usd: string;
      /** calls that have both */
      readonly call_count: number;
    } | null;
    /** oldest first */
    readonly calls: readonly ({
      /** its name in its session, as `/sessions/{session}/calls/{call}` takes it */
      readonly call: string;
      /** from 1, in order of time */
      readonly number: number;
      /** in UTC */
      readonly started_at: string;
      /** by its usual name */
      readonly model: string;
      /** who placed the markers: a policy, or `client` */
      readonly policy: string;
      /** complete, partial or failed */
      readonly status: string;
      /** of the prompt before, by our count */
      readonly kept_tokens: number;
      /** what follows, first to last */
      readonly added: readonly ({
        /** where it is on the wire */
        readonly tier: "T0" | "T1" | "T2" | "T3" | "T4" | "T5";
        /** for people, such as `tool Bash` */
        readonly section: string;
        /** by our count */
        readonly tokens: number;
        /** the number of the call that first brought it: of an earlier one where it was sent again because the prompt below it changed */
        readonly since: number;
      })[];
      /** as billed */
      readonly read_tokens: number;
      /** by lifetime, the longest first */
      readonly written_tokens: Readonly<Record<string, number>>;
      /** as billed at the full price */
      readonly uncached_tokens: number;
      /** as billed, with thinking */
      readonly output_tokens: number;
      /** at list prices of that time; null if a price is unknown */
      readonly dollars: {
        /** for reading */
        readonly read_usd: string;
        /** for writing */
        readonly written_usd: string;
        /** for the rest of the prompt */
        readonly uncached_usd: string;
        /** for the reply */
        readonly output_usd: string;
      } | null;
      /** what it would have cost without a cache; null if a price is unknown */
      readonly plain_usd: string | null;
      /** what the policy in `compared` would have paid; null without an account */
      readonly compared_usd: string | null;
      /** first to last */
      readonly markers: readonly ({
        /** the place, by our count */
        readonly at_tokens: number;
        /** such as 5m */
        readonly lifetime: string;
        /** why; null for markers of a client */
        readonly reason: string | null;
      })[];
      /** null if nothing was missed */
      readonly miss: {
        /** one of the causes of docs/analytics.md */
        readonly cause: string;
        /** where the prompt differs, or is not read any more, by our count */
        readonly at_tokens: number;
        /** that could have been read */
        readonly lost_tokens: number;
        /** what they cost more; null if a price is unknown */
        readonly lost_usd: string | null;
        /** for people */
        readonly block: string | null;
        /** the first that differs in that block */
        readonly byte: number | null;
        /** such as a setting before and after */
        readonly detail: string | null;
        /** what would have avoided it */
        readonly advice: string;
      } | null;
      /** the history is much shorter than in the call before */
      readonly is_compacted: boolean;
    })[];
  };
  /** calls before those shown: at most 20000 are */
  readonly left_out_count: number;
};

/** Sessions and conversations that changed within a time, the latest first. */
export type SessionListAnswer = {
  /** the time that the answer is about, in UTC */
  readonly window: {
    /** included */
    readonly start: string;
    /** not included */
    readonly end: string;
  };
  /** one page */
  readonly data: readonly ({
    /** its name */
    readonly session: string;
    /** one of our own, or a conversation that the gateway saw */
    readonly origin: "engine" | "gateway";
    /** the agent, or the program of the conversation */
    readonly agent: string;
    /** of a conversation: conversation, sub-agent, title, summary, single; else its role */
    readonly kind: string;
    /** the program's own name for it */
    readonly client_session: string | null;
    /** of its latest call */
    readonly model: string;
    /** of that model */
    readonly provider: string;
    /** the session that started it */
    readonly parent_session: string | null;
    /** of a sub-agent */
    readonly task: string | null;
    /** its folder */
    readonly workspace: string | null;
    /** archived sessions take no turns */
    readonly status: "active" | "archived";
    /** completed turns */
    readonly turn_count: number;
    /** all its calls */
    readonly cost_usd: string;
    /** in UTC */
    readonly created_at: string;
    /** in UTC; lists are in its order, latest first */
    readonly updated_at: string;
  })[];
  /** for the parameter `cursor` of the next page; null after the last */
  readonly next_cursor: string | null;
  /** what limits the figures, in words */
  readonly notes: readonly (string)[];
};

/** One session: what fills its window, who it started, how often it was compacted. */
export type SessionAnswer = {
  readonly data: {
    /** its name */
    readonly session: string;
    /** one of our own, or a conversation that the gateway saw */
    readonly origin: "engine" | "gateway";
    /** the agent, or the program of the conversation */
    readonly agent: string;
    /** of a conversation: conversation, sub-agent, title, summary, single; else its role */
    readonly kind: string;
    /** the program's own name for it */
    readonly client_session: string | null;
    /** of its latest call */
    readonly model: string;
    /** of that model */
    readonly provider: string;
    /** the session that started it */
    readonly parent_session: string | null;
    /** of a sub-agent */
    readonly task: string | null;
    /** its folder */
    readonly workspace: string | null;
    /** archived sessions take no turns */
    readonly status: "active" | "archived";
    /** completed turns */
    readonly turn_count: number;
    /** all its calls */
    readonly cost_usd: string;
    /** in UTC */
    readonly created_at: string;
    /** in UTC; lists are in its order, latest first */
    readonly updated_at: string;
    /** all its calls */
    readonly call_count: number;
    /** misses in its events */
    readonly miss_count: number;
    /** how often it was compacted */
    readonly compaction_count: number;
    /** the sessions that it started, at most 1000 */
    readonly sub_sessions: readonly (string)[];
    /** of its model; null for a model that is not listed */
    readonly window_tokens: number | null;
    /** what fills the window now; null without calls */
    readonly latest_call: {
      /** its name in its session: that of the gateway's call, or TURN.NUMBER */
      readonly call: string;
      /** its session or conversation */
      readonly session: string;
      /** null outside of turns */
      readonly turn: string | null;
      /** from 1 in its turn or conversation; 0 for others */
      readonly number: number;
      /** for a turn, to keep a cache warm, about a stored prefix, or another program's through the gateway */
      readonly kind: "turn" | "warm" | "stored" | "gateway";
      /** the name under which it has a price, if it has one */
      readonly model: string;
      /** who answered */
      readonly provider: string;
      /** where the gateway sent it */
      readonly upstream: string | null;
      /** who placed the markers: a policy, or `client` */
      readonly policy: string;
      /** the way that its conversation goes where ways are compared */
      readonly arm: string | null;
      /** the key of the gateway */
      readonly gateway_key: string | null;
      /** of that key */
      readonly user: string | null;
      /** of that key */
      readonly team: string | null;
      /** in UTC */
      readonly started_at: string;
      /** to the last byte */
      readonly latency_ms: number;
      /** to the first byte */
      readonly first_byte_ms: number | null;
      /** how it ended */
      readonly status: "complete" | "partial" | "failed";
      /** why the reply ended */
      readonly stop_reason: string | null;
      /** the kind of failure */
      readonly failure: string | null;
      /** null without usage */
      readonly uncached_input_tokens: number | null;
      /** read */
      readonly cached_input_tokens: number | null;
      /** written */
      readonly cache_creation_tokens: number | null;
      /** made, with reasoning */
      readonly output_tokens: number | null;
      /** false if the provider says nothing of its cache */
      readonly reports_cache: boolean;
      /** read ÷ prompt */
      readonly hit_rate: number | null;
      /** null without usage or price */
      readonly cost_usd: string | null;
      /** the same call without a cache; null if unknown */
      readonly plain_cost_usd: string | null;
      /** with the client's own markers; null if nothing was compared */
      readonly client_cost_usd: string | null;
      /** what its plan expected to be read */
      readonly expected_read_tokens: number | null;
      /** the prompt by tier, from its start; empty if it was not counted */
      readonly tiers: readonly ({
        /** T0 tools to T5 volatile text */
        readonly tier: string;
        /** by our count */
        readonly tokens: number;
      })[];
      /** null if nothing was missed; of calls in turns, see the misses */
      readonly miss: {
        /** why less was read than could have been */
        readonly cause: string;
        /** such as `tool choice: auto → any` */
        readonly detail: string | null;
        /** the first block that differs, or the last that was not read */
        readonly section: string | null;
        /** its tier */
        readonly tier: string | null;
        /** its number in the prompt, from 0 */
        readonly block: number | null;
        /** the first byte of it that differs */
        readonly byte: number | null;
        /** what could have been read */
        readonly expected_read_tokens: number;
        /** what was read */
        readonly reported_read_tokens: number;
        /** the difference */
        readonly lost_tokens: number;
        /** what it cost over a read; null if the price is unknown */
        readonly lost_cost_usd: string | null;
        /** what would have avoided it */
        readonly advice: string;
      } | null;
    } | null;
  };
};

/** The calls of a time, the latest first. */
export type CallListAnswer = {
  /** the time that the answer is about, in UTC */
  readonly window: {
    /** included */
    readonly start: string;
    /** not included */
    readonly end: string;
  };
  /** one page */
  readonly data: readonly ({
    /** its name in its session: that of the gateway's call, or TURN.NUMBER */
    readonly call: string;
    /** its session or conversation */
    readonly session: string;
    /** null outside of turns */
    readonly turn: string | null;
    /** from 1 in its turn or conversation; 0 for others */
    readonly number: number;
    /** for a turn, to keep a cache warm, about a stored prefix, or another program's through the gateway */
    readonly kind: "turn" | "warm" | "stored" | "gateway";
    /** the name under which it has a price, if it has one */
    readonly model: string;
    /** who answered */
    readonly provider: string;
    /** where the gateway sent it */
    readonly upstream: string | null;
    /** who placed the markers: a policy, or `client` */
    readonly policy: string;
    /** the way that its conversation goes where ways are compared */
    readonly arm: string | null;
    /** the key of the gateway */
    readonly gateway_key: string | null;
    /** of that key */
    readonly user: string | null;
    /** of that key */
    readonly team: string | null;
    /** in UTC */
    readonly started_at: string;
    /** to the last byte */
    readonly latency_ms: number;
    /** to the first byte */
    readonly first_byte_ms: number | null;
    /** how it ended */
    readonly status: "complete" | "partial" | "failed";
    /** why the reply ended */
    readonly stop_reason: string | null;
    /** the kind of failure */
    readonly failure: string | null;
    /** null without usage */
    readonly uncached_input_tokens: number | null;
    /** read */
    readonly cached_input_tokens: number | null;
    /** written */
    readonly cache_creation_tokens: number | null;
    /** made, with reasoning */
    readonly output_tokens: number | null;
    /** false if the provider says nothing of its cache */
    readonly reports_cache: boolean;
    /** read ÷ prompt */
    readonly hit_rate: number | null;
    /** null without usage or price */
    readonly cost_usd: string | null;
    /** the same call without a cache; null if unknown */
    readonly plain_cost_usd: string | null;
    /** with the client's own markers; null if nothing was compared */
    readonly client_cost_usd: string | null;
    /** what its plan expected to be read */
    readonly expected_read_tokens: number | null;
    /** the prompt by tier, from its start; empty if it was not counted */
    readonly tiers: readonly ({
      /** T0 tools to T5 volatile text */
      readonly tier: string;
      /** by our count */
      readonly tokens: number;
    })[];
    /** null if nothing was missed; of calls in turns, see the misses */
    readonly miss: {
      /** why less was read than could have been */
      readonly cause: string;
      /** such as `tool choice: auto → any` */
      readonly detail: string | null;
      /** the first block that differs, or the last that was not read */
      readonly section: string | null;
      /** its tier */
      readonly tier: string | null;
      /** its number in the prompt, from 0 */
      readonly block: number | null;
      /** the first byte of it that differs */
      readonly byte: number | null;
      /** what could have been read */
      readonly expected_read_tokens: number;
      /** what was read */
      readonly reported_read_tokens: number;
      /** the difference */
      readonly lost_tokens: number;
      /** what it cost over a read; null if the price is unknown */
      readonly lost_cost_usd: string | null;
      /** what would have avoided it */
      readonly advice: string;
    } | null;
  })[];
  /** for the parameter `cursor` of the next page; null after the last */
  readonly next_cursor: string | null;
  /** what limits the figures, in words */
  readonly notes: readonly (string)[];
};

/** The calls of one session, oldest first, each with the blocks that it brought: the columns of a cross-section. */
export type SessionCallsAnswer = {
  /** one page */
  readonly data: readonly ({
    /** its name in its session: that of the gateway's call, or TURN.NUMBER */
    readonly call: string;
    /** its session or conversation */
    readonly session: string;
    /** null outside of turns */
    readonly turn: string | null;
    /** from 1 in its turn or conversation; 0 for others */
    readonly number: number;
    /** for a turn, to keep a cache warm, about a stored prefix, or another program's through the gateway */
    readonly kind: "turn" | "warm" | "stored" | "gateway";
    /** the name under which it has a price, if it has one */
    readonly model: string;
    /** who answered */
    readonly provider: string;
    /** where the gateway sent it */
    readonly upstream: string | null;
    /** who placed the markers: a policy, or `client` */
    readonly policy: string;
    /** the way that its conversation goes where ways are compared */
    readonly arm: string | null;
    /** the key of the gateway */
    readonly gateway_key: string | null;
    /** of that key */
    readonly user: string | null;
    /** of that key */
    readonly team: string | null;
    /** in UTC */
    readonly started_at: string;
    /** to the last byte */
    readonly latency_ms: number;
    /** to the first byte */
    readonly first_byte_ms: number | null;
    /** how it ended */
    readonly status: "complete" | "partial" | "failed";
    /** why the reply ended */
    readonly stop_reason: string | null;
    /** the kind of failure */
    readonly failure: string | null;
    /** null without usage */
    readonly uncached_input_tokens: number | null;
    /** read */
    readonly cached_input_tokens: number | null;
    /** written */
    readonly cache_creation_tokens: number | null;
    /** made, with reasoning */
    readonly output_tokens: number | null;
    /** false if the provider says nothing of its cache */
    readonly reports_cache: boolean;
    /** read ÷ prompt */
    readonly hit_rate: number | null;
    /** null without usage or price */
    readonly cost_usd: string | null;
    /** the same call without a cache; null if unknown */
    readonly plain_cost_usd: string | null;
    /** with the client's own markers; null if nothing was compared */
    readonly client_cost_usd: string | null;
    /** what its plan expected to be read */
    readonly expected_read_tokens: number | null;
    /** the prompt by tier, from its start; empty if it was not counted */
    readonly tiers: readonly ({
      /** T0 tools to T5 volatile text */
      readonly tier: string;
      /** by our count */
      readonly tokens: number;
    })[];
    /** null if nothing was missed; of calls in turns, see the misses */
    readonly miss: {
      /** why less was read than could have been */
      readonly cause: string;
      /** such as `tool choice: auto → any` */
      readonly detail: string | null;
      /** the first block that differs, or the last that was not read */
      readonly section: string | null;
      /** its tier */
      readonly tier: string | null;
      /** its number in the prompt, from 0 */
      readonly block: number | null;
      /** the first byte of it that differs */
      readonly byte: number | null;
      /** what could have been read */
      readonly expected_read_tokens: number;
      /** what was read */
      readonly reported_read_tokens: number;
      /** the difference */
      readonly lost_tokens: number;
      /** what it cost over a read; null if the price is unknown */
      readonly lost_cost_usd: string | null;
      /** what would have avoided it */
      readonly advice: string;
    } | null;
    /** how many blocks of the call before it begins with; null: with all of them, and the reply */
    readonly kept_blocks: number | null;
    /** the blocks after those */
    readonly added_blocks: readonly ({
      /** of its bytes; the same content has the same hash. Empty for parts that are known by size only */
      readonly hash: string;
      /** T0 tools to T5 volatile text */
      readonly tier: string;
      /** such as text, tool use, tool result */
      readonly kind: string;
      /** who said it */
      readonly role: string;
      /** for people, such as `tool Bash` or `user message 12` */
      readonly section: string;
      /** by our count */
      readonly tokens: number;
    })[];
  })[];
  /** for the next page; null after the last */
  readonly next_cursor: string | null;
};

/** One call block by block: what of each was read, written and paid plainly, markers, plan, verdict, and what other policies would have paid. */
export type CallAnswer = {
  readonly data: {
    /** its name in its session: that of the gateway's call, or TURN.NUMBER */
    readonly call: string;
    /** its session or conversation */
    readonly session: string;
    /** null outside of turns */
    readonly turn: string | null;
    /** from 1 in its turn or conversation; 0 for others */
    readonly number: number;
    /** for a turn, to keep a cache warm, about a stored prefix, or another program's through the gateway */
    readonly kind: "turn" | "warm" | "stored" | "gateway";
    /** the name under which it has a price, if it has one */
    readonly model: string;
    /** who answered */
    readonly provider: string;
    /** where the gateway sent it */
    readonly upstream: string | null;
    /** who placed the markers: a policy, or `client` */
    readonly policy: string;
    /** the way that its conversation goes where ways are compared */
    readonly arm: string | null;
    /** the key of the gateway */
    readonly gateway_key: string | null;
    /** of that key */
    readonly user: string | null;
    /** of that key */
    readonly team: string | null;
    /** in UTC */
    readonly started_at: string;
    /** to the last byte */
    readonly latency_ms: number;
    /** to the first byte */
    readonly first_byte_ms: number | null;
    /** how it ended */
    readonly status: "complete" | "partial" | "failed";
    /** why the reply ended */
    readonly stop_reason: string | null;
    /** the kind of failure */
    readonly failure: string | null;
    /** null without usage */
    readonly uncached_input_tokens: number | null;
    /** read */
    readonly cached_input_tokens: number | null;
    /** written */
    readonly cache_creation_tokens: number | null;
    /** made, with reasoning */
    readonly output_tokens: number | null;
    /** false if the provider says nothing of its cache */
    readonly reports_cache: boolean;
    /** read ÷ prompt */
    readonly hit_rate: number | null;
    /** null without usage or price */
    readonly cost_usd: string | null;
    /** the same call without a cache; null if unknown */
    readonly plain_cost_usd: string | null;
    /** with the client's own markers; null if nothing was compared */
    readonly client_cost_usd: string | null;
    /** what its plan expected to be read */
    readonly expected_read_tokens: number | null;
    /** the prompt by tier, from its start; empty if it was not counted */
    readonly tiers: readonly ({
      /** T0 tools to T5 volatile text */
      readonly tier: string;
      /** by our count */
      readonly tokens: number;
    })[];
    /** null if nothing was missed; of calls in turns, see the misses */
    readonly miss: {
      /** why less was read than could have been */
      readonly cause: string;
      /** such as `tool choice: auto → any` */
      readonly detail: string | null;
      /** the first block that differs, or the last that was not read */
      readonly section: string | null;
      /** its tier */
      readonly tier: string | null;
      /** its number in the prompt, from 0 */
      readonly block: number | null;
      /** the first byte of it that differs */
      readonly byte: number | null;
      /** what could have been read */
      readonly expected_read_tokens: number;
      /** what was read */
      readonly reported_read_tokens: number;
      /** the difference */
      readonly lost_tokens: number;
      /** what it cost over a read; null if the price is unknown */
      readonly lost_cost_usd: string | null;
      /** what would have avoided it */
      readonly advice: string;
    } | null;
    /** blocks at the beginning that are not known, because calls before are missing */
    readonly unknown_blocks: number;
    /** the prompt from its start; empty without usage */
    readonly blocks: readonly ({
      /** of its bytes; the same content has the same hash. Empty for parts that are known by size only */
      readonly hash: string;
      /** T0 tools to T5 volatile text */
      readonly tier: string;
      /** such as text, tool use, tool result */
      readonly kind: string;
      /** who said it */
      readonly role: string;
      /** for people, such as `tool Bash` or `user message 12` */
      readonly section: string;
      /** by our count */
      readonly tokens: number;
      /** scaled to the bill */
      readonly read_tokens: number;
      /** scaled to the bill */
      readonly written_tokens: number;
      /** paid at the plain price, scaled to the bill */
      readonly fresh_tokens: number;
    })[];
    /** where the provider was asked to keep a prefix */
    readonly markers: readonly ({
      /** its place in the whole list */
      readonly block: number;
      /** asked for */
      readonly lifetime: string;
      /** its purpose; null for a client's own */
      readonly slot: string | null;
      /** why it is there; null for a client's own */
      readonly reason: string | null;
    })[];
    /** of the prompt, by the plan; null without plan or price */
    readonly expected_cost_usd: string | null;
    /** what the reply says about the plan; null without one */
    readonly verdict: string | null;
    /** promises of the provider that this reply refuted */
    readonly refuted: readonly (string)[];
    /** by their own account of the conversation */
    readonly other_policies: readonly ({
      /** its name */
      readonly policy: string;
      /** of this call's prompt */
      readonly cost_usd: string;
    })[];
    /** what could not be read, was left out or corrected */
    readonly notes: readonly (string)[];
    /** false: the ledger keeps no text of this call's blocks */
    readonly keeps_content: boolean;
  };
};

/** Events in the order in which they became visible, from a position on. */
export type EventListAnswer = {
  /** oldest first */
  readonly data: readonly ({
    /** its place in the order in which events became visible; `Last-Event-ID` of a stream */
    readonly position: number;
    /** its name */
    readonly id: string;
    /** docs/events.md lists them */
    readonly type: string;
    /** in UTC */
    readonly at: string;
    /** its session or conversation */
    readonly session: string;
    /** null outside of turns */
    readonly turn: string | null;
    /** as docs/events.md says for its type */
    readonly payload: Readonly<Record<string, unknown>>;
  })[];
  /** for the parameter `after` of the next page; it moves on where nothing was found, too */
  readonly next_after: number;
  /** the first event that is kept; null if there is none */
  readonly oldest_position: number | null;
  /** the last event that is visible */
  readonly newest_position: number;
  /** events of types that a later version of Strata wrote */
  readonly left_out_count: number;
};

/** The same as server-sent events, as they come. `Last-Event-ID` or `after` goes on after a position; without one it begins now. A message `missed` says which positions a slow reader did not get: read them with `GET /strata/v1/events`. */
export type EventStreamAnswer = string;

/** Misses one by one, the latest first, each with what would have avoided it. */
export type MissListAnswer = {
  /** the time that the answer is about, in UTC */
  readonly window: {
    /** included */
    readonly start: string;
    /** not included */
    readonly end: string;
  };
  /** one page */
  readonly data: readonly ({
    /** in UTC */
    readonly at: string;
    /** its session or conversation */
    readonly session: string;
    /** null outside of turns */
    readonly turn: string | null;
    /** its name in its session; null for calls of turns */
    readonly call: string | null;
    /** null if it is not known any more */
    readonly model: string | null;
    /** why less was read than could have been */
    readonly cause: string;
    /** such as `tool choice: auto → any` */
    readonly detail: string | null;
    /** the first block that differs, or the last that was not read */
    readonly section: string | null;
    /** its tier */
    readonly tier: string | null;
    /** its number in the prompt, from 0 */
    readonly block: number | null;
    /** the first byte of it that differs */
    readonly byte: number | null;
    /** what could have been read */
    readonly expected_read_tokens: number;
    /** what was read */
    readonly reported_read_tokens: number;
    /** the difference */
    readonly lost_tokens: number;
    /** dollars over a read, exact; null if the price is unknown */
    readonly lost_cost_usd: string | null;
    /** what would have avoided it */
    readonly advice: string;
  })[];
  /** for the parameter `cursor` of the next page; null after the last */
  readonly next_cursor: string | null;
  /** what limits the figures, in words */
  readonly notes: readonly (string)[];
};

/** Compactions one by one, the latest first. */
export type CompactionListAnswer = {
  /** the time that the answer is about, in UTC */
  readonly window: {
    /** included */
    readonly start: string;
    /** not included */
    readonly end: string;
  };
  /** one page */
  readonly data: readonly ({
    /** in UTC */
    readonly at: string;
    /** its session */
    readonly session: string;
    /** the turn that stands for what was compacted */
    readonly turn: string;
    /** summary, sliding_window or selective */
    readonly kind: string;
    /** what made it due */
    readonly trigger: string;
    /** of the summary */
    readonly model: string;
    /** turns that it hides */
    readonly turns_summarized: number;
    /** of the prompt */
    readonly tokens_before: number;
    /** of the prompt */
    readonly tokens_after: number;
    /** of the notes */
    readonly summary_tokens: number;
    /** of the summary */
    readonly cost_usd: string;
    /** of the summary */
    readonly duration_ms: number;
  })[];
  /** for the parameter `cursor` of the next page; null after the last */
  readonly next_cursor: string | null;
  /** what limits the figures, in words */
  readonly notes: readonly (string)[];
};

/** What parts of prompts cost to carry over the calls of a time: tokens × calls × price, the dearest first. Of conversations that the gateway saw. */
export type WeightAnswer = {
  readonly window: {
    /** included */
    readonly start: string;
    /** not included */
    readonly end: string;
  };
  /** the dearest first */
  readonly data: readonly ({
    /** a section such as `tool Bash`, a tier, a kind, a role, a session, or the hash of a block */
    readonly group: string;
    /** of its latest block */
    readonly section: string;
    /** of its latest block */
    readonly session: string;
    /** different blocks */
    readonly block_count: number;
    /** how often one of them was sent */
    readonly carried_count: number;
    /** tokens × calls, as billed */
    readonly carried_tokens: number;
    /** of carrying them, at list prices of that time */
    readonly cost_usd: string;
  })[];
  /** rows beyond the limit */
  readonly left_out_count: number;
  /** what limits the figures, in words */
  readonly notes: readonly (string)[];
};

/** Sessions and conversations whose cache is warm, or went cold within the last hour, the latest call first. */
export type WarmthAnswer = {
  /** the time that the answer is about, in UTC */
  readonly at: string;
  /** the latest call first */
  readonly data: readonly ({
    /** its name */
    readonly session: string;
    /** one of our own, or one that the gateway saw */
    readonly origin: "engine" | "gateway";
    /** the agent, or the program of the conversation */
    readonly agent: string;
    /** the session that started it */
    readonly parent_session: string | null;
    /** of its latest call */
    readonly model: string;
    /** who answered it */
    readonly provider: string;
    /** in UTC */
    readonly last_call_at: string;
    /** of that call, as billed */
    readonly prompt_tokens: number;
    /** some of it is kept */
    readonly is_warm: boolean;
    /** when the last part of it goes cold, or went, in UTC */
    readonly warm_until: string;
    /** kept now; of a cold one, what was kept after its latest call */
    readonly kept_tokens: number;
    /** what writing these again costs over reading them; null without a price */
    readonly cold_cost_usd: string | null;
    /** what was kept after the latest call: the whole, then what outlives it */
    readonly kept: readonly ({
      /** from the start of the prompt */
      readonly tokens: number;
      /** such as 5m; null where the provider keeps unasked */
      readonly lifetime: string | null;
      /** in UTC */
      readonly warm_until: string;
    })[];
  })[];
  /** rows beyond the limit */
  readonly left_out_count: number;
  /** what limits the figures, in words */
  readonly notes: readonly (string)[];
};

/** What each policy would have cost on the calls of a time, beside what was paid for the same calls. Of conversations that the gateway saw. */
export type PoliciesAnswer = {
  readonly window: {
    /** included */
    readonly start: string;
    /** not included */
    readonly end: string;
  };
  /** the cheapest beside what was paid first */
  readonly data: readonly ({
    /** its name; `client` for the client's own markers, where ours were sent */
    readonly policy: string;
    /** calls for which its cost is known */
    readonly call_count: number;
    /** what these would have cost with it, the replies included */
    readonly cost_usd: string;
    /** what these did cost */
    readonly paid_usd: string;
    /** the difference; negative where the policy would have been cheaper */
    readonly saved_usd: string;
  })[];
  /** calls of the time */
  readonly call_count: number;
  /** what they cost, those that are not compared included */
  readonly paid_usd: string;
  /** of which no policy's cost is known */
  readonly uncompared_call_count: number;
  /** what these cost */
  readonly uncompared_usd: string;
  /** older calls of the time that were not read */
  readonly left_out_count: number;
  /** what the figures cover, in words */
  readonly notes: readonly (string)[];
};

/** Models with their windows, caches and the prices of now. */
export type ModelsAnswer = {
  /** the latest day on which a current price was checked */
  readonly current_pricing_version: string;
  /** by name */
  readonly data: readonly ({
    /** its name */
    readonly model: string;
    /** whose it is */
    readonly provider: string;
    /** other names of it */
    readonly aliases: readonly (string)[];
    /** of its life */
    readonly status: "active" | "legacy" | "retired";
    /** prompt and reply */
    readonly window_tokens: number;
    /** null if none is published */
    readonly output_tokens_max: number | null;
    /** for a short prompt; null if the model has no price */
    readonly prices: {
      /** dollars per million tokens, exact */
      readonly input_usd: string;
      /** dollars per million tokens, exact */
      readonly output_usd: string;
      /** dollars per million tokens, exact */
      readonly read_usd: string | null;
      /** by lifetime; null if it is not published */
      readonly write_usd: Readonly<Record<string, string | null>>;
    } | null;
    readonly cache: {
      /** who decides what is kept */
      readonly marking: string;
      /** a shorter prefix is not kept; null if none is published */
      readonly minimum_tokens: number | null;
      /** shortest first */
      readonly lifetimes: readonly (string)[];
    };
    /** the day on which this was checked */
    readonly checked_on: string;
    /** where it is from */
    readonly source: string;
  })[];
};

/** The version, whether the ledger can be read, and of a gateway all that `/strata/health` says: upstreams, exchanges, faults of the observer, losses of the ledger. */
export type HealthAnswer = {
  readonly data: {
    /** `ok` */
    readonly status: string;
    /** of Strata */
    readonly version: string;
    /** a question to it was answered */
    readonly ledger_readable: boolean;
  };
};

/** Who asks: the owner, or a virtual key by its name. */
export type MeAnswer = {
  readonly data: {
    /** the owner of the gateway, or a virtual key */
    readonly kind: "owner" | "key";
    /** the name of the key; null for the owner */
    readonly name: string | null;
  };
};

/** A code with which one browser logs in once, within ten minutes. */
export type NewLoginCodeAnswer = {
  readonly data: {
    /** for the fragment of the page's address: `#code=…` */
    readonly code: string;
    /** in UTC */
    readonly expires_at: string;
  };
};

/** Use a code: the answer sets a cookie that no script can read, good for 30 days or until the gateway stops. */
export type LoginAnswer = {
  readonly data: {
    /** the owner of the gateway, or a virtual key */
    readonly kind: "owner" | "key";
  };
};

/** End the login of this browser. */
export type LogoutAnswer = {
  readonly data: {
    /** whether there was a login to end */
    readonly was_logged_in: boolean;
  };
};

/** This API as an OpenAPI 3.1 document. */
export type OpenapiAnswer = Readonly<Record<string, unknown>>;

/** Method and path below the base, with `{name}` for a part that varies. */
export const places: Readonly<
  Record<keyof ApiRoutes, readonly [method: string, path: string]>
> = {
  cache_effectiveness: ["GET", "/analytics/cache_effectiveness"],
  cost: ["GET", "/analytics/cost"],
  savings: ["GET", "/analytics/savings"],
  sessions: ["GET", "/analytics/sessions"],
  turns: ["GET", "/analytics/turns"],
  reliability: ["GET", "/analytics/reliability"],
  routing: ["GET", "/analytics/routing"],
  skills: ["GET", "/analytics/skills"],
  misses: ["GET", "/analytics/misses"],
  compactions: ["GET", "/analytics/compactions"],
  session_picture: ["GET", "/sessions/{session}/picture"],
  session_list: ["GET", "/sessions"],
  session: ["GET", "/sessions/{session}"],
  call_list: ["GET", "/calls"],
  session_calls: ["GET", "/sessions/{session}/calls"],
  call: ["GET", "/sessions/{session}/calls/{call}"],
  event_list: ["GET", "/events"],
  event_stream: ["GET", "/events/stream"],
  miss_list: ["GET", "/misses"],
  compaction_list: ["GET", "/compactions"],
  weight: ["GET", "/weight"],
  warmth: ["GET", "/warmth"],
  policies: ["GET", "/policies"],
  models: ["GET", "/models"],
  health: ["GET", "/health"],
  me: ["GET", "/login"],
  new_login_code: ["POST", "/login-codes"],
  login: ["POST", "/login"],
  logout: ["POST", "/logout"],
  openapi: ["GET", "/openapi.json"],
};
