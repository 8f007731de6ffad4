// Tools and system texts that several conversations of one account begin with: what one has written, the others read.
import type { CacheState, KnownEntry } from "../../core/cache/cache-state.ts";
import { foundationEnd } from "../../core/cache/expect-bill.ts";
import type { ForeignBlock } from "../../core/wire/foreign/foreign-request.ts";
import type { MarkedState } from "./marked-state.ts";

export interface SharedHeads {
  /** The conversation's state with what others have written of its head. */
  join(place: HeadPlace, state: MarkedState): JoinedState;
  /** Whether several conversations begin with the head, and it was not asked for yet in the time that the provider keeps it. */
  mayWrite(place: HeadPlace): boolean;
  /** After a call. */
  learn(place: Omit<HeadPlace, "keptMs">, state: MarkedState): void;
  /** When it was last used; null for a head that is not known. */
  lastUse(place: Pick<HeadPlace, "scope" | "blocks">): number | null;
}

export interface HeadPlace {
  /** Upstream, account and model: only these share what is written. */
  readonly scope: string;
  readonly blocks: readonly ForeignBlock[];
  /** As the client sent them: others if the request was repaired. */
  readonly clientBlocks: readonly ForeignBlock[];
  readonly conversation: string;
  readonly nowMs: number;
  /** The shortest time for which the provider keeps a prefix. */
  readonly keptMs: number;
}

export interface JoinedState {
  readonly state: MarkedState;
  /** Whether several others began with the same, and the last of them not long ago. */
  readonly hasSiblings: boolean;
}

interface Head {
  readonly touchedMs: number;
  readonly conversations: readonly string[];
  readonly sent: readonly KnownEntry[];
  readonly client: readonly KnownEntry[];
}

const headsMax = 1000;
/** This conversation and several others. */
const conversationsMax = 3;

export function openSharedHeads(): SharedHeads {
  // In the order of use: the first was unused for longest.
  const heads = new Map<string, Head>();
  const keep = (key: string, head: Head): void => {
    heads.delete(key);
    heads.set(key, head);
    for (const oldest of heads.keys()) {
      if (heads.size <= headsMax) break;
      heads.delete(oldest);
    }
  };
  const asked = new Map<string, number>();
  return {
    mayWrite: ({ scope, blocks, nowMs, keptMs }) => {
      const key = keyOf(scope, blocks);
      if ((heads.get(key)?.conversations.length ?? 0) < 2) return false;
      if (nowMs - (asked.get(key) ?? -Infinity) < keptMs) return false;
      for (const [old, atMs] of asked) if (nowMs - atMs >= keptMs) asked.delete(old);
      asked.set(key, nowMs);
      return true;
    },
    join: ({ scope, blocks, clientBlocks, conversation, nowMs, keptMs }, state) => {
      const head = heads.get(keyOf(scope, blocks));
      const own = blocks === clientBlocks ? head : heads.get(keyOf(scope, clientBlocks));
      if (head === undefined && own === undefined) return { state, hasSiblings: false };
      const [ofSent, ofClient] = [head?.sent ?? none, own?.client ?? none];
      const sent = withEntries(state.sent, ofSent);
      const isSame = state.sent === state.client && ofSent === ofClient;
      const client = isSame ? sent : withEntries(state.client, ofClient);
      const others = head?.conversations.filter((each) => each !== conversation) ?? [];
      const isRecent = head !== undefined && nowMs - head.touchedMs <= keptMs;
      return { state: { ...state, sent, client }, hasSiblings: others.length > 1 && isRecent };
    },
    learn: ({ scope, blocks, clientBlocks, conversation, nowMs }, { sent, client }) => {
      const key = keyOf(scope, blocks);
      const clientKey = keyOf(scope, clientBlocks);
      if (foundationEnd(blocks) === -1) return;
      const before = heads.get(key);
      const others = before?.conversations.filter((each) => each !== conversation) ?? [];
      const conversations = [conversation, ...others].slice(0, conversationsMax);
      const written = entriesIn(sent, blocks);
      const isSame = sent === client && key === clientKey;
      const ofClient = isSame ? written : entriesIn(client, clientBlocks);
      const head = { touchedMs: nowMs, conversations };
      if (key === clientKey) return keep(key, { ...head, sent: written, client: ofClient });
      keep(key, { ...head, sent: written, client: before?.client ?? none });
      keep(clientKey, {
        touchedMs: nowMs,
        conversations: [],
        sent: none,
        ...heads.get(clientKey),
        client: ofClient,
      });
    },
    lastUse: ({ scope, blocks }) => heads.get(keyOf(scope, blocks))?.touchedMs ?? null,
  };
}

const none: readonly KnownEntry[] = [];

/** Entries that end within the tools and the system text. */
function entriesIn(
  { entries }: CacheState,
  blocks: readonly ForeignBlock[],
): readonly KnownEntry[] {
  const end = foundationEnd(blocks);
  return entries.filter(({ block, key }) => block <= end && blocks[block]?.key === key);
}

/** Names the head among all accounts and models; null without tools and system text. */
export function headKey({ scope, blocks }: HeadPlace): string | null {
  return foundationEnd(blocks) === -1 ? null : keyOf(scope, blocks);
}

/** What is written for one account and model is read by the same alone. */
export function scopeOf(tenant: string, model: string): string {
  return `${tenant}\n${model}`;
}

function keyOf(scope: string, blocks: readonly ForeignBlock[]): string {
  return `${scope}\n${blocks[foundationEnd(blocks)]?.key ?? ""}`;
}

/** The latest use of each entry wins. */
function withEntries(state: CacheState, others: readonly KnownEntry[]): CacheState {
  const newer = others.filter(
    (other) =>
      !state.entries.some(
        (own) =>
          own.key === other.key &&
          own.lifetime === other.lifetime &&
          own.touchedMs >= other.touchedMs,
      ),
  );
  if (newer.length === 0) return state;
  const kept = state.entries.filter(
    (own) => !newer.some(({ key, lifetime }) => key === own.key && lifetime === own.lifetime),
  );
  return { ...state, entries: [...newer, ...kept] };
}
