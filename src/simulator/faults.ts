// Faults a user asked for: which one strikes the next request.
import { drawOf } from "./ids.ts";
import type { HttpFault } from "./surface.ts";

/** The whole answer is another one, or the answer comes broken. */
export type Fault = HttpFault | StreamFault;

export type StreamFault =
  | { readonly kind: "slow first byte"; readonly delayMs: number }
  /** Goes silent after some events and keeps the connection. */
  | { readonly kind: "stall"; readonly afterEvents: number }
  /** Drops the connection after some events. */
  | { readonly kind: "cut"; readonly afterEvents: number }
  /** Breaks one event in the middle of its JSON, then ends as if nothing had happened. */
  | { readonly kind: "malformed"; readonly afterEvents: number };

export interface FaultRule {
  /** One strikes; where there are several, which one is drawn. */
  readonly faults: readonly Fault[];
  /** How many requests it strikes; null until it is cleared. */
  readonly count: number | null;
  readonly probability: number;
  readonly seed: number;
  /** Only requests to this path; null for every POST. */
  readonly path: string | null;
}

export interface FaultQueue {
  add(rules: readonly FaultRule[]): void;
  /** The fault for one more request: the first rule that takes it. */
  next(path: string): Fault | null;
  /** What can still strike. */
  list(): readonly FaultRule[];
  clear(): void;
}

export function createFaultQueue(first: readonly FaultRule[]): FaultQueue {
  let rules = first.map(toWaiting);
  return {
    add: (more) => {
      rules = [...rules, ...more.map(toWaiting)];
    },
    next: (path) => {
      for (const waiting of rules) {
        const fault = strike(waiting, path);
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
  /** Requests it was asked about, so that the same seed draws the same. */
  asked: number;
}

function toWaiting(rule: FaultRule): Waiting {
  return { rule, left: rule.count, asked: 0 };
}

function strike(waiting: Waiting, path: string): Fault | null {
  const { rule } = waiting;
  if (rule.path !== null && rule.path !== path) return null;
  waiting.asked += 1;
  const words = `${rule.seed}\n${waiting.asked}`;
  if (rule.probability < 1 && drawOf(`${words}\nwhether`) >= rule.probability) return null;
  if (waiting.left !== null) waiting.left -= 1;
  return rule.faults[Math.floor(drawOf(`${words}\nwhich`) * rule.faults.length)] ?? null;
}
