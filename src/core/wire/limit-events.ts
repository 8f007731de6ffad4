// Ends a stream that never ends: a reply with more events than any real one is malformed.
import { malformed, type ProviderFailure } from "./failure.ts";
import type { StreamDecoder } from "./protocol.ts";

/** Several times the longest output there is, with one event for each of its tokens. */
export const eventsMax = 1_000_000;

export const tooManyEvents: ProviderFailure = malformed(
  `the stream has more than ${eventsMax} events`,
);

export interface LimitedState<State> {
  readonly state: State;
  readonly events: number;
}

/** The same decoder for at most `eventsMax` events. Later ones are not read. */
export function limitEvents<State>(
  decoder: StreamDecoder<State>,
): StreamDecoder<LimitedState<State>> {
  return {
    start: { state: decoder.start, events: 0 },
    step: ({ state, events }, event) => {
      if (events >= eventsMax) return [{ state, events: eventsMax + 1 }, []];
      const [next, parts] = decoder.step(state, event);
      return [{ state: next, events: events + 1 }, parts];
    },
    finish: ({ state, events }) => {
      const finished = decoder.finish(state);
      if (events <= eventsMax) return finished;
      return finished.kind === "reply"
        ? { ...finished, status: "partial", failure: tooManyEvents }
        : tooManyEvents;
    },
  };
}
