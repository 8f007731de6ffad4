// Which prefixes a provider has after a call, by its rules and its report.
import { countTolerance, keptMsOf, type KnownEntry, type Ruler } from "../cache/cache-state.ts";
import { entriesByBlock, expectBill, keepsEveryPrefix, wholeSteps } from "../cache/expect-bill.ts";
import type { ContentHash } from "../hash.ts";
import { writtenTokens, type Usage } from "../message/usage.ts";
import type { ModelFacts } from "../models/model-facts.ts";
import { between, keptAt, readUpTo, type KeptPrefix } from "./reported-tokens.ts";
import { seeMarkers, type PromptView, type SeenMarkers, type ViewBlock } from "./prompt-view.ts";

export interface KeptPrefixes {
  /** What the provider should have, and some expired ones; a bounded number. */
  readonly entries: readonly TrackedEntry[];
  /** The longest of them, the first of equal ones. Only where every prefix of the prompt is one: then they are made when they are asked for. */
  readonly longest?: TrackedEntry;
  /** The longest prefix the provider has of this call; null for none. */
  readonly kept: KeptPrefix | null;
  /** Why it has none; null if it has one, or if nothing is ever kept. */
  readonly unkept: UnkeptPrefix | null;
}

export interface TrackedEntry extends KnownEntry {
  readonly contentKey: ContentHash;
  readonly model: string;
  readonly tokens: number;
  /** When another call can first read it. */
  readonly readableMs: number;
}

export interface UnkeptPrefix {
  readonly cause: "nothing was marked" | "below the minimum" | "provider lost it";
  readonly block: number;
  readonly tokens: number;
}

export interface AnsweredRequest {
  readonly view: PromptView;
  readonly rules: ModelFacts;
  /** Null if unknown: the rules then decide. */
  readonly usage: Usage | null;
  /** What the provider had before. */
  readonly entries: readonly TrackedEntry[];
  readonly startMs: number;
  /** When its response began: others can read its writes from then on. */
  readonly readableMs: number;
  /** Billed tokens per counted token, if another call of the session shows it. */
  readonly scale?: number;
}

export function keepPrefixes(answered: AnsweredRequest, ruler: Ruler): KeptPrefixes {
  const byRules = keepsEveryPrefix(answered.rules.cache)
    ? keepAll(answered, ruler)
    : keepMarked(answered, ruler);
  return withUnexpectedRead(byRules, answered, ruler);
}

/** Beyond this, the longest unused entries are dropped. */
const entriesMax = 128;

/** Every prefix of the prompt counts as sent. A long prompt has thousands, and most calls only ask for the longest. */
function keepAll(answered: AnsweredRequest, ruler: Ruler): KeptPrefixes {
  const { view, rules, usage, startMs, readableMs } = answered;
  const { blocks, model } = view;
  const { automatic } = rules.cache;
  const asked = view.request.ownLifetime;
  const keptMs = Math.max(
    (automatic?.keptSecondsMin ?? unstatedSeconds) * 1000,
    asked === null ? 0 : keptMsOf(asked, rules.cache),
  );
  const common = { lifetime: null, keptMs, writtenMs: startMs, touchedMs: startMs, readableMs };
  const tokensAt = (block: number): number => wholeSteps(ruler(block), rules.cache);
  const entryAt = ({ key, contentKey }: ViewBlock, block: number): TrackedEntry => ({
    key,
    contentKey,
    block,
    model,
    tokens: tokensAt(block),
    ...common,
  });
  const block = blocks.length - 1;
  const tokens = ruler(block);
  const readable = tokensAt(block);
  let first = block;
  while (first > 0 && tokensAt(first - 1) === readable) first -= 1;
  const at = blocks[first];
  let made: readonly TrackedEntry[] | null = null;
  const isKept = readable > 0;
  return {
    get entries() {
      return (made ??= blocks.map(entryAt));
    },
    ...(at && { longest: entryAt(at, first) }),
    kept: isKept ? { block, tokens: readable, isExact: usage !== null } : null,
    unkept: isKept ? null : { cause: "below the minimum", block, tokens },
  };
}

function keepMarked(answered: AnsweredRequest, ruler: Ruler): KeptPrefixes {
  const { view, rules, usage, entries, startMs } = answered;
  if (rules.cache.marking === "none") return { entries: [], kept: null, unkept: null };
  const seen = believeReply(seeMarkers(view, rules.cache, ruler), usage);
  const last = seen.usable.at(-1);
  if (last === undefined) return { entries, kept: null, unkept: whyUnkept(seen, view, ruler) };
  if (usage !== null && usage.cacheReadTokens + writtenTokens(usage) === 0) {
    const tokens = ruler(last.block);
    const isNearMinimum = tokens < (rules.cache.minimumTokens ?? 0) * nearMinimum;
    const cause = isNearMinimum ? "below the minimum" : "provider lost it";
    return { entries, kept: null, unkept: { cause, block: last.block, tokens } };
  }
  const believed = entries.filter((entry) => isBelievable(entry, view, usage));
  const bill = expectBill({
    blocks: view.blocks,
    markers: seen.usable,
    requestMarker: null,
    mode: view.request.mode,
    rules: { ...rules.cache, minimumTokens: 0 },
    entries: entriesByBlock(believed.filter(({ readableMs }) => readableMs <= startMs)),
    ruler,
    nowMs: startMs,
  });
  const kept = keptAt(last.block, usage, ruler);
  const read = usage === null || bill.hit === null ? null : readUpTo(bill.hit.block, usage, ruler);
  const tokensAt = (block: number): number => between(read, kept, block, ruler);
  const touched = new Set<KnownEntry>(bill.refreshed);
  const written = bill.written.map((entry) => toTracked(entry, answered, tokensAt(entry.block)));
  const isReplaced = (entry: TrackedEntry): boolean =>
    written.some(({ key, lifetime }) => key === entry.key && lifetime === entry.lifetime);
  const others = believed.filter((entry) => !isReplaced(entry));
  const refreshed = others.filter((entry) => touched.has(entry));
  return {
    entries: [
      ...others.filter((entry) => !touched.has(entry)),
      ...refreshed.map((entry) => ({ ...entry, touchedMs: Math.max(entry.touchedMs, startMs) })),
      ...written,
    ].slice(-entriesMax),
    kept,
    unkept: null,
  };
}

/** Counts are estimates: a prefix less than this factor above the minimum may be below it. */
const nearMinimum = 1.5;

/** If the reply reports a write, a marker was long enough, in spite of our count. */
function believeReply(seen: SeenMarkers, usage: Usage | null): SeenMarkers {
  const last = seen.placed.at(-1);
  if (seen.usable.length > 0 || last === undefined || usage === null) return seen;
  return usage.cacheReadTokens + writtenTokens(usage) > 0 ? { ...seen, usable: [last] } : seen;
}

function whyUnkept({ placed }: SeenMarkers, view: PromptView, ruler: Ruler): UnkeptPrefix | null {
  const block = placed.at(-1)?.block ?? view.blocks.length - 1;
  const cause = placed.length === 0 ? "nothing was marked" : "below the minimum";
  return block < 0 ? null : { cause, block, tokens: ruler(block) };
}

/** An entry that this call could have read but did not is gone. */
function isBelievable(
  { block, key, tokens }: TrackedEntry,
  { blocks }: PromptView,
  usage: Usage | null,
): boolean {
  if (usage === null || blocks[block]?.key !== key) return true;
  return tokens <= usage.cacheReadTokens + countTolerance(usage.cacheReadTokens);
}

function toTracked(
  entry: KnownEntry,
  { view, readableMs }: AnsweredRequest,
  tokens: number,
): TrackedEntry {
  const contentKey = view.blocks[entry.block]?.contentKey ?? "";
  return { ...entry, contentKey, model: view.model, tokens, readableMs };
}

/** Adds an entry for an unexpected read: the prefix was there. */
function withUnexpectedRead(
  outcome: KeptPrefixes,
  answered: AnsweredRequest,
  ruler: Ruler,
): KeptPrefixes {
  const { view, rules, usage, startMs } = answered;
  const read = usage?.cacheReadTokens ?? 0;
  if (read <= (outcome.kept?.tokens ?? 0)) return outcome;
  const block = view.blocks.findLastIndex((_, index) => ruler(index) <= read * 1.02);
  const at = view.blocks[block];
  const [short] = rules.cache.lifetimes;
  if (at === undefined) return outcome;
  const seconds = short?.seconds ?? rules.cache.automatic?.keptSecondsMin ?? unstatedSeconds;
  const found: TrackedEntry = {
    key: at.key,
    contentKey: at.contentKey,
    model: view.model,
    block,
    lifetime: short?.lifetime ?? null,
    keptMs: seconds * 1000,
    writtenMs: startMs,
    touchedMs: startMs,
    tokens: read,
    readableMs: startMs,
  };
  const kept = { block, tokens: read, isExact: true };
  const longest = outcome.longest && { longest: found };
  return { entries: [...outcome.entries, found], ...longest, kept, unkept: null };
}

/** Where a provider's documents name no lifetime: a shorter pause is not blamed for a miss. */
const unstatedSeconds = 300;
