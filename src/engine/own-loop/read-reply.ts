// A provider's answer as the application got it → our reply, or why there is none. Reads tolerantly, never throws.
import { redact } from "../../core/events/redact.ts";
import {
  cancelledByCaller,
  endedEarly,
  malformed,
  type ProviderFailure,
} from "../../core/wire/failure.ts";
import { eventsMax, tooManyEvents } from "../../core/wire/limit-events.ts";
import type { Protocol } from "../../core/wire/protocol.ts";
import type { Reply, StreamPart } from "../../core/wire/reply.ts";
import { redactFailure, redactOutcome } from "../../edge/providers/redact.ts";
import { bodyOf, fieldOf, headersOf, messageOf, namesOf, toJson } from "./sdk-fields.ts";
import { untilAborted } from "../turn/until-aborted.ts";

export interface ReplyReading {
  readonly protocol: Protocol;
  /** For `retry-after` given as a date. */
  readonly nowMs: () => number;
  /** Called with each part of a stream; must not throw. */
  readonly onPart?: (part: StreamPart) => void;
  /** Ends the reading; later parts are ignored. */
  readonly until?: AbortSignal;
}

type Outcome = Reply | ProviderFailure;

/**
 * The body as text, which keeps every byte; an SDK's response object; the events of its stream, which are read to the
 * end; a `fetch` response with a whole body; or the error that was thrown. Awaits a promise of any of these.
 */
export async function readReply(reply: unknown, reading: ReplyReading): Promise<Outcome> {
  try {
    return redactOutcome(await readAny(reply, reading), redact);
  } catch (error) {
    return readError(error, reading);
  }
}

async function readAny(given: unknown, reading: ReplyReading): Promise<Outcome> {
  const { protocol, until } = reading;
  const reply = await untilAborted(Promise.resolve(given), until, () => cancelledByCaller);
  if (reply === cancelledByCaller) return cancelledByCaller;
  if (typeof reply === "string") return decode(reply, protocol);
  if (reply instanceof Error) return readError(reply, reading);
  if (typeof reply !== "object" || reply === null) {
    return malformed(`the reply is ${reply === null ? "null" : typeof reply}`);
  }
  if (isResponse(reply)) return readResponse(reply, reading);
  if (isAsyncIterable(reply)) return readEvents(reply, reading);
  const json = toJson(reply, withoutAdditions);
  return json === null ? malformed("the reply cannot be written as JSON") : decode(json, protocol);
}

function decode(text: string, protocol: Protocol): Outcome {
  return protocol.decode(text.startsWith(byteOrderMark) ? text.slice(1) : text);
}

const byteOrderMark = "\uFEFF";

/** A response of the platform's `fetch` or of another one. */
interface ResponseLike {
  readonly status: number;
  readonly headers: unknown;
  text(): Promise<string>;
}

function isResponse(value: object): value is ResponseLike {
  return (
    typeof fieldOf(value, "status") === "number" && typeof fieldOf(value, "text") === "function"
  );
}

async function readResponse(response: ResponseLike, reading: ReplyReading): Promise<Outcome> {
  const { protocol, nowMs, until } = reading;
  const body = await untilAborted<string | null>(response.text(), until, () => null);
  if (body === null) return cancelledByCaller;
  const { status } = response;
  if (status >= 200 && status < 300) return decode(body, protocol);
  const headers = headersOf(response.headers);
  return protocol.readFailure({ status, headers, body, nowMs: nowMs() });
}

/** Reads an SDK's event objects. Keeps the parts before a failure. */
async function readEvents(events: AsyncIterable<unknown>, reading: ReplyReading): Promise<Outcome> {
  const { stream } = reading.protocol;
  let state = stream.start;
  let count = 0;
  const step = (event: unknown): ProviderFailure | null => {
    const type = fieldOf(event, "type");
    const data = toJson(event);
    count += 1;
    if (count > eventsMax) return tooManyEvents;
    if (data === null) return malformed("an event cannot be written as JSON");
    const [next, parts] = stream.step(state, {
      event: typeof type === "string" ? type : undefined,
      data,
    });
    state = next;
    parts.forEach((part) => reading.onPart?.(part));
    return null;
  };
  const cut = await stepThrough(events, step, reading);
  const finished = stream.finish(state);
  if (finished.kind !== "reply") return cut ?? finished;
  if (finished.status === "complete") return finished;
  return { ...finished, failure: finished.failure ?? cut ?? endedEarly };
}

/** Why the events cancelledByCaller early; null if they are complete. `step` gives the reason to stop. */
async function stepThrough(
  events: AsyncIterable<unknown>,
  step: (event: unknown) => ProviderFailure | null,
  reading: ReplyReading,
): Promise<ProviderFailure | null> {
  try {
    const iterator = events[Symbol.asyncIterator]();
    for (;;) {
      const next = await untilAborted<IteratorResult<unknown> | null>(
        iterator.next(),
        reading.until,
        () => null,
      );
      if (next?.done === true) return null;
      const failure = next === null ? cancelledByCaller : step(next.value);
      if (failure === null) continue;
      // It may hang or fail, so it is not awaited.
      void Promise.resolve(iterator.return?.()).catch(() => {});
      return failure;
    }
  } catch (error) {
    return readError(error, reading);
  }
}

/** Reads status and body if the provider answered, else the error's name. */
export function readError(
  error: unknown,
  { protocol, nowMs }: Pick<ReplyReading, "protocol" | "nowMs">,
): ProviderFailure {
  const status = fieldOf(error, "status") ?? fieldOf(error, "statusCode");
  const body = bodyOf(error);
  if (typeof status === "number" && status >= 400) {
    const headers = headersOf(fieldOf(error, "headers") ?? fieldOf(error, "responseHeaders"));
    const refused = { status, headers, body: body ?? "", nowMs: nowMs() };
    return redactFailure(protocol.readFailure(refused), redact);
  }
  // An error inside a stream has no status.
  const decoded = body === null ? null : protocol.decode(body);
  if (decoded !== null && decoded.kind !== "reply" && decoded.kind !== "malformed")
    return redactFailure(decoded, redact);
  const detail = redact(messageOf(error));
  const name = namesOf(error);
  if (/abort/i.test(name)) return { kind: "cancelled", detail };
  return { kind: /timeout/i.test(name) ? "timeout" : "unreachable", detail };
}

function isAsyncIterable(value: object): value is AsyncIterable<unknown> {
  return Symbol.asyncIterator in value;
}

/** Drops fields that SDKs add to a reply and that providers refuse in a request. */
function withoutAdditions(this: unknown, key: string, value: unknown): unknown {
  const type = key === "parsed" || key === "parsed_arguments" ? fieldOf(this, "type") : undefined;
  const isAdded =
    (key === "parsed" && type === "output_text") ||
    (key === "parsed_arguments" && type === "function_call");
  return isAdded ? undefined : value;
}
