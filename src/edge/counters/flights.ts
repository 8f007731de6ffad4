// Running requests, one per key: callers with the same key share one answer.

export interface Flights<Outcome> {
  isUnderWay(key: string): boolean;
  /**
   * Joins the running request, or starts it; null as soon as the caller's signal aborts. A request
   * without waiters is aborted. `start` must not reject.
   */
  join(
    key: string,
    start: (signal: AbortSignal) => Promise<Outcome>,
    signal?: AbortSignal,
  ): Promise<Outcome | null>;
  abortAll(): void;
}

interface Flight<Outcome> {
  readonly outcome: Promise<Outcome>;
  readonly controller: AbortController;
  waiting: number;
}

export function createFlights<Outcome>(): Flights<Outcome> {
  const flights = new Map<string, Flight<Outcome>>();
  const open = (key: string, start: (signal: AbortSignal) => Promise<Outcome>): Flight<Outcome> => {
    const controller = new AbortController();
    const flight = { outcome: start(controller.signal), controller, waiting: 0 };
    flights.set(key, flight);
    return flight;
  };
  return {
    isUnderWay: (key) => flights.has(key),
    join: async (key, start, signal) => {
      if (signal?.aborted === true) return null;
      const flight = flights.get(key) ?? open(key, start);
      flight.waiting += 1;
      try {
        return await untilAborted(flight.outcome, signal);
      } finally {
        flight.waiting -= 1;
        if (flight.waiting === 0) {
          if (flights.get(key) === flight) flights.delete(key);
          flight.controller.abort();
        }
      }
    },
    abortAll: () => {
      for (const { controller } of flights.values()) controller.abort();
    },
  };
}

async function untilAborted<Outcome>(
  outcome: Promise<Outcome>,
  signal: AbortSignal | undefined,
): Promise<Outcome | null> {
  if (signal === undefined) return outcome;
  const leaving = Promise.withResolvers<null>();
  const onAbort = (): void => leaving.resolve(null);
  signal.addEventListener("abort", onAbort);
  try {
    return await Promise.race([outcome, leaving.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
