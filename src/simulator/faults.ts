// The queue of injected faults: decides which one hits the next request.
import { drawOf } from "./ids.ts";
import type { HttpFault } from "./surface.ts";

/** Replaces the whole answer, or breaks its delivery. */
export type Fault = HttpFault | StreamFault;

export type StreamFault =
  | { readonly kind: "slow first byte"; readonly delayMs: number }
  /** Stops sending after some events and keeps the connection open. */
  | { readonly kind: "stall"; readonly afterEvents: number }
  /** Drops the connection after some events. */
  | { readonly kind: "cut"; readonly afterEvents: number }
  /** Cuts the JSON of one event in the middle, then ends normally. */
  | { readonly kind: "malformed"; readonly afterEvents: number }
  /** An event with one wrong byte: its JSON breaks, or a frame's checksum does not fit. */
  | { readonly kind: "corrupt"; readonly afterEvents: number }
  /** The provider's own event for a failure, and nothing after it. */
  | { readonly kind: "error event"; readonly afterEvents: number };

export interface FaultRule {
  /** One of these hits; among several, a random one. */
  readonly faults: readonly Fault[];
  /** How many requests it hits; null: all until it is cleared. */
  readonly count: number | null;
  readonly probability: number;
  readonly seed: number;
  /** Only requests to this path; null: every POST. */
  readonly path: string | null;
  /** Only this host of a router, which can go on to another one. Absent: the whole answer. */
  readonly host?: string;
}

export interface FaultQueue {
  add(rules: readonly FaultRule[]): void;
  /** The fault for the next request, from the first rule that applies. */
  next(path: string, host?: string | null): Fault | null;
  /** Rules that can still hit. */
  list(): readonly FaultRule[];
  clear(): void;
}

export function createFaultQueue(first: readonly FaultRule[]): FaultQueue {
  let rules = first.map(toWaiting);
  return {
    add: (more) => {
      rules = [...rules, ...more.map(toWaiting)];
    },
    next: (path, host = null) => {
      for (const waiting of rules) {
        const fault = strike(waiting, path, host);
        if (fault === null) continue;
        rules = rules.filter(({ left }) => left !== 0);
        return fault;
      }
      return null;
    },
    list: () => rules.map(({ rule, left }) => ({ ...rule, count: left })),
    clear: () => {
      rules = [];
    },
  };
}

interface Waiting {
  readonly rule: FaultRule;
  left: number | null;
  /** Requests seen so far; makes the draws repeatable for a seed. */
  asked: number;
}

function toWaiting(rule: FaultRule): Waiting {
  return { rule, left: rule.count, asked: 0 };
}

function strike(waiting: Waiting, path: string, host: string | null): Fault | null {
  const { rule } = waiting;
  if ((rule.host ?? null) !== host) return null;
  if (rule.path !== null && rule.path !== path) return null;
  waiting.asked += 1;
  const words = `${rule.seed}\n${waiting.asked}`;
  if (rule.probability < 1 && drawOf(`${words}\nwhether`) >= rule.probability) return null;
  if (waiting.left !== null) waiting.left -= 1;
  return rule.faults[Math.floor(drawOf(`${words}\nwhich`) * rule.faults.length)] ?? null;
}
