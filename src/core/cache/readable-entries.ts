// Which known entries this prompt can still read.
import type { BlockList } from "../assembly/prompt-block.ts";
import type { CacheRules } from "../models/cache-rules.ts";
import type { CacheState, KnownEntry } from "./cache-state.ts";
import { isRefuted } from "./evidence.ts";
import { readContents, type PromptContents } from "./prompt-contents.ts";

export interface ReadableEntries {
  /** Without entries lost to a change of the prompt, and without those that rely on a refuted promise. */
  readonly entries: readonly KnownEntry[];
  readonly contents: PromptContents;
}

export function findReadable(
  { entries, contents: before, evidence, lastStartMs }: CacheState,
  blocks: BlockList,
  rules: CacheRules,
): ReadableEntries {
  const { lostFrom, contents } = readContents(before, blocks, rules);
  const doubtsRefresh = isRefuted(evidence, "markers refresh");
  if (lostFrom === null && !doubtsRefresh) return { entries, contents };
  const readable = entries.filter(({ block, key, writtenMs, keptMs }) => {
    if (lostFrom !== null && block >= lostFrom && blocks.at(block)?.key === key) return false;
    return !doubtsRefresh || lastStartMs === null || lastStartMs <= writtenMs + keptMs;
  });
  return { entries: readable, contents };
}
