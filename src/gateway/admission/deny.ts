// Why a request with a key of the gateway does not pass, in words for the person who sees them in a client.
import { formatUsdRounded } from "../../core/models/pico-usd.ts";
import type { RefusalToEncode } from "../../core/wire/refusal.ts";
import type { RefusalCode } from "../forward/refuse.ts";
import type { BudgetSpan, GatewayKey } from "./gateway-key.ts";

export interface Denial extends RefusalToEncode {
  readonly code: RefusalCode;
}

export const keyRequired: Denial = {
  kind: "authentication",
  code: "key_required",
  message: "this gateway asks for a key of its own, in the place of the provider's key",
  retryAfterSeconds: null,
};

export function notAllowed({ name }: GatewayKey, what: string): Denial {
  const message = `the gateway's key ${name} may not ${what}`;
  return { kind: "permission", code: "not_allowed", message, retryAfterSeconds: null };
}

export function noUpstreamKey(upstream: string): Denial {
  const message = `the gateway holds no key for ${upstream}; its owner can set one (gateway.upstreams.${upstream}.key_env)`;
  return { kind: "permission", code: "not_allowed", message, retryAfterSeconds: null };
}

export function tooMuch({ name }: GatewayKey, limit: string, retryAfterSeconds: number): Denial {
  const message = `the gateway's key ${name} may send ${limit}; try again in ${retryAfterSeconds} s`;
  return { kind: "rate-limited", code: "rate_limited", message, retryAfterSeconds };
}

export interface BudgetLeft {
  readonly span: BudgetSpan;
  readonly budget: bigint;
  readonly spent: bigint;
  /** What the call may cost. */
  readonly asked: bigint;
}

export function overBudget(
  { name }: GatewayKey,
  { span, budget, spent, asked }: BudgetLeft,
  nowMs: number,
): Denial {
  const left = budget > spent ? budget - spent : 0n;
  const ends = endOf(span, nowMs);
  const until = ends === null ? "" : ` until ${new Date(ends).toISOString().slice(0, 16)}Z`;
  const message = `the gateway's key ${name} has ${formatUsdRounded(left, 4)} left of ${formatUsdRounded(budget, 2)} ${spans[span]}${until}, and this call may cost ${formatUsdRounded(asked, 4)}; ask for a shorter answer, or wait`;
  const retryAfterSeconds = ends === null ? null : Math.max(1, Math.ceil((ends - nowMs) / 1000));
  return { kind: "billing", code: "budget_spent", message, retryAfterSeconds };
}

const spans: Readonly<Record<BudgetSpan, string>> = {
  day: "for the day",
  month: "for the month",
  total: "in total",
};

/** Null for a budget that is never renewed. */
function endOf(span: BudgetSpan, nowMs: number): number | null {
  const now = new Date(nowMs);
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()];
  if (span === "day") return Date.UTC(year, month, day + 1);
  return span === "month" ? Date.UTC(year, month + 1, 1) : null;
}

export function unreadBody({ name }: GatewayKey): Denial {
  const message = `the gateway's key ${name} has limits, and this body does not say in one way which model it asks for`;
  return { kind: "invalid-request", code: "body_unread", message, retryAfterSeconds: null };
}

export function bodyTooLarge({ name }: GatewayKey, bytesMax: number): Denial {
  const message = `the gateway's key ${name} has limits, so its bodies are read, and this one is longer than ${bytesMax} bytes`;
  return { kind: "request-too-large", code: "body_too_large", message, retryAfterSeconds: null };
}

export const tooManyBodies: Denial = {
  kind: "overloaded",
  code: "busy",
  message: "the gateway reads too many large bodies at the moment; try again",
  retryAfterSeconds: 1,
};
