// Short notation for prompts and entries, for the tests of this folder.
import type { BlockKind, PromptBlock, PromptRole } from "../assembly/prompt-block.ts";
import type { Lifetime, Usage } from "../message/usage.ts";
import type { CacheRules } from "../models/cache-rules.ts";
import type { ModelFacts } from "../models/model-facts.ts";
import { resolveModel } from "../models/resolve-model.ts";
import type { Tier } from "../tokens/budget.ts";
import { openCacheState, type CacheState, type KnownEntry } from "./cache-state.ts";

/** Four markers, 20 positions with runs as one, 5m and 1h, minimum 1024 tokens. */
export const sonnet: ModelFacts = resolveModel("claude-sonnet-4-6").facts;
/** Like `sonnet`, but every block is a position. */
export const bedrock: ModelFacts = resolveModel("bedrock/anthropic.claude-sonnet-4-6").facts;
/** Ends prefixes by itself and takes markers; 30m. */
export const gpt: ModelFacts = resolveModel("gpt-6.1-sol").facts;
/** Keeps everything it receives, in steps; takes no markers. */
export const olderGpt: ModelFacts = resolveModel("gpt-5.5").facts;

/** The send time of every test call. */
export const nowMs = 1_800_000_000_000;

const words: Readonly<Record<string, readonly [BlockKind, PromptRole, Tier]>> = {
  image: ["image", "user", "T3"],
  tool: ["tool definition", "tools", "T0"],
  static: ["system text", "system", "T1"],
  session: ["system text", "system", "T2"],
  user: ["text", "user", "T3"],
  part: ["text", "user", "T3"],
  assistant: ["text", "assistant", "T3"],
  said: ["text", "assistant", "T3"],
  thinking: ["thinking", "assistant", "T3"],
  use: ["tool_use", "assistant", "T3"],
  result: ["tool_result", "user", "T3"],
  volatile: ["text", "user", "T5"],
};

const open = ["tool", "static", "session", "part", "said", "thinking"];

/** One block per word with its tokens, such as `user 100`; `said 10 x30` is thirty. Block n has key `kn`. */
export function blocksOf(...shorts: readonly string[]): PromptBlock[] {
  let endTokens = 0;
  return shorts
    .flatMap((short) => {
      const [word = "", tokens = "", times = "x1"] = short.split(" ");
      return Array.from({ length: Number(times.slice(1)) }, () => ({
        word,
        tokens: Number(tokens),
      }));
    })
    .map(({ word, tokens }, index): PromptBlock => {
      const [kind, role, tier] = words[word] ?? ["other", "user", "T3"];
      endTokens += tokens;
      return {
        key: `k${index}`,
        tokens,
        endTokens,
        tier,
        kind,
        role,
        endsMessage: !open.includes(word),
        mayCarryMarker: kind !== "thinking",
        ...(role === "system" ? { label: word } : {}),
      };
    });
}

/** An entry written at a block `ageMs` ago and not touched since. */
export function entryAt(
  block: number,
  lifetime: Lifetime,
  ageMs = 60_000,
  rules: CacheRules = sonnet.cache,
): KnownEntry {
  const seconds = rules.lifetimes.find((each) => each.lifetime === lifetime)?.seconds ?? 0;
  const writtenMs = nowMs - ageMs;
  return {
    key: `k${block}`,
    block,
    lifetime,
    keptMs: seconds * 1000,
    tokens: null,
    writtenMs,
    touchedMs: writtenMs,
  };
}

export function stateWith(...entries: readonly KnownEntry[]): CacheState {
  return { ...openCacheState(), entries };
}

export function usageOf(
  uncachedTokens: number,
  cacheReadTokens: number,
  cacheWriteTokens: Usage["cacheWriteTokens"] = {},
): Usage {
  return { uncachedTokens, cacheReadTokens, cacheWriteTokens, outputTokens: 0, reasoningTokens: 0 };
}
