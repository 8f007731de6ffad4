// Who counts prompts exactly, as configured by now: one counter for each place where models are reached.
import type { TextCounter } from "../core/tokens/o200k/counter.ts";
import { createCounter, type Counter } from "../edge/counters/counter.ts";
import { findCountApi } from "../edge/counters/count-api.ts";
import type { ReachedModel } from "../edge/providers/reach-providers.ts";
import type { PromptCounter } from "../engine/count-prompt.ts";

export interface CountersOptions {
  /** Asked before every count: a change holds from the next one on. */
  readonly settings: () => { readonly backend: string; readonly capacity: number };
  readonly textCounter: TextCounter;
  readonly onNotice: (notice: string) => void;
}

export interface Counters {
  of(reached: ReachedModel): PromptCounter;
  close(): Promise<void>;
}

export function createCounters({ settings, textCounter, onNotice }: CountersOptions): Counters {
  const opened = new Map<string, Counter>();
  const find = (reached: ReachedModel): Counter => {
    const { capacity, ...configured } = settings();
    const { protocol, counting } = reached;
    const backend = backendFor(configured.backend, reached);
    const key = `${counting.name}\n${backend}\n${capacity}`;
    const known = opened.get(key);
    if (known !== undefined) return known;
    const counter = createCounter({
      backend,
      protocol,
      hasKey: counting.hasKey,
      openSender: (asked) => ({ ...counting.open(asked), close: () => Promise.resolve() }),
      textCounter,
      capacity,
      onWarning: onNotice,
    });
    opened.set(key, counter);
    return counter;
  };
  return {
    of: (reached) => ({
      count: (question) => find(reached).count(question),
      noteBill: (bill) => find(reached).noteBill(bill),
    }),
    close: async () => {
      await Promise.all([...opened.values()].map((counter) => counter.close()));
    },
  };
}

/** Where nobody counts exactly, the estimate that the session corrects with every reply is nearer than a plain formula. */
function backendFor(configured: string, { protocol, counting }: ReachedModel): string {
  if (configured !== "auto") return configured;
  return findCountApi(protocol.name) === null || !counting.hasKey ? "local" : configured;
}
