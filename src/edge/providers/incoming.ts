// Reads an answer's body within a size limit and an idle limit.
import { malformed, type ProviderFailure } from "../../core/wire/failure.ts";
import { toNetworkFailure } from "./network-failure.ts";
import { timedOut, type Timeouts } from "./timeouts.ts";
import type { Answer } from "./transport.ts";
import type { Watch } from "./watch.ts";

export interface Incoming {
  next(): Promise<Arrival>;
  /** Bytes so far. */
  byteCount(): number;
}

export type Arrival =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | { readonly kind: "end" }
  | { readonly kind: "broken"; readonly failure: ProviderFailure };

export interface IncomingOptions {
  readonly watch: Watch;
  readonly timeouts: Timeouts;
  readonly bodyBytesMax: number;
}

export function openIncoming(
  body: Answer["body"],
  { watch, timeouts, bodyBytesMax }: IncomingOptions,
): Incoming {
  const iterator = body[Symbol.asyncIterator]();
  const idle = timedOut("idleMs", timeouts);
  let byteCount = 0;
  let isTooLarge = false;

  const next = async (): Promise<Arrival> => {
    if (isTooLarge) {
      return broken(malformed(`the answer is larger than ${bodyBytesMax} bytes`));
    }
    watch.begin(timeouts.idleMs, idle);
    try {
      const { done, value } = await iterator.next();
      const stopped = watch.stopped();
      if (stopped !== null) return broken(stopped);
      if (done === true || !(value instanceof Uint8Array)) return { kind: "end" };
      const bytes = value.subarray(0, bodyBytesMax - byteCount);
      isTooLarge = bytes.byteLength < value.byteLength;
      byteCount += bytes.byteLength;
      return { kind: "bytes", bytes };
    } catch (error) {
      return broken(watch.stopped() ?? toNetworkFailure(error, timeouts));
    }
  };
  return { next, byteCount: () => byteCount };
}

function broken(failure: ProviderFailure): Arrival {
  return { kind: "broken", failure };
}

export interface Whole {
  readonly text: string;
  /** Why the text is not whole; null if it is. */
  readonly failure: ProviderFailure | null;
}

/** The body as one text. */
export async function readWhole(incoming: Incoming): Promise<Whole> {
  const decoder = new TextDecoder();
  const texts: string[] = [];
  for (;;) {
    const arrival = await incoming.next();
    if (arrival.kind === "bytes") {
      texts.push(decoder.decode(arrival.bytes, { stream: true }));
      continue;
    }
    texts.push(decoder.decode());
    const failure = arrival.kind === "end" ? null : toCut("reply", arrival.failure, incoming);
    return { text: texts.join(""), failure };
  }
}

/** Adds how many bytes arrived; other failures stay unchanged. */
export function toCut(
  what: "reply" | "stream",
  failure: ProviderFailure,
  incoming: Incoming,
): ProviderFailure {
  if (failure.kind !== "unreachable") return failure;
  const detail = `${what} cut after ${incoming.byteCount()} bytes: ${failure.detail}`;
  return { kind: "unreachable", detail };
}
