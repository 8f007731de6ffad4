// Shows exchanges to an observer, after the bytes have passed. A fault of the observer does not reach the traffic.
import { messageOf } from "../../core/strata-error.ts";
import type { ExchangeEnd, ExchangeStart, Observation, Observer, Rewritten } from "../exchange.ts";
import { openKeptBody, type Shelf } from "./kept-body.ts";
import { toHeaderRecord, type RawHeaders } from "./pass-headers.ts";

export interface WatchOptions {
  readonly observer: Observer;
  /** A longer request is not shown. */
  readonly bodyBytesMax: number;
  /** How long a client waits for its body to be rewritten. */
  readonly rewriteMsMax?: number;
  /** A message for people: the observer failed, or is paused. */
  readonly onProblem: (problem: string) => void;
  readonly now?: () => number;
  /** How long the observer is paused after repeated faults. */
  readonly pauseMs?: number;
}

export interface Watching {
  /** Null if nothing is to be copied. */
  begin(describe: () => ExchangeStart): Watch | null;
  /** A later fault, from a promise or timer of the observer. */
  noteFault(error: unknown): void;
  state(): WatchState;
}

export interface WatchState {
  readonly faults: number;
  /** Requests that were too large to be shown. */
  readonly unreadBodies: number;
  /** Requests that were sent as they came, because other bytes for them took too long. */
  readonly lateBodies: number;
  /** Exchanges that passed unseen while the observer was paused. */
  readonly unseen: number;
  /** Paused until then, in milliseconds since 1970; null while the observer sees everything. */
  readonly pausedUntilMs: number | null;
}

/** One exchange as it passes. Each method returns at once. */
export interface Watch {
  /** The longest body that may be rewritten, which has to arrive whole before it is sent; 0 rewrites none. */
  readonly rewrittenBytesMax: number;
  /** Returns the same bytes to pass on. If they are in other memory, the given piece is free. */
  requestBytes(piece: Uint8Array): readonly Uint8Array[];
  /** After the last bytes and before `requestEnd`: calls `send` once with what to send in their place, at once or within the limit. */
  rewrite(send: (other: Rewritten) => void): void;
  requestEnd(): void;
  responseHead(status: number, headers: RawHeaders): void;
  responseBytes(bytes: Uint8Array): void;
  end(end: ExchangeEnd): void;
}

/** Faults in a row after which the observer is paused. */
export const faultsMax = 5;
export const usualPauseMs = 60_000;
/** Longer bodies take too long to read. */
const rewrittenBytesMax = 8 * 1024 * 1024;
const usualRewriteMsMax = 50;

export function watchExchanges(options: WatchOptions): Watching {
  const { observer, bodyBytesMax, rewriteMsMax = usualRewriteMsMax } = options;
  const breaker = createBreaker(options);
  const later = createLater();
  const shelf = { bodyBytesMax, rewriteMsMax, keptBytes: 0, unreadBodies: 0, lateBodies: 0 };
  let unseen = 0;
  return {
    begin: (describe) => {
      if (breaker.isOpen()) {
        unseen += 1;
        return null;
      }
      try {
        const observation = observer.begin(describe());
        return observation && watch(observation, { shelf, breaker, later });
      } catch (error) {
        breaker.fault(error);
        return null;
      }
    },
    noteFault: (error) => breaker.fault(error),
    state: () => ({
      ...breaker.state(),
      unreadBodies: shelf.unreadBodies,
      lateBodies: shelf.lateBodies,
      unseen,
    }),
  };
}

interface BodyShelf extends Shelf {
  readonly rewriteMsMax: number;
  lateBodies: number;
}

interface WatchParts {
  readonly shelf: BodyShelf;
  readonly breaker: Breaker;
  readonly later: (work: () => void) => void;
}

function watch(observation: Observation, { shelf, breaker, later }: WatchParts): Watch {
  let isWatched = true;
  const show = (call: (to: Observation) => void): void => {
    later(() => {
      if (!isWatched) return;
      try {
        call(observation);
      } catch (error) {
        isWatched = false;
        breaker.fault(error);
      }
    });
  };
  const body = openKeptBody(observation, shelf, (error) => {
    isWatched = false;
    breaker.fault(error);
  });
  let sent: Rewritten = null;
  let hasEnded = false;
  // A stream has many pieces, so they are shown together.
  let arrived: Uint8Array[] = [];
  const showArrived = (to: Observation): void => {
    const shown = arrived;
    arrived = [];
    for (const bytes of shown) to.responseBytes(bytes);
  };
  return {
    rewrittenBytesMax: observation.rewrite === undefined ? 0 : rewrittenBytesMax,
    rewrite: (send) => {
      const pieces = body.pieces();
      if (pieces === null || !isWatched) return send(null);
      rewriteIn(observation, pieces, { shelf, breaker }, (other) => {
        sent = other;
        send(other);
      });
    },
    requestBytes: (piece) => body.add(piece),
    requestEnd: () => {
      // The client left while its body was being rewritten.
      if (hasEnded) return;
      const kept = body.take();
      const whole = sent ?? kept;
      sent = null;
      show((to) => to.requestBody(whole));
    },
    responseHead: (status, headers) => {
      show((to) => to.responseHead(status, toHeaderRecord(headers)));
    },
    responseBytes: (bytes) => {
      arrived.push(bytes);
      if (arrived.length === 1) show(showArrived);
    },
    end: (end) => {
      hasEnded = true;
      show((to) => to.end(end));
      later(() => {
        body.release();
        if (isWatched) breaker.success();
      });
    },
  };
}

/** Sends the client's own bytes also after a fault or a timeout. */
function rewriteIn(
  observation: Observation,
  pieces: readonly Uint8Array[],
  { shelf, breaker }: Pick<WatchParts, "shelf" | "breaker">,
  send: (other: Rewritten) => void,
): void {
  const from = performance.now();
  let limitMs = shelf.rewriteMsMax;
  const leftMs = (): number => limitMs - (performance.now() - from);
  const sendOther = (other: Rewritten): void => {
    const isLate = other !== null && leftMs() < 0;
    if (isLate) shelf.lateBodies += 1;
    send(isLate ? null : other);
  };
  try {
    const other = observation.rewrite?.(pieces) ?? null;
    if (!(other instanceof Promise)) return sendOther(other);
    limitMs += observation.waitMsMax ?? 0;
    let isSent = false;
    const once = (work: () => void): void => {
      clearTimeout(timer);
      if (!isSent) work();
      isSent = true;
    };
    const timer = setTimeout(() => {
      shelf.lateBodies += 1;
      once(() => send(null));
    }, leftMs());
    other.then(
      (bytes) => once(() => sendOther(bytes)),
      (error: unknown) => {
        breaker.fault(error);
        once(() => send(null));
      },
    );
  } catch (error) {
    breaker.fault(error);
    send(null);
  }
}

interface Breaker {
  /** While it is open, nothing is shown. */
  isOpen(): boolean;
  fault(error: unknown): void;
  success(): void;
  state(): Pick<WatchState, "faults" | "pausedUntilMs">;
}

function createBreaker(options: WatchOptions): Breaker {
  const { onProblem, now = Date.now, pauseMs = usualPauseMs } = options;
  let [faults, inARow] = [0, 0];
  let pausedUntilMs: number | null = null;
  return {
    isOpen: () => {
      if (pausedUntilMs === null) return false;
      const leftMs = pausedUntilMs - now();
      // If more than the whole pause is left, the clock was set back.
      if (leftMs > 0 && leftMs <= pauseMs) return true;
      // One more fault opens it again.
      [pausedUntilMs, inARow] = [null, faultsMax - 1];
      onProblem("exchanges are recorded again");
      return false;
    },
    fault: (error) => {
      faults += 1;
      inARow += 1;
      if (inARow === 1) onProblem(`an exchange was not recorded: ${messageOf(error)}`);
      if (inARow < faultsMax || pausedUntilMs !== null) return;
      pausedUntilMs = now() + pauseMs;
      onProblem(
        `nothing is recorded for ${pauseMs / 1000} s after ${faultsMax} faults in a row; requests are forwarded as before`,
      );
    },
    success: () => {
      inARow = 0;
    },
    state: () => ({ faults, pausedUntilMs }),
  };
}

/** Runs work in order, after the traffic that is ready now has been passed on. */
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
