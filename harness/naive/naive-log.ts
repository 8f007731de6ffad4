// What the naive billing knows: a log of requests, and when two of them begin alike. Everything is a loop over blocks.
import type { InvalidationRule } from "../../src/core/models/invalidation.ts";
import type { BilledMarker } from "../../src/simulator/billing/bill.ts";
import type {
  BillableRequest,
  BilledTier,
  Lifetime,
} from "../../src/simulator/billing/billable-request.ts";

export interface NaiveBill {
  readonly totalTokens: number;
  readonly readTokens: number;
  readonly writeTokens: Readonly<Partial<Record<Lifetime, number>>>;
  readonly uncachedTokens: number;
  readonly hitBlock: number | null;
  readonly markers: readonly NaiveMarker[];
}

export type NaiveMarker = Omit<BilledMarker, "position">;

/** A past request and its effects on entries. */
export interface Past {
  readonly request: BillableRequest;
  touches: readonly Touch[];
  begun: boolean;
  abandoned: boolean;
  endedMs: number | null;
  /** The places of its opening and of its answer among all events; null before the answer. */
  readonly openedAs: number;
  begunAs: number | null;
}

export interface Touch {
  readonly block: number;
  readonly lifetime: Lifetime;
  /** A refresh takes effect at once, the others when the response begins. */
  readonly how: "written" | "refreshed";
}

export function isSamePrefix(
  left: BillableRequest,
  right: BillableRequest,
  block: number,
): boolean {
  if (left.workspace !== right.workspace || left.host !== right.host) return false;
  if (left.model.id !== right.model.id || left.model.route !== right.model.route) return false;
  for (let index = 0; index <= block; index += 1) {
    const hash = right.blocks[index]?.hash;
    if (hash === undefined || left.blocks[index]?.hash !== hash) return false;
  }
  const tier = right.blocks[block]?.tier ?? "messages";
  return right.model.cache.invalidation
    .filter((rule) => isLost(rule, tier))
    .every(({ change }) => left.settings[change] === right.settings[change]);
}

const tiers = ["tools", "system", "messages"] as const;

/** A change invalidates the first tier that does not survive it, and all later tiers. */
function isLost({ survives }: InvalidationRule, tier: BilledTier): boolean {
  const upTo = tiers.slice(0, tiers.indexOf(tier) + 1);
  return upTo.some((each) => !survives.includes(each));
}

export function tokensTo(request: BillableRequest, block: number): number {
  return request.blocks.slice(0, block + 1).reduce((sum, { tokens }) => sum + tokens, 0);
}

export function toBill(
  request: BillableRequest,
  readTokens: number,
  writeTokens: Partial<Record<Lifetime, number>>,
  hitBlock: number | null,
  markers: readonly NaiveMarker[],
): NaiveBill {
  const totalTokens = tokensTo(request, request.blocks.length - 1);
  const writtenTokens = Object.values(writeTokens).reduce((sum, tokens) => sum + tokens, 0);
  const uncachedTokens = totalTokens - readTokens - writtenTokens;
  return { totalTokens, readTokens, writeTokens, uncachedTokens, hitBlock, markers };
}
