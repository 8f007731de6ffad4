// What was learned of a conversation's markers, as JSON for other gateways and for the time after a restart.
import { openPace, readPace } from "../../core/cache/pace.ts";
import { keepBooks, readBooks } from "../../core/cache/warm-books.ts";
import { isObject } from "../../core/message/fields.ts";
import type { ForeignBlock } from "../../core/wire/foreign/foreign-request.ts";
import {
  packCacheState,
  unpackCacheState,
  type KeyAt,
  type PackedCacheState,
} from "../share/pack-entries.ts";
import type { MarkedState } from "./marked-state.ts";

/** By model. */
export type MarkedStates = ReadonlyMap<string, MarkedState>;

interface SavedState {
  readonly fromMs: number;
  readonly sent: PackedCacheState;
  /** Null if it is the same as `sent`. */
  readonly client: PackedCacheState | null;
  readonly pace: unknown;
  readonly markedCalls: number;
  /** In pico-dollars: what was paid, and what would have been. */
  readonly paid: readonly [sent: string, client: string];
  /** Absent if it was never kept warm. */
  readonly warm?: unknown;
}

export function saveMarks(
  states: MarkedStates,
  blocks: readonly ForeignBlock[],
): Readonly<Record<string, SavedState>> {
  const keyAt: KeyAt = (block) => blocks[block]?.key;
  return Object.fromEntries(
    [...states].map(([model, { sent, client, pace, markedCalls, paid, warm: own }]) => {
      const warm = keepBooks(own);
      const fromMs = sent.lastStartMs ?? 0;
      return [
        model,
        {
          fromMs,
          sent: packCacheState(sent, keyAt, fromMs),
          client: client === sent ? null : packCacheState(client, keyAt, fromMs),
          pace,
          markedCalls,
          paid: [String(paid.sent), String(paid.client)],
          ...(warm && { warm }),
        },
      ];
    }),
  );
}

/** `saved` was checked to be of this form's version. */
export function readMarks(saved: unknown, blocks: readonly ForeignBlock[]): MarkedStates {
  const keyAt: KeyAt = (block) => blocks[block]?.key;
  const states = Object.entries(isObject(saved) ? saved : {}).flatMap(
    ([model, value]): [string, MarkedState][] => {
      if (!isSaved(value)) return [];
      const { fromMs, markedCalls, paid } = value;
      const sent = unpackCacheState(value.sent, keyAt, fromMs);
      const client = value.client === null ? sent : unpackCacheState(value.client, keyAt, fromMs);
      const pace = readPace(value.pace) ?? openPace("human");
      const [paidSent, paidClient] = paid;
      const sums = { sent: BigInt(paidSent), client: BigInt(paidClient) };
      const warm = { ...readBooks(value.warm), paidPicoUsd: sums.sent };
      return [[model, { sent, client, pace, markedCalls, paid: sums, warm }]];
    },
  );
  return new Map(states);
}

function isSaved(value: unknown): value is SavedState {
  return isObject(value) && isObject(value["sent"]) && Array.isArray(value["paid"]);
}
