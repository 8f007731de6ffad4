// Which known entries a prompt can still read: what in it makes entries unreadable, and from which block on.
import type { BlockList, PromptBlock } from "../assembly/prompt-block.ts";
import type { CacheRules } from "../models/cache-rules.ts";
import type { RequestChange } from "../models/invalidation.ts";
import type { CacheState, KnownEntry, PromptContents } from "./cache-state.ts";
import { isRefuted } from "./evidence.ts";
import { tailOf } from "./expect-bill.ts";

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
  const doubtsSteps = isRefuted(evidence, "steps last");
  if (lostFrom === null && !doubtsRefresh && !doubtsSteps) return { entries, contents };
  const readable = entries.filter(({ block, key, writtenMs, keptMs }) => {
    if (lostFrom !== null && block >= lostFrom && blocks.at(block)?.key === key) return false;
    return !doubtsRefresh || lastStartMs === null || lastStartMs <= writtenMs + keptMs;
  });
  return { entries: doubtsSteps ? withoutSteps(readable, rules) : readable, contents };
}

/** Steps live as long as the prefix before them. */
function withoutSteps(entries: readonly KnownEntry[], { lifetimes }: CacheRules): KnownEntry[] {
  const shortMs = (lifetimes[0]?.seconds ?? 0) * 1000;
  return entries.map((entry) =>
    entry.isStep === true && entry.keptMs > shortMs ? { ...entry, keptMs: shortMs } : entry,
  );
}

interface ContentsReading {
  readonly contents: PromptContents;
  /** This call cannot read entries that end here or later. Null if it can read all. */
  readonly lostFrom: number | null;
}

/** Examines only the blocks added since `before`. */
function readContents(
  before: PromptContents,
  blocks: BlockList,
  rules: CacheRules,
): ContentsReading {
  let { messagesFrom, hasImages, thinkingFrom } = before;
  let lostFrom: number | null = null;
  const from = Math.min(before.blocks, blocks.length);
  const isFirst = before.blocks === 0;
  for (let index = from; index < blocks.length; index += 1) {
    const block = blocks.at(index);
    if (block === undefined || block.tier === "T5") continue;
    if (messagesFrom === null && isMessage(block)) messagesFrom = index;
    if (block.kind === "image" && !hasImages) {
      hasImages = true;
      if (!isFirst && loses("images appear or vanish", rules)) lostFrom = messagesFrom;
    }
    if (block.kind === "thinking") thinkingFrom ??= index;
    if (isSaid(block)) {
      // A new user message removes earlier thinking from the prompt.
      if (thinkingFrom !== null && loses("user turn after thinking", rules)) {
        lostFrom = lostFrom === null ? thinkingFrom : Math.min(lostFrom, thinkingFrom);
      }
      thinkingFrom = null;
    }
  }
  return {
    contents: { blocks: tailOf(blocks) + 1, messagesFrom, hasImages, thinkingFrom },
    lostFrom,
  };
}

function isMessage({ role, tier }: PromptBlock): boolean {
  return role !== "tools" && (tier === "T3" || tier === "T4");
}

function isSaid({ role, kind, tier }: PromptBlock): boolean {
  return role === "user" && kind !== "tool_result" && (tier === "T3" || tier === "T4");
}

function loses(change: RequestChange, { invalidation }: CacheRules): boolean {
  const rule = invalidation.find((each) => each.change === change);
  return rule !== undefined && !rule.survives.includes("messages");
}
