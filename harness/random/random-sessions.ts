// Random append-only sessions as block lists, and the same blocks for the simulator's billing.
import type { BlockKind, PromptBlock } from "../../src/core/assembly/prompt-block.ts";
import { emptyPrefixKey, extendPrefixKey, hashContent } from "../../src/core/hash.ts";
import type { Tier } from "../../src/core/tokens/budget.ts";
import type { BillableBlock } from "../../src/simulator/index.ts";
import type { Random } from "../random-message.ts";

/** A block without a position. */
export interface LooseBlock {
  readonly content: string;
  readonly tokens: number;
  readonly tier: Tier;
  readonly kind: BlockKind;
  readonly role: PromptBlock["role"];
  readonly endsMessage: boolean;
  readonly mayCarryMarker: boolean;
}

export interface RandomCall {
  readonly gapMs: number;
  /** Blocks this call adds to the history. */
  readonly added: readonly LooseBlock[];
  /** Blocks it sends only once. */
  readonly volatile: readonly LooseBlock[];
}

export interface RandomSession {
  readonly foundation: readonly LooseBlock[];
  readonly calls: readonly RandomCall[];
}

/** Computes chained keys and token sums. */
export function toPromptBlocks(loose: readonly LooseBlock[]): PromptBlock[] {
  let key = emptyPrefixKey;
  let endTokens = 0;
  return loose.map(({ content, ...block }) => {
    key = extendPrefixKey(key, hashContent(content));
    endTokens += block.tokens;
    return { ...block, key, endTokens };
  });
}

/** Converts to the simulator's blocks, with boundaries found from roles as the simulator does. */
export function toBillableBlocks(loose: readonly LooseBlock[]): BillableBlock[] {
  const firstMessage = loose.findIndex(({ role, tier }) => role !== "tools" && tier > "T2");
  const initial = (firstMessage === -1 ? loose.length : firstMessage) - 1;
  const isOutput = (index: number): boolean => loose[index]?.kind === "tool_result";
  return loose.map(({ content, tokens, role, kind, endsMessage }, index) => {
    const ends = role === "user" && endsMessage && !(isOutput(index) && isOutput(index + 1));
    const run = kind === "tool_use" || kind === "tool_result" ? kind : null;
    return {
      hash: content,
      tokens,
      tier: role === "tools" ? "tools" : index <= initial ? "system" : "messages",
      run,
      boundary: ends
        ? "eligible message"
        : index === initial && role === "system"
          ? "initial group"
          : null,
    };
  });
}

/** Tool loops with bursts of parallel tools, thinking, images, pauses of every length. */
export function createRandomSession(random: Random, callsMax: number): RandomSession {
  let count = 0;
  const block = (
    kind: BlockKind,
    role: LooseBlock["role"],
    tier: Tier,
    tokensMax: number,
  ): LooseBlock => ({
    content: `${kind} ${count++} ${random()}`,
    tokens: 1 + Math.floor(random() * tokensMax),
    tier,
    kind,
    role,
    endsMessage: false,
    mayCarryMarker: kind !== "thinking",
  });
  const size = random() < 0.5 ? 6000 : 600;
  const foundation = [
    ...many(random, 6, () => block("tool definition", "tools", "T0", size / 2)),
    ...(random() < 0.9 ? [block("system text", "system", "T1", size)] : []),
    ...(random() < 0.5 ? [block("system text", "system", "T2", size / 2)] : []),
  ];
  const calls = Array.from({ length: 1 + Math.floor(random() * callsMax) }, (_, index) => {
    const parallel = random() < 0.2 ? 30 : 1 + Math.floor(random() * 3);
    const reply = closed([
      ...(random() < 0.4 ? many(random, 3, () => block("thinking", "assistant", "T4", 300)) : []),
      ...(random() < 0.7 ? many(random, 24, () => block("text", "assistant", "T4", 200)) : []),
      ...Array.from({ length: parallel }, () => block("tool_use", "assistant", "T4", 200)),
    ]);
    const results = Array.from({ length: parallel }, () =>
      block("tool_result", "user", "T4", size),
    );
    const asked = closed([
      ...(random() < 0.2 ? [block("image", "user", "T4", 1500)] : []),
      block("text", "user", "T4", 400),
    ]);
    const isLoop = index > 0 && random() < 0.7;
    const added = isLoop
      ? [...reply, ...results.map((each) => ({ ...each, endsMessage: true }))]
      : [...(index === 0 ? [] : closed([block("text", "assistant", "T4", 300)])), ...asked];
    const volatile = random() < 0.5 ? closed([block("text", "user", "T5", 60)]) : [];
    return { gapMs: index === 0 ? 0 : randomGapMs(random), added, volatile };
  });
  return { foundation, calls };
}

/** The last block ends the message. */
function closed(blocks: readonly LooseBlock[]): LooseBlock[] {
  return blocks.map((each, index) => ({ ...each, endsMessage: index === blocks.length - 1 }));
}

function many(random: Random, countMax: number, make: () => LooseBlock): LooseBlock[] {
  return Array.from({ length: Math.floor(random() * (countMax + 1)) }, make);
}

function randomGapMs(random: Random): number {
  const kind = random();
  if (kind < 0.7) return Math.floor(random() * 300_000);
  if (kind < 0.95) return Math.floor(random() * 4_000_000);
  return Math.floor(random() * 100_000_000);
}
