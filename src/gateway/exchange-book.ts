// Counts exchanges, and reports each one when it ends.
import type { BegunExchange } from "./direct-request.ts";
import type { ForwardedEnd } from "./forward/forward-exchange.ts";
import type { Refusal } from "./forward/refuse.ts";
import type { Watching } from "./forward/watch-exchanges.ts";
import type { Target } from "./upstreams/upstream-table.ts";

export interface DoneExchange extends BegunExchange, Omit<ForwardedEnd, "how"> {
  /** Empty if none was found. */
  readonly upstream: string;
  readonly how: ForwardedEnd["how"] | "refused";
  /** Whether the observer saw it. */
  readonly isWatched: boolean;
}

export type ExchangeCounts = Readonly<
  Record<"open" | "complete" | "clientLeft" | "cut" | "noAnswer" | "refused", number>
>;

export interface ExchangeBook {
  /** Returns a function to call at the end of the exchange. */
  open(begun: BegunExchange, target: Target, isWatched: boolean): (end: ForwardedEnd) => void;
  refused(begun: BegunExchange, refusal: Refusal): void;
  counts(): ExchangeCounts;
}

export function openBook(
  tell: (done: DoneExchange) => void,
  watching: Pick<Watching, "noteFault">,
): ExchangeBook {
  const counts = { open: 0, complete: 0, clientLeft: 0, cut: 0, noAnswer: 0, refused: 0 };
  const done = (exchange: DoneExchange): void => {
    try {
      tell(exchange);
    } catch (error) {
      watching.noteFault(error);
    }
  };
  return {
    open: (begun, { upstream }, isWatched) => {
      counts.open += 1;
      return (end) => {
        counts.open -= 1;
        counts[counterOf[end.how]] += 1;
        done({ ...begun, ...end, upstream, isWatched });
      };
    },
    refused: (begun, { status }) => {
      counts.refused += 1;
      const end = { status, endMs: Date.now(), firstByteMs: null, responseBytes: 0 };
      done({ ...begun, ...end, how: "refused", upstream: "", isWatched: false });
    },
    counts: () => ({ ...counts }),
  };
}

const counterOf = {
  complete: "complete",
  "client left": "clientLeft",
  cut: "cut",
  "no answer": "noAnswer",
} as const satisfies Record<ForwardedEnd["how"], keyof ExchangeCounts>;
