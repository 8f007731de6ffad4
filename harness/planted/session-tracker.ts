// Watches sessions call by call and reports cache misses, as a proxy in front of a provider would. Memory is bounded.
import { assert } from "../../src/core/assert.ts";
import type { Usage } from "../../src/core/message/usage.ts";
import type { ModelFacts } from "../../src/core/models/model-facts.ts";
import { explainCall } from "../../src/core/diagnosis/explain-call.ts";
import type { Explanation } from "../../src/core/diagnosis/explanation.ts";
import type { TextOfHash } from "../../src/core/diagnosis/find-divergence.ts";
import type { ForeignBlock, ForeignRequest } from "../../src/core/wire/foreign/foreign-request.ts";
import { viewPrompt, type PromptView } from "../../src/core/diagnosis/prompt-view.ts";
import {
  rememberCall,
  type RememberedBlock,
  type RememberedCall,
} from "../../src/core/diagnosis/remember-call.ts";
import type { ContentHash } from "../../src/core/hash.ts";
import { detach } from "../../src/core/diagnosis/excerpt.ts";

export interface TrackerLimits {
  readonly sessionsMax: number;
  /** Conversations side by side under one session key: sub-agents, titles. */
  readonly threadsMax: number;
  /** Blocks remembered over all sessions, about 300 bytes each. */
  readonly blocksMax: number;
  /** Characters of recent texts, shared by all sessions, so that a change can be shown. */
  readonly textCharactersMax: number;
}

export const usualLimits: TrackerLimits = {
  sessionsMax: 1000,
  threadsMax: 4,
  blocksMax: 200_000,
  textCharactersMax: 4_000_000,
};

export interface Tracker {
  /** Why a call read less than it could have; null if it did not, or if its thread begins here. */
  observe(sessionKey: string, request: ForeignRequest, call: ObservedCall): Explanation | null;
  readonly sessions: number;
  readonly blocks: number;
  readonly textCharacters: number;
  /** Calls that continue a history which only the provider has: they could not be compared. */
  readonly uncompared: number;
}

/** One call that was answered. Times are milliseconds since 1970. */
export interface ObservedCall {
  readonly usage: Usage;
  /** Facts of the request's model, on its route. */
  readonly rules: ModelFacts;
  readonly startMs: number;
  readonly endMs: number;
  /** When the response began; the end of the call if unknown. */
  readonly firstByteMs?: number;
}

export function createTracker(limits: Partial<TrackerLimits> = {}): Tracker {
  const { sessionsMax, threadsMax, blocksMax, textCharactersMax } = { ...usualLimits, ...limits };
  assert(sessionsMax > 0 && threadsMax > 0, "a tracker of nothing");
  // A map keeps the order of insertion: the first session is the longest unused.
  const sessions = new Map<string, readonly RememberedCall[]>();
  const texts = createTextPool(textCharactersMax);
  const textBefore: TextOfHash = (hash) => texts.find(hash);
  let blocks = 0;
  let uncompared = 0;
  const forget = (key: string): void => {
    blocks -= sizeOf(sessions.get(key) ?? []);
    sessions.delete(key);
  };
  const remember = (key: string, threads: readonly RememberedCall[]): void => {
    forget(key);
    sessions.set(key, threads);
    blocks += sizeOf(threads);
    for (const oldest of sessions.keys()) {
      const isWithin = sessions.size <= sessionsMax && blocks <= blocksMax;
      if (isWithin || sessions.size === 1) break;
      forget(oldest);
    }
  };
  return {
    get sessions() {
      return sessions.size;
    },
    get blocks() {
      return blocks;
    },
    get textCharacters() {
      return texts.characters;
    },
    get uncompared() {
      return uncompared;
    },
    observe: (sessionKey, request, call) => {
      const { usage, rules, startMs } = call;
      const view = viewPrompt(request, rules);
      const threads = sessions.get(sessionKey) ?? [];
      const before = findThread(threads, view);
      const explanation = explainCall({ before, view, rules, usage, startMs, textBefore });
      const after = rememberCall({
        view,
        rules,
        usage,
        entries: before?.entries ?? [],
        startMs,
        readableMs: call.firstByteMs ?? call.endMs,
      });
      for (const { hash, text } of view.blocks) texts.put(hash, text);
      const others = threads.filter((thread) => thread !== before);
      if (request.continues) uncompared += 1;
      // A request that continues a provider-side history says nothing about the next whole request.
      const latest = request.continues ? threads : [...others, after].slice(-threadsMax);
      remember(sessionKey, latest);
      const isMiss = explanation.cause !== "no miss" && explanation.cause !== "first call";
      return isMiss ? explanation : null;
    },
  };
}

function sizeOf(threads: readonly RememberedCall[]): number {
  return threads.reduce((sum, thread) => sum + thread.blocks.length, 0);
}

/** The conversation it shares most with; null if it begins a new one: a sub-agent, a title. */
function findThread(
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

interface TextPool {
  find(hash: ContentHash): string | undefined;
  put(hash: ContentHash, text: string): void;
  readonly characters: number;
}

/** Drops the texts that were not added for the longest time. */
function createTextPool(charactersMax: number): TextPool {
  const texts = new Map<ContentHash, string>();
  let characters = 0;
  return {
    get characters() {
      return characters;
    },
    find: (hash) => texts.get(hash),
    put: (hash, text) => {
      // One text may not push out all the others.
      if (text.length * 4 > charactersMax) return;
      const known = texts.get(hash);
      if (known === undefined) characters += text.length;
      else texts.delete(hash);
      texts.set(hash, known ?? detach(text));
      for (const [oldest, { length }] of texts) {
        if (characters <= charactersMax) break;
        texts.delete(oldest);
        characters -= length;
      }
    },
  };
}
