// llm.context_optimization: caching, compaction, counting and the workspace cache.
import { flag, leaf, text, texts, whole, type TextLimits } from "../leaves.ts";
import { section } from "../sections.ts";
import type { Spec } from "../spec.ts";
import { compaction, type CompactionConfig } from "./compaction.ts";

export interface ContextOptimization {
  readonly promptCache: PromptCacheConfig;
  readonly compaction: CompactionConfig;
  readonly tokenCounter: TokenCounterConfig;
  readonly workspaceCache: WorkspaceCacheConfig;
}

export interface PromptCacheConfig {
  readonly isEnabled: boolean;
  /** Providers, by their names here or in the catalogue, that are asked for lifetimes beyond the shortest. */
  readonly longTtlProviders: readonly string[];
  /** Features to ask for in a header when there is any marker. */
  readonly betas: readonly string[];
  /** The same when a marker has a lifetime beyond the shortest. */
  readonly longTtlBetas: readonly string[];
}

export interface TokenCounterConfig {
  readonly isEnabled: boolean;
  readonly backend: CounterBackend;
  readonly cacheCapacity: number;
}

export const counterBackends = ["auto", "anthropic_api", "tiktoken", "local"] as const;

export type CounterBackend = (typeof counterBackends)[number];

export interface WorkspaceCacheConfig {
  readonly isEnabled: boolean;
  readonly watchDebounceMs: number;
  /** 0 for no limit. */
  readonly maxAgeMs: number;
}

/** They become a header, and a workspace's file may say them. */
const betaNames: TextLimits = {
  allowed: "text of names with commas between them, of letters, digits, dashes, dots and colons",
  isFit: (names) => /^[\w.:, -]*$/.test(names) && splitNames(names).every(isBetaName),
};

function isBetaName(name: string): boolean {
  return /^[\w.:-]{1,128}$/.test(name);
}

const promptCache: Spec<PromptCacheConfig> = section(
  "asking providers to keep prompts",
  {
    enabled: flag(true, "whether cache markers are placed"),
    long_ttl_providers: texts(
      ["anthropic", "vertex"],
      "providers that may be asked for lifetimes of an hour",
    ),
    beta_header: text(
      "beta features to ask for with any marker, with commas between them",
      betaNames,
    ),
    long_ttl_beta_header: text("the same with a marker of an hour", betaNames),
  },
  (get) => ({
    isEnabled: get("enabled"),
    longTtlProviders: get("long_ttl_providers"),
    betas: splitNames(get("beta_header")),
    longTtlBetas: splitNames(get("long_ttl_beta_header")),
  }),
);

const tokenCounter: Spec<TokenCounterConfig> = section(
  "counting tokens before a call",
  {
    enabled: flag(
      true,
      "whether a provider is asked for exact counts; without it counts are estimates",
    ),
    backend: backend(),
    cache_capacity: whole(
      { usual: 1024, min: 1, max: 1_000_000 },
      "how many exact counts are remembered",
    ),
  },
  (get) => ({
    isEnabled: get("enabled"),
    backend: get("backend"),
    cacheCapacity: get("cache_capacity"),
  }),
);

const workspaceCache: Spec<WorkspaceCacheConfig> = section(
  "keeping a workspace's documents in memory",
  {
    enabled: flag(true, "whether documents are kept between turns"),
    watch_debounce_ms: whole(
      { usual: 500, min: 50, max: 60_000 },
      "how long changes are collected before documents are read again",
    ),
    max_age_seconds: whole(
      { usual: 0, min: 0, max: 31_536_000 },
      "read again after this long, for file systems that tell of no changes; 0 for never",
    ),
  },
  (get) => ({
    isEnabled: get("enabled"),
    watchDebounceMs: get("watch_debounce_ms"),
    maxAgeMs: get("max_age_seconds") * 1000,
  }),
);

export const contextOptimization: Spec<ContextOptimization> = section(
  "what makes long conversations cheap",
  {
    prompt_cache: promptCache,
    compaction,
    token_counter: tokenCounter,
    workspace_cache: workspaceCache,
  },
  (get) => ({
    promptCache: get("prompt_cache"),
    compaction: get("compaction"),
    tokenCounter: get("token_counter"),
    workspaceCache: get("workspace_cache"),
  }),
);

/** An unknown name means the estimate, with one warning. */
function backend(): Spec<CounterBackend> {
  return leaf<CounterBackend>({
    meaning: "who counts; an unknown name is warned of and taken as tiktoken",
    allowed: `one of ${counterBackends.join(", ")}`,
    usual: "auto",
    accept: (value, node, context) => {
      const found = counterBackends.find((each) => each === value);
      if (found !== undefined || typeof value !== "string") return found;
      context.report({
        severity: "warning",
        origin: node.origin,
        message: `${context.path} is not one of ${counterBackends.join(", ")}`,
        hint: "tiktoken is taken instead",
      });
      return "tiktoken";
    },
    shape: { usual: "auto", fromText: (given) => given },
  });
}

function splitNames(given: string | null): readonly string[] {
  return (given ?? "").split(",").flatMap((name) => (name.trim() === "" ? [] : [name.trim()]));
}
