// What in a prompt can make entries unreadable, and from which block on a new call loses them.
import type { BlockList, PromptBlock } from "../assembly/prompt-block.ts";
import type { CacheRules } from "../models/cache-rules.ts";
import type { RequestChange } from "../models/invalidation.ts";

export interface PromptContents {
  /** How many blocks were examined. */
  readonly blocks: number;
  /** The first block of the messages. Null if there is none yet. */
  readonly messagesFrom: number | null;
  readonly hasImages: boolean;
  /** The first thinking block since the last user message. Null for none. */
  readonly thinkingFrom: number | null;
}

export const noContents: PromptContents = {
  blocks: 0,
  messagesFrom: null,
  hasImages: false,
  thinkingFrom: null,
};

export interface ContentsReading {
  readonly contents: PromptContents;
  /** This call cannot read entries that end here or later. Null if it can read all. */
  readonly lostFrom: number | null;
}

/** Examines only the blocks added since `before`. */
export function readContents(
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
  const length = tailLength(blocks);
  return { contents: { blocks: length, messagesFrom, hasImages, thinkingFrom }, lostFrom };
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

/** The length without text that is sent once. */
function tailLength(blocks: BlockList): number {
  let length = blocks.length;
  while (length > 0 && blocks.at(length - 1)?.tier === "T5") length -= 1;
  return length;
}
