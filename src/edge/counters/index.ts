// `strata-context/counters`: exact token counts, or estimates that say so.
export {
  createCounter,
  type Count,
  type CountedBill,
  type Counter,
  type CounterListeners,
  type CounterOptions,
  type CounterStats,
  type CountQuestion,
} from "./counter.ts";
export type { CountSender } from "./exact-counter.ts";
