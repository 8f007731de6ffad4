// llm.context_optimization: caching, compaction, counting and the workspace cache.
import { flag, leaf, text, texts, whole, type TextLimits } from "../leaves.ts";
import { converted, group, written } from "../sections.ts";
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

/** The names become a header. */
function betas(meaning: string): Spec<readonly string[]> {
  const limits: TextLimits = {
    allowed: "beta names of letters, digits, dashes, dots and colons, with commas between them",
    isFit: (names) => splitNames(names).every((name) => /^[\w.:-]{1,128}$/.test(name)),
  };
  return converted(text(meaning, limits), splitNames);
}

const promptCache: Spec<PromptCacheConfig> = group("asking providers to keep prompts", {
  isEnabled: written("enabled", flag(true, "whether cache markers are placed")),
  longTtlProviders: texts(
    ["anthropic", "vertex"],
    "providers that may be asked for lifetimes of an hour",
  ),
  betas: written("beta_header", betas("beta features to ask for with any marker")),
  longTtlBetas: written(
    "long_ttl_beta_header",
    betas("beta features to ask for with a marker of an hour"),
  ),
});

const tokenCounter: Spec<TokenCounterConfig> = group("counting tokens before a call", {
  isEnabled: written(
    "enabled",
    flag(true, "whether a provider is asked for exact counts; otherwise counts are estimates"),
  ),
  backend: backend(),
  cacheCapacity: whole(
    { usual: 1024, min: 1, max: 1_000_000 },
    "how many exact counts are remembered",
  ),
});

const workspaceCache: Spec<WorkspaceCacheConfig> = group(
  "keeping a workspace's documents in memory",
  {
    isEnabled: written("enabled", flag(true, "whether documents are kept between turns")),
    watchDebounceMs: whole(
      { usual: 500, min: 50, max: 60_000 },
      "how long changes are collected before documents are read again",
    ),
    maxAgeMs: written(
      "max_age_seconds",
      converted(
        whole(
          { usual: 0, min: 0, max: 31_536_000 },
          "read again after this long, for file systems that report no changes; 0: never",
        ),
        (seconds) => seconds * 1000,
      ),
    ),
  },
);

export const contextOptimization: Spec<ContextOptimization> = group(
  "caching, compaction and counting",
  { promptCache, compaction, tokenCounter, workspaceCache },
);

/** An unknown name is a warning, and means the estimate. */
function backend(): Spec<CounterBackend> {
  return leaf<CounterBackend>({
    meaning: "the counter; an unknown name is a warning and means tiktoken",
    allowed: `one of ${counterBackends.join(", ")}`,
    usual: "auto",
    accept: (value, node, context) => {
      const found = counterBackends.find((each) => each === value);
      if (found !== undefined || typeof value !== "string") return found;
      context.report({
        severity: "warning",
        origin: node.origin,
        message: `${context.path} is not one of ${counterBackends.join(", ")}`,
        hint: "tiktoken is used instead",
      });
      return "tiktoken";
    },
    shape: { usual: "auto", fromText: (given) => given },
  });
}

function splitNames(given: string | null): readonly string[] {
  return (given ?? "").split(",").flatMap((name) => (name.trim() === "" ? [] : [name.trim()]));
}
