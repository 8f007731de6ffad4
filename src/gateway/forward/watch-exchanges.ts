// Shows exchanges to an observer, beside the traffic: after the bytes have passed, and so that no fault of it is felt.
import { messageOf } from "../../core/strata-error.ts";
import type { ExchangeEnd, ExchangeStart, Observation, Observer } from "../exchange.ts";
import { toHeaderRecord, type RawHeaders } from "./pass-headers.ts";

export interface WatchOptions {
  readonly observer: Observer;
  /** A longer request is not shown. */
  readonly bodyBytesMax: number;
  /** For people: the observer failed, or is left out for a while. */
  readonly onProblem: (problem: string) => void;
  readonly now?: () => number;
}

export interface Watching {
  /** Null if nothing is to be copied. */
  begin(describe: () => ExchangeStart): Watch | null;
  /** A fault that came later, out of a promise or a timer of the observer. */
  noteFault(error: unknown): void;
  state(): WatchState;
}

export interface WatchState {
  readonly faults: number;
  /** Requests that were too large to be shown. */
  readonly unreadBodies: number;
  /** Exchanges that passed unseen while the observer was left out. */
  readonly unseen: number;
  /** Milliseconds since 1970; null while the observer sees everything. */
  readonly pausedUntilMs: number | null;
}

/** One exchange as it passes. Each method returns at once. */
export interface Watch {
  requestBytes(bytes: Uint8Array): void;
  requestEnd(): void;
  responseHead(status: number, headers: RawHeaders): void;
  responseBytes(bytes: Uint8Array): void;
  end(end: ExchangeEnd): void;
}

/** Faults in a row after which the observer is left out. */
export const faultsMax = 5;
export const pauseMs = 60_000;
/** Bodies of all exchanges under way that are kept at once, in bodies of the largest size. */
const fullBodiesMax = 4;

export function watchExchanges(options: WatchOptions): Watching {
  const { observer, bodyBytesMax, onProblem, now = Date.now } = options;
  const later = createLater();
  let [faults, inARow, unreadBodies, unseen, keptBytes] = [0, 0, 0, 0, 0];
  let pausedUntilMs: number | null = null;

  const noteFault = (error: unknown): void => {
    faults += 1;
    inARow += 1;
    if (inARow === 1) onProblem(`an exchange was not recorded: ${messageOf(error)}`);
    if (inARow < faultsMax || pausedUntilMs !== null) return;
    pausedUntilMs = now() + pauseMs;
    onProblem(
      `nothing is recorded for ${pauseMs / 1000} s after ${faultsMax} faults in a row; requests are forwarded as before`,
    );
  };
  const isPaused = (): boolean => {
    if (pausedUntilMs === null) return false;
    if (now() < pausedUntilMs) return true;
    // One more fault pauses it again.
    [pausedUntilMs, inARow] = [null, faultsMax - 1];
    onProblem("exchanges are recorded again");
    return false;
  };

  return {
    begin: (describe) => {
      if (isPaused()) {
        unseen += 1;
        return null;
      }
      let observation: Observation | null = null;
      try {
        observation = observer.begin(describe());
      } catch (error) {
        noteFault(error);
      }
      if (observation === null) return null;
      let isWatched = true;
      const show = (call: (to: Observation) => void): void => {
        later(() => {
          if (!isWatched || observation === null) return;
          try {
            call(observation);
          } catch (error) {
            isWatched = false;
            noteFault(error);
          }
        });
      };
      let pieces: Uint8Array[] | null = [];
      let ownBytes = 0;
      const release = (): void => {
        [keptBytes, ownBytes, pieces] = [keptBytes - ownBytes, 0, null];
      };
      return {
        requestBytes: (bytes) => {
          if (pieces === null) return;
          ownBytes += bytes.byteLength;
          keptBytes += bytes.byteLength;
          pieces.push(bytes);
          if (ownBytes <= bodyBytesMax && keptBytes <= bodyBytesMax * fullBodiesMax) return;
          unreadBodies += 1;
          release();
        },
        requestEnd: () => {
          const whole = pieces;
          show((to) => to.requestBody(whole));
        },
        responseHead: (status, headers) => {
          show((to) => to.responseHead(status, toHeaderRecord(headers)));
        },
        responseBytes: (bytes) => show((to) => to.responseBytes(bytes)),
        end: (end) => {
          show((to) => to.end(end));
          later(() => {
            release();
            if (isWatched) inARow = 0;
          });
        },
      };
    },
    noteFault,
    state: () => ({ faults, unreadBodies, unseen, pausedUntilMs }),
  };
}

/** Runs work in its order when the traffic of this moment has been passed on. */
function createLater(): (work: () => void) => void {
  let waiting: (() => void)[] = [];
  const run = (): void => {
    const due = waiting;
    waiting = [];
    for (const work of due) work();
  };
  return (work) => {
    waiting.push(work);
    if (waiting.length === 1) setImmediate(run);
  };
}
