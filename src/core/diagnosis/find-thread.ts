// Finds which of a session's conversations a request continues.
import type { ForeignBlock } from "../wire/foreign/foreign-request.ts";
import type { PromptView } from "./prompt-view.ts";
import type { RememberedBlock, RememberedCall } from "./remember-call.ts";

/** The conversation it shares most with; null if it begins a new one: a sub-agent, a title. */
export function findThread(
  threads: readonly RememberedCall[],
  { blocks }: PromptView,
): RememberedCall | null {
  const now = describe(blocks);
  let best: RememberedCall | null = null;
  let mostShared = -1;
  // The latest wins if several share as much.
  for (const thread of threads.toReversed()) {
    const before = describe(thread.blocks);
    let sharedTokens = 0;
    for (const [hash, tokens] of before.tokens) if (now.tokens.has(hash)) sharedTokens += tokens;
    const least = Math.min(before.total, now.total);
    const isSame =
      (now.opening !== null && now.opening === before.opening) || sharedTokens * 2 >= least;
    if (isSame && sharedTokens > mostShared) {
      best = thread;
      mostShared = sharedTokens;
    }
  }
  return best;
}

interface Described {
  /** Tokens by hash, without tools: sub-agents share many of them. */
  readonly tokens: ReadonlyMap<string, number>;
  readonly total: number;
  /** The first user message; null for none. */
  readonly opening: string | null;
}

function describe(blocks: readonly (RememberedBlock | ForeignBlock)[]): Described {
  const tokens = new Map<string, number>();
  let total = 0;
  let opening: string | null = null;
  for (const block of blocks) {
    if (block.tier === "T0") continue;
    tokens.set(block.hash, block.tokens);
    total += block.tokens;
    if (opening === null && block.role === "user") opening = block.hash;
  }
  return { tokens, total, opening };
}
