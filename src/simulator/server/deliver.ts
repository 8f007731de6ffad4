// Sends a surface's answer: event by event as the client reads, delayed or broken if a fault says so.
import { setImmediate } from "node:timers/promises";
import type { CallOutcome } from "../call-ledger.ts";
import type { Clock } from "../clock.ts";
import type { StreamFault } from "../faults.ts";
import type { SimResponse } from "../surface.ts";

export interface Latency {
  readonly firstByteMs: number;
  readonly perEventMs: number;
}

export interface Delivery {
  readonly fault: StreamFault | null;
  /** The provider's event for a failure within a stream, if it has one. */
  readonly errorEvent?: string | Uint8Array | null;
  readonly clock: Clock;
  readonly latency: Latency;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
  /** Called once, after the last byte. */
  readonly onEnd: (outcome: CallOutcome, problem?: unknown) => void;
}

type Piece = string | Uint8Array;

const encoder = new TextEncoder();

export async function deliver(response: SimResponse, delivery: Delivery): Promise<Response> {
  const { clock, latency, signal } = delivery;
  const fault = fittingFault(response, delivery);
  const { bill, status, headers, firstByteMs = 0 } = response;
  // Requests sent together are all billed before the first one is answered.
  await setImmediate();
  const slowMs = fault?.kind === "slow first byte" ? fault.delayMs : 0;
  const waitMs = latency.firstByteMs + firstByteMs + slowMs;
  if (waitMs > 0) await clock.wait(waitMs, signal);
  const body = toBody(response.body, fault);
  const breaksAtOnce = fault?.kind === "cut" && fault.afterEvents === 0;
  if (signal.aborted || breaksAtOnce) bill?.abandon();
  else bill?.begin();
  if (signal.aborted) {
    delivery.onEnd("left");
    return new Response(null, { status: 499 });
  }
  const end = (outcome: CallOutcome, problem?: unknown): void => {
    if (!breaksAtOnce) bill?.end(clock.now());
    delivery.onEnd(outcome, problem);
  };
  if (typeof body !== "string") {
    const striking = typeof response.body === "string" ? inTheMiddle(fault) : fault;
    const stream = toStream(body, { ...delivery, fault: striking, onEnd: end });
    return new Response(stream, { status, headers });
  }
  const bytes = encoder.encode(body);
  end(status < 400 ? "answered" : "refused");
  return new Response(bytes, {
    status,
    headers: { ...headers, "content-length": String(bytes.byteLength) },
  });
}

/** An answer without events cannot have one for a failure, so it is cut. */
function fittingFault({ body }: SimResponse, { fault, errorEvent }: Delivery): StreamFault | null {
  if (fault?.kind !== "error event") return fault;
  const hasEvent = typeof body !== "string" && errorEvent !== undefined && errorEvent !== null;
  return hasEvent ? fault : { kind: "cut", afterEvents: fault.afterEvents };
}

/** Splits a plain body in two if a fault has to break it. */
function toBody(body: SimResponse["body"], fault: StreamFault | null): SimResponse["body"] {
  if (typeof body !== "string" || fault === null || fault.kind === "slow first byte") return body;
  if (fault.kind === "corrupt") return corruptText(body);
  const half = body.slice(0, Math.ceil(body.length / 2));
  return fault.kind === "malformed" ? half : [half, body.slice(half.length)];
}

/** A plain body has two pieces, so the fault must strike after the first at the latest. */
function inTheMiddle(fault: StreamFault | null): StreamFault | null {
  return fault !== null && isBreaking(fault)
    ? { ...fault, afterEvents: Math.min(fault.afterEvents, 1) }
    : fault;
}

function toStream(events: Iterable<Piece>, delivery: Delivery): ReadableStream<Uint8Array> {
  const { fault, clock, latency, signal, onEnd } = delivery;
  const iterator = events[Symbol.iterator]();
  let sent = 0;
  let isOver = false;
  const finish = (outcome: CallOutcome, problem?: unknown): void => {
    if (isOver) return;
    isOver = true;
    signal.removeEventListener("abort", onAbort);
    if (outcome !== "answered") iterator.return?.();
    onEnd(outcome, problem);
  };
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const onAbort = (): void => {
    if (isOver) return;
    finish("left");
    controller?.error(signal.reason);
  };

  const step = async (): Promise<void> => {
    const next = iterator.next();
    const isLater = sent > 0 && next.done !== true;
    if (isLater && latency.perEventMs > 0) await clock.wait(latency.perEventMs, signal);
    if (isOver || controller === undefined) return;
    const isDue = fault !== null && isBreaking(fault) && (sent >= fault.afterEvents || next.done);
    if (isDue && fault.kind === "stall") return aborted(signal);
    if (isDue && fault.kind === "cut") {
      finish("cut");
      return controller.error(new Error("the simulator cut this stream, as it was asked to"));
    }
    const last = isDue ? lastPiece(fault, next, delivery.errorEvent ?? null) : null;
    if (last !== null) controller.enqueue(toBytes(last));
    if (isDue || next.done === true) {
      finish(isDue ? "cut" : "answered");
      return controller.close();
    }
    sent += 1;
    controller.enqueue(toBytes(next.value));
  };

  return new ReadableStream(
    {
      start: (own) => {
        controller = own;
        signal.addEventListener("abort", onAbort);
      },
      pull: async () => {
        try {
          await step();
        } catch (error) {
          finish("cut", error);
          throw error;
        }
      },
      cancel: () => finish("left"),
    },
    { highWaterMark: 0 },
  );
}

type BreakingFault = Exclude<StreamFault, { readonly kind: "slow first byte" }>;

function isBreaking(fault: StreamFault): fault is BreakingFault {
  return fault.kind !== "slow first byte";
}

function toBytes(piece: Piece): Uint8Array {
  return typeof piece === "string" ? encoder.encode(piece) : piece;
}

/** What is sent in place of the rest; null for nothing. */
function lastPiece(
  fault: BreakingFault,
  next: IteratorResult<Piece, unknown>,
  errorEvent: Piece | null,
): Piece | null {
  if (fault.kind === "error event") return errorEvent;
  if (next.done === true) return null;
  return fault.kind === "corrupt" ? corruptEvent(next.value) : brokenEvent(next.value);
}

/** Its last byte that carries something: a checksum's, or a closing brace. */
function corruptEvent(event: Piece): Piece {
  if (typeof event === "string") return `${corruptText(event)}\n\n`;
  const bytes = Uint8Array.from(event);
  const last = bytes.length - 1;
  bytes[last] = (bytes[last] ?? 0) ^ 1;
  return bytes;
}

function corruptText(text: string): string {
  return `${text.trimEnd().slice(0, -1)}\u0007`;
}

/** An event whose JSON stops half-way, with the usual end of an event. A binary one stops half-way, too. */
function brokenEvent(event: Piece): Piece {
  if (typeof event !== "string") return event.subarray(0, Math.ceil(event.length / 2));
  const data = event.indexOf("data:");
  const start = data === -1 ? 0 : data;
  return `${event.slice(0, start + Math.ceil((event.trimEnd().length - start) / 2))}\n\n`;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
