// Spells what is known of a provider's cache in few bytes: lists instead of objects, times from one point, and no key that the
// blocks of the prompt have at the same place.
import type { Accounts } from "../../core/cache/accounts.ts";
import { openCacheState, type CacheState, type KnownEntry } from "../../core/cache/cache-state.ts";
import { readEvidence } from "../../core/cache/evidence.ts";
import { readUnasked } from "../../core/cache/unasked-reads.ts";
import type { TrackedEntry } from "../../core/diagnosis/kept-prefixes.ts";
import type { ContentHash } from "../../core/hash.ts";

/** The key of the prefix up to each block of a prompt. */
export type KeyAt = (block: number) => ContentHash | undefined;

/** Null for the key that the prompt has there. */
type PackedKey = ContentHash | null;

export type PackedEntry = readonly [
  block: number,
  key: PackedKey,
  lifetime: KnownEntry["lifetime"],
  keptMs: number,
  tokens: number | null,
  written: number,
  touched: number,
  isStep: 0 | 1,
];

function packKey(key: ContentHash, block: number, keyAt: KeyAt): PackedKey {
  return keyAt(block) === key ? null : key;
}

/** Undefined for a block that the prompt does not have any more. */
function unpackKey(key: PackedKey, block: number, keyAt: KeyAt): ContentHash | undefined {
  return key ?? keyAt(block);
}

export function packEntry(entry: KnownEntry, keyAt: KeyAt, fromMs: number): PackedEntry {
  const { block, key, lifetime, keptMs, tokens, writtenMs, touchedMs, isStep = false } = entry;
  const times = [fromMs - writtenMs, fromMs - touchedMs] as const;
  return [block, packKey(key, block, keyAt), lifetime, keptMs, tokens, ...times, isStep ? 1 : 0];
}

function unpackEntry(packed: PackedEntry, keyAt: KeyAt, fromMs: number): KnownEntry | null {
  const [block, packedKey, lifetime, keptMs, tokens, written, touched, isStep] = packed;
  const key = unpackKey(packedKey, block, keyAt);
  if (key === undefined) return null;
  const times = { writtenMs: fromMs - written, touchedMs: fromMs - touched };
  return { key, block, lifetime, keptMs, tokens, ...times, ...(isStep === 1 && { isStep: true }) };
}

export type PackedTracked = readonly [
  entry: PackedEntry,
  contentKey: PackedKey,
  /** Null for that of the call. */
  model: string | null,
  readable: number,
];

export interface TrackedPlace {
  readonly keyAt: KeyAt;
  readonly contentKeyAt: KeyAt;
  readonly model: string;
  readonly fromMs: number;
}

export function packTracked(entry: TrackedEntry, place: TrackedPlace): PackedTracked {
  const { keyAt, contentKeyAt, model, fromMs } = place;
  return [
    packEntry(entry, keyAt, fromMs),
    packKey(entry.contentKey, entry.block, contentKeyAt),
    entry.model === model ? null : entry.model,
    fromMs - entry.readableMs,
  ];
}

export function unpackTracked(packed: PackedTracked, place: TrackedPlace): readonly TrackedEntry[] {
  const [packedEntry, packedKey, model, readable] = packed;
  const entry = unpackEntry(packedEntry, place.keyAt, place.fromMs);
  const contentKey = unpackKey(packedKey, packedEntry[0], place.contentKeyAt);
  if (entry === null || contentKey === undefined) return [];
  const { tokens } = entry;
  const readableMs = place.fromMs - readable;
  return [{ ...entry, tokens: tokens ?? 0, contentKey, model: model ?? place.model, readableMs }];
}

export interface PackedAccounts extends Omit<Accounts, "tails"> {
  readonly tails: readonly (readonly [
    block: number,
    key: PackedKey,
    short: number,
    long: number,
  ])[];
}

export function packAccounts(accounts: Accounts, keyAt: KeyAt, fromMs: number): PackedAccounts {
  return {
    ...accounts,
    tails: accounts.tails.map(({ block, key, shortMs, longMs }) => [
      block,
      packKey(key, block, keyAt),
      fromMs - shortMs,
      fromMs - longMs,
    ]),
  };
}

export function unpackAccounts(packed: PackedAccounts, keyAt: KeyAt, fromMs: number): Accounts {
  return {
    ...packed,
    tails: packed.tails.flatMap(([block, packedKey, short, long]) => {
      const key = unpackKey(packedKey, block, keyAt);
      return key === undefined
        ? []
        : [{ key, block, shortMs: fromMs - short, longMs: fromMs - long }];
    }),
  };
}

interface PackedPlace {
  readonly block: number;
  readonly key: PackedKey;
}

export interface PackedCacheState extends Omit<
  CacheState,
  "entries" | "accounts" | "lastTail" | "measured"
> {
  readonly entries: readonly PackedEntry[];
  readonly accounts?: PackedAccounts;
  readonly lastTail: PackedPlace | null;
  readonly measured: (PackedPlace & { readonly tokens: number }) | null;
}

export function packCacheState(state: CacheState, keyAt: KeyAt, fromMs: number): PackedCacheState {
  const { entries, accounts, lastTail, measured, ...rest } = state;
  return {
    ...rest,
    entries: entries.map((entry) => packEntry(entry, keyAt, fromMs)),
    ...(accounts && { accounts: packAccounts(accounts, keyAt, fromMs) }),
    lastTail: lastTail && { ...lastTail, key: packKey(lastTail.key, lastTail.block, keyAt) },
    measured: measured && { ...measured, key: packKey(measured.key, measured.block, keyAt) },
  };
}

export function unpackCacheState(
  packed: PackedCacheState,
  keyAt: KeyAt,
  fromMs: number,
): CacheState {
  const { entries, accounts, lastTail, measured, evidence, unasked: stored, ...rest } = packed;
  const unasked = readUnasked(stored);
  const withKey = <Place extends PackedPlace>(
    place: Place | null,
  ): (Place & { readonly key: ContentHash }) | null => {
    const key = place === null ? undefined : unpackKey(place.key, place.block, keyAt);
    return place === null || key === undefined ? null : { ...place, key };
  };
  return {
    ...openCacheState(readEvidence(evidence)),
    ...rest,
    entries: entries.flatMap((entry) => unpackEntry(entry, keyAt, fromMs) ?? []),
    ...(accounts && { accounts: unpackAccounts(accounts, keyAt, fromMs) }),
    lastTail: withKey(lastTail),
    measured: withKey(measured),
    ...(unasked && { unasked }),
  };
}
