// Billing for providers that keep prefixes for free, without being asked, for an unspecified time.
import { assert } from "../../core/assert.ts";
import type { AutomaticRules } from "../../core/models/cache-rules.ts";
import type { BillableRequest, Keeping } from "./billable-request.ts";
import type { Billing, OpenBill, Reason } from "./bill.ts";
import { keyedPromptOf } from "./growing-prompt.ts";
import type { BillingOptions } from "./options.ts";

/** How long a prefix is kept, and who sent it first. */
interface Sighting {
  readonly writtenBy: string;
  /** The latest expiry over all requests that sent the prefix. */
  readonly untilMs: number;
  /** Set if a prompt ended exactly here; null for a mere part of one. */
  readonly tokens: number | null;
  /** Whether it can be read. Where only some prefixes are kept, the others are known, but not read. */
  readonly isKept: boolean;
}

/** Whether every prefix is kept, by the provider's documents or by our reading where they say nothing. */
export function keepsAnyPrefix(
  { boundary }: AutomaticRules,
  { unpublishedBoundary }: BillingOptions,
): boolean {
  if (boundary === "every step") return true;
  return boundary === "unpublished" && unpublishedBoundary === "any prefix";
}

export function createStepBilling(options: BillingOptions): Omit<Billing, "stored"> {
  const sightings = new Map<string, Sighting>();
  return {
    clear: () => sightings.clear(),
    entries: (nowMs) =>
      [...sightings].flatMap(([key, { writtenBy, untilMs, tokens }]) => {
        if (tokens === null) return [];
        const expiresMs = untilMs + options.graceMs;
        const state = nowMs <= expiresMs ? "live" : "expired";
        return [{ key, lifetime: null, tokens, writtenBy, expiresMs, state }];
      }),
    open: (request) => openSteps(request, sightings, options),
  };
}

function openSteps(
  request: BillableRequest,
  sightings: Map<string, Sighting>,
  options: BillingOptions,
): OpenBill {
  const { minimumTokens, stepTokens: step } = keepingOf(request, options);
  const { keys, cumulative } = keyedPromptOf(request, options);
  const totalTokens = cumulative.at(-1) ?? 0;
  const ageLeft = (key: string): number => {
    const sighting = sightings.get(key);
    if (sighting === undefined || !sighting.isKept) return Number.NEGATIVE_INFINITY;
    return sighting.untilMs + options.graceMs - request.startMs;
  };
  const hitBlock = keys.findLastIndex((key) => ageLeft(key) >= 0);
  const knownBlock = keys.findLastIndex((key) => sightings.get(key)?.isKept === true);
  const shared = hitBlock === -1 ? 0 : (cumulative[hitBlock] ?? 0);
  const kept = Math.floor(shared / step) * step;
  const readTokens = kept < minimumTokens ? 0 : kept;
  const writtenBy = sightings.get(keys[hitBlock] ?? "")?.writtenBy ?? "";
  return {
    bill: {
      requestId: request.id,
      totalTokens,
      readTokens,
      writeTokens: {},
      uncachedTokens: totalTokens - readTokens,
      hitBlock: readTokens === 0 ? null : hitBlock,
      markers: [],
      reason: reasonOf(),
    },
    begin: () => remember(request, keys, sightings, options),
    end: () => {},
    abandon: () => {},
  };

  function reasonOf(): Reason {
    if (readTokens > 0) return { kind: "hit", writtenBy, lifetime: null };
    const leastTokens = Math.max(minimumTokens, step);
    if (hitBlock !== -1 || totalTokens < leastTokens) {
      return { kind: "below the minimum", minimumTokens: leastTokens };
    }
    return knownBlock === -1
      ? { kind: "never written" }
      : { kind: "expired", block: knownBlock, agoMs: -ageLeft(keys[knownBlock] ?? "") };
  }
}

/** What the surface says; otherwise the model's own rules, and our reading where they say nothing. */
function keepingOf({ keeping, model }: BillableRequest, options: BillingOptions): Keeping {
  if (keeping !== undefined) return keeping;
  const { automatic, minimumTokens } = model.cache;
  assert(automatic !== null, "steps are automatic");
  const isOpen = automatic.boundary === "unpublished";
  return {
    boundary: "every step",
    stepTokens: automatic.stepTokens ?? automatic.reportedInSteps ?? 1,
    minimumTokens: minimumTokens ?? (isOpen ? options.unpublishedMinimumTokens : 0),
    keptSeconds: automatic.keptSecondsMin ?? (isOpen ? options.unpublishedSeconds : 0),
    slots: 0,
  };
}

/** Records every prefix of the request as sent at its start. */
function remember(
  request: BillableRequest,
  keys: readonly string[],
  sightings: Map<string, Sighting>,
  options: BillingOptions,
): void {
  const { id, blocks, model, implicitLifetime, startMs } = request;
  // The lifetime that the client asked for; otherwise only the provider's minimum is certain.
  const asked = model.cache.lifetimes.find(({ lifetime }) => lifetime === implicitLifetime);
  const { keptSeconds, boundary } = keepingOf(request, options);
  const seconds = request.keeping === undefined ? (asked?.seconds ?? keptSeconds) : keptSeconds;
  const keptMs = seconds === null ? Number.POSITIVE_INFINITY : seconds * 1000;
  const total = blocks.reduce((sum, { tokens }) => sum + tokens, 0);
  const isAlive = (seen: Sighting | undefined): boolean =>
    seen !== undefined && startMs <= seen.untilMs + options.graceMs;
  const isKeptAt = keptPlaces(request, boundary, (block) =>
    isAlive(sightings.get(keys[block] ?? "")),
  );
  for (const [index, key] of keys.entries()) {
    const known = sightings.get(key);
    const isWhole = index === keys.length - 1;
    sightings.delete(key);
    sightings.set(key, {
      writtenBy: known?.writtenBy ?? id,
      untilMs: Math.max(known?.untilMs ?? 0, startMs + keptMs),
      tokens: isWhole ? total : (known?.tokens ?? null),
      isKept: (isAlive(known) && known?.isKept === true) || isKeptAt(index),
    });
  }
  for (const key of sightings.keys()) {
    if (sightings.size <= options.entriesMax) break;
    sightings.delete(key);
  }
}

/** The blocks at whose ends a later request can read. */
function keptPlaces(
  request: BillableRequest,
  boundary: Keeping["boundary"],
  isSeen: (block: number) => boolean,
): (block: number) => boolean {
  const { blocks } = request;
  switch (boundary) {
    case "every step":
    case "slots":
      return () => true;
    case "ends of messages":
      return (block) => blocks[block]?.boundary !== null;
    case "prefix units": {
      const inputEnd = blocks.findLastIndex((block) => block.boundary === "eligible message");
      const sharedEnd = blocks.findLastIndex((_, block) => isSeen(block));
      return (block) => block === inputEnd || block === sharedEnd;
    }
  }
}
