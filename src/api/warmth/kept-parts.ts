// What a provider keeps of a conversation after its calls, read from their bills: prefixes, each with a lifetime that began with its last use.
import {
  lifetimes,
  noUsage,
  promptTokens,
  secondsOf,
  type Lifetime,
  type Usage,
} from "../../core/message/usage.ts";
import type { CacheRules } from "../../core/models/cache-rules.ts";
import { findTotal, type PricedModel } from "../../core/models/cost.ts";
import { countTolerance } from "../../core/cache/cache-state.ts";

/** A prefix of the prompt. */
export interface KeptPart {
  readonly tokens: number;
  /** Null where the provider keeps unasked and bills no write. */
  readonly lifetime: Lifetime | null;
  readonly untilMs: number;
}

export interface BilledCall {
  readonly startMs: number;
  readonly usage: Usage;
}

/** After the last of these calls, which are oldest first. The longest prefix first; each shorter one is kept longer. */
export function keptAfter(calls: readonly BilledCall[], rules: CacheRules): readonly KeptPart[] {
  return calls.reduce<readonly KeptPart[]>(
    (parts, call) => longestLived([...heldBy(parts, call, rules), ...writtenBy(call, rules)]),
    [],
  );
}

/** What a call read is kept anew. What it did not read is not a prefix of its prompt any more, or was lost. */
function heldBy(
  parts: readonly KeptPart[],
  { startMs, usage }: BilledCall,
  rules: CacheRules,
): readonly KeptPart[] {
  const read = usage.cacheReadTokens;
  if (read === 0) return [];
  const reach = read + countTolerance(read);
  const held = parts.filter(({ tokens, untilMs }) => tokens <= reach && untilMs >= startMs);
  const known = held.reduce((most, { tokens }) => Math.max(most, tokens), 0);
  // Written before these calls, or by another conversation: for how long is not known, so it is the shortest.
  const lifetime = keepsUnasked(rules) ? null : (rules.lifetimes[0]?.lifetime ?? null);
  const found = { tokens: read, lifetime, untilMs: startMs + keptMsOf(lifetime, rules) };
  const all = known + countTolerance(read) < read ? [...held, found] : held;
  if (rules.refreshedByRead === false) return all;
  return all.map((part) => ({
    ...part,
    untilMs: Math.max(part.untilMs, startMs + keptMsOf(part.lifetime, rules)),
  }));
}

/** Longer lifetimes stand before shorter ones. */
function writtenBy({ startMs, usage }: BilledCall, rules: CacheRules): readonly KeptPart[] {
  let end = usage.cacheReadTokens;
  const written: KeptPart[] = [];
  for (const lifetime of lifetimes.toReversed()) {
    const tokens = usage.cacheWriteTokens[lifetime] ?? 0;
    if (tokens === 0) continue;
    end += tokens;
    written.push({ tokens: end, lifetime, untilMs: startMs + keptMsOf(lifetime, rules) });
  }
  const prompt = promptTokens(usage);
  if (written.length > 0 || !keepsUnasked(rules)) return written;
  if (prompt < (rules.minimumTokens ?? 0)) return [];
  return [{ tokens: prompt, lifetime: null, untilMs: startMs + keptMsOf(null, rules) }];
}

/** For a time that the provider promises, and without billing a write. */
function keepsUnasked({ automatic }: CacheRules): boolean {
  return automatic !== null && !automatic.takesMarkerSlot && automatic.keptSecondsMin !== null;
}

/** Whether it is known how long anything is kept. */
export function saysHowLong(rules: CacheRules): boolean {
  return rules.lifetimes.length > 0 || keepsUnasked(rules);
}

function keptMsOf(lifetime: Lifetime | null, { lifetimes: known, automatic }: CacheRules): number {
  if (lifetime === null) return (automatic?.keptSecondsMin ?? 0) * 1000;
  const found = known.find((each) => each.lifetime === lifetime);
  return (found?.seconds ?? secondsOf[lifetime]) * 1000;
}

/** Without those that a longer prefix outlives. */
function longestLived(parts: readonly KeptPart[]): readonly KeptPart[] {
  const kept: KeptPart[] = [];
  const inOrder = parts.toSorted(
    (one, other) => other.tokens - one.tokens || other.untilMs - one.untilMs,
  );
  for (const part of inOrder) if (part.untilMs > (kept.at(-1)?.untilMs ?? 0)) kept.push(part);
  return kept;
}

/** What the next call pays more once these are lost: written again for the same time instead of read. Null without a price. */
export function coldCostOf(
  parts: readonly KeptPart[],
  model: PricedModel,
  nowMs: number,
): bigint | null {
  const [longest] = parts;
  if (longest === undefined) return 0n;
  let [start, uncachedTokens] = [0, 0];
  const cacheWriteTokens: Partial<Record<Lifetime, number>> = {};
  for (const { tokens, lifetime } of parts.toReversed()) {
    const own = tokens - start;
    if (lifetime === null) uncachedTokens += own;
    else cacheWriteTokens[lifetime] = (cacheWriteTokens[lifetime] ?? 0) + own;
    start = tokens;
  }
  const written = findTotal({ ...noUsage, uncachedTokens, cacheWriteTokens }, model, { at: nowMs });
  const read = findTotal({ ...noUsage, cacheReadTokens: longest.tokens }, model, { at: nowMs });
  return written === null || read === null ? null : written - read;
}
