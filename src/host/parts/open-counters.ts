// Exact prompt counts by the provider, as configured: one counter for each place where models are reached.
import type { TextCounter } from "../../core/tokens/o200k/counter.ts";
import { createCounter, type Counter } from "../../edge/counters/counter.ts";
import type { ReachedModel } from "../../edge/providers/reach-providers.ts";
import type { PromptCounter } from "../../engine/turn/deps.ts";
import { toCounterSettings } from "../config/from-config.ts";
import type { FollowedConfig } from "../config/follow-config.ts";

export interface CountersOptions {
  /** Asked before every count: a change holds from the next one on. */
  readonly config: FollowedConfig;
  readonly agent: string;
  readonly textCounter: TextCounter;
  readonly onNotice: (notice: string) => void;
}

export interface Counters {
  of(reached: ReachedModel): PromptCounter;
  close(): Promise<void>;
}

export function openCounters(options: CountersOptions): Counters {
  const { config, agent, textCounter, onNotice } = options;
  const opened = new Map<string, Counter>();
  const find = (reached: ReachedModel): Counter => {
    const { capacity, ...configured } = toCounterSettings(config.now(), agent);
    const { protocol, counting } = reached;
    const backend = backendFor(configured.backend, reached);
    const key = `${counting.name}\n${backend}\n${capacity}`;
    const known = opened.get(key);
    if (known !== undefined) return known;
    const counter = createCounter({
      backend,
      protocol,
      hasKey: counting.hasKey,
      // The sender belongs to the providers, which close it.
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

/** Without exact counts, the session's estimate is better than a plain formula: every reply corrects it. */
function backendFor(configured: string, { protocol, counting }: ReachedModel): string {
  if (configured !== "auto") return configured;
  return protocol.counting === undefined || !counting.hasKey ? "local" : configured;
}
