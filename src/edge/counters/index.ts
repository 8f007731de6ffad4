// `strata-context/counters`: exact token counts, or estimates that say so.
export type { BlockQuestion, Count, CountQuestion } from "./count.ts";
export {
  createCounter,
  type CountedBill,
  type Counter,
  type CounterListeners,
  type CounterOptions,
  type CounterStats,
} from "./counter.ts";
export type { CountSender } from "./exact-counter.ts";
