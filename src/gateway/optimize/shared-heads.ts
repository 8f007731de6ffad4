// Tools and system texts that several conversations of one account begin with: what one has written, the others read.
import type { CacheState, KnownEntry } from "../../core/cache/cache-state.ts";
import { foundationEnd } from "../../core/cache/expect-bill.ts";
import type { ForeignBlock } from "../../core/wire/foreign/foreign-request.ts";
import type { MarkedState } from "./marked-state.ts";

export interface SharedHeads {
  /** The conversation's state with what others have written of its head. */
  join(place: HeadPlace, state: MarkedState): JoinedState;
  /** After a call. */
  learn(place: HeadPlace, state: MarkedState): void;
}

export interface HeadPlace {
  /** Upstream, account and model: only these share what is written. */
  readonly scope: string;
  readonly blocks: readonly ForeignBlock[];
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
  return {
    join: ({ scope, blocks, conversation, nowMs, keptMs }, state) => {
      const head = heads.get(keyOf(scope, blocks));
      if (head === undefined) return { state, hasSiblings: false };
      const sent = withEntries(state.sent, head.sent);
      const isSame = state.sent === state.client && head.sent === head.client;
      const client = isSame ? sent : withEntries(state.client, head.client);
      const others = head.conversations.filter((each) => each !== conversation);
      const hasSiblings = others.length > 1 && nowMs - head.touchedMs <= keptMs;
      return { state: { ...state, sent, client }, hasSiblings };
    },
    learn: ({ scope, blocks, conversation, nowMs }, { sent, client }) => {
      const end = foundationEnd(blocks);
      if (end === -1) return;
      const key = keyOf(scope, blocks);
      const before = heads.get(key)?.conversations ?? [];
      const inHead = ({ entries }: CacheState): readonly KnownEntry[] =>
        entries.filter(({ block, key: own }) => block <= end && blocks[block]?.key === own);
      const written = inHead(sent);
      heads.delete(key);
      heads.set(key, {
        touchedMs: nowMs,
        conversations: [conversation, ...before.filter((each) => each !== conversation)].slice(
          0,
          conversationsMax,
        ),
        sent: written,
        client: sent === client ? written : inHead(client),
      });
      for (const oldest of heads.keys()) {
        if (heads.size <= headsMax) break;
        heads.delete(oldest);
      }
    },
  };
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
