// Which of the known entries this prompt can still read at all.
import type { BlockList } from "../assembly/prompt-block.ts";
import type { CacheRules } from "../models/cache-rules.ts";
import type { CacheState, KnownEntry } from "./cache-state.ts";
import { isRefuted } from "./evidence.ts";
import { readContents } from "./prompt-contents.ts";

/** Without what a change of the prompt took away, and without what only a broken promise keeps alive. */
export function readableEntries(
  { entries, contents, evidence, lastStartMs }: CacheState,
  blocks: BlockList,
  rules: CacheRules,
): readonly KnownEntry[] {
  const { lostFrom } = readContents(contents, blocks, rules);
  const doubtsRefresh = isRefuted(evidence, "markers refresh");
  if (lostFrom === null && !doubtsRefresh) return entries;
  return entries.filter(({ block, key, writtenMs, keptMs }) => {
    if (lostFrom !== null && block >= lostFrom && blocks.at(block)?.key === key) return false;
    return !doubtsRefresh || lastStartMs === null || lastStartMs <= writtenMs + keptMs;
  });
}
