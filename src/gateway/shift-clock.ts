// An observer that lives at another time: for a demo, in which a day passes within seconds.
import type { ExchangeEnd, ExchangeStart, Observation, Observer } from "./exchange.ts";

export function shiftClock(observer: Observer, shiftMs: () => number): Observer {
  return {
    begin: (start: ExchangeStart) => {
      const observation = observer.begin({ ...start, startMs: start.startMs + shiftMs() });
      return observation && shiftEnd(observation, shiftMs);
    },
  };
}

function shiftEnd(observation: Observation, shiftMs: () => number): Observation {
  const { rewrite } = observation;
  return {
    ...(rewrite === undefined ? {} : { rewrite }),
    requestBody: (body) => observation.requestBody(body),
    responseHead: (status, headers) => observation.responseHead(status, headers),
    responseBytes: (bytes) => observation.responseBytes(bytes),
    end: (end: ExchangeEnd) => {
      const by = shiftMs();
      const { endMs, firstByteMs } = end;
      observation.end({
        ...end,
        endMs: endMs + by,
        firstByteMs: firstByteMs === null ? null : firstByteMs + by,
      });
    },
  };
}
