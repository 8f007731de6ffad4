// What an application got from a provider in its own way → our reply, or why there is none. Read tolerantly, never thrown.
import { redact } from "../core/events/redact.ts";
import type { ProviderFailure } from "../core/wire/failure.ts";
import type { Protocol } from "../core/wire/protocol.ts";
import type { Reply, StreamPart } from "../core/wire/reply.ts";

export interface ReplyReading {
  readonly protocol: Protocol;
  /** For `retry-after` given as a date. */
  readonly nowMs: () => number;
  /** Told as a stream comes. */
  readonly onPart?: (part: StreamPart) => void;
}

/**
 * The body as text, which keeps every byte; an SDK's response object; the events of its stream, which are read to the
 * end; a `fetch` response with a whole body; or what was thrown instead.
 */
export async function readReply(
  reply: unknown,
  reading: ReplyReading,
): Promise<Reply | ProviderFailure> {
  const { protocol } = reading;
  if (typeof reply === "string") return protocol.decode(reply);
  if (reply instanceof Error) return readError(reply, reading);
  if (reply instanceof Response) return readResponse(reply, reading);
  if (typeof reply !== "object" || reply === null) {
    return { kind: "malformed", detail: `the reply is ${reply === null ? "null" : typeof reply}` };
  }
  if (isAsyncIterable(reply)) return readEvents(reply, reading);
  return protocol.decode(JSON.stringify(reply, withoutAdditions));
}

async function readResponse(
  response: Response,
  reading: ReplyReading,
): Promise<Reply | ProviderFailure> {
  try {
    const body = await response.text();
    if (response.ok) return reading.protocol.decode(body);
    const { status } = response;
    const headers = Object.fromEntries(response.headers);
    return reading.protocol.readFailure({ status, headers, body, nowMs: reading.nowMs() });
  } catch (error) {
    return readError(error, reading);
  }
}

/** Objects as an SDK gives them, one for each event. What came before a failure is kept. */
async function readEvents(
  events: AsyncIterable<unknown>,
  reading: ReplyReading,
): Promise<Reply | ProviderFailure> {
  const { stream } = reading.protocol;
  let state = stream.start;
  const step = (event: string | undefined, data: string): void => {
    const [next, parts] = stream.step(state, { event, data });
    state = next;
    parts.forEach((part) => reading.onPart?.(part));
  };
  let failure: ProviderFailure = { kind: "unreachable", detail: "it ended before the reply did" };
  let isCut = false;
  try {
    for await (const event of events) {
      const type = fieldOf(event, "type");
      step(typeof type === "string" ? type : undefined, JSON.stringify(event));
    }
  } catch (error) {
    failure = readError(error, reading);
    isCut = true;
  }
  const finished = stream.finish(state);
  if (finished.kind !== "reply") return isCut ? failure : finished;
  return finished.status === "complete"
    ? finished
    : { ...finished, failure: finished.failure ?? failure };
}

/** By status and body where the provider answered, else by the error's name. */
export function readError(
  error: unknown,
  { protocol, nowMs }: Pick<ReplyReading, "protocol" | "nowMs">,
): ProviderFailure {
  const status = fieldOf(error, "status") ?? fieldOf(error, "statusCode");
  const body = bodyOf(error);
  if (typeof status === "number" && status >= 400) {
    const headers = headersOf(fieldOf(error, "headers") ?? fieldOf(error, "responseHeaders"));
    const failure = protocol.readFailure({ status, headers, body: body ?? "", nowMs: nowMs() });
    return { ...failure, detail: redact(failure.detail) };
  }
  // Told inside a stream, where there is no status.
  const told = body === null ? null : protocol.decode(body);
  if (told !== null && told.kind !== "reply" && told.kind !== "malformed") {
    return { ...told, detail: redact(told.detail) };
  }
  const detail = redact(error instanceof Error ? error.message : String(error));
  const name = namesOf(error);
  if (/abort/i.test(name)) return { kind: "cancelled", detail };
  return { kind: /timeout/i.test(name) ? "timeout" : "unreachable", detail };
}

/** As text, or parsed; some SDKs keep only what stands under `error`. */
function bodyOf(error: unknown): string | null {
  const text = fieldOf(error, "responseBody");
  if (typeof text === "string") return text;
  const body = fieldOf(error, "error");
  if (typeof body !== "object" || body === null || body instanceof Error) return null;
  return JSON.stringify("error" in body ? body : { error: body });
}

function headersOf(value: unknown): Readonly<Record<string, string>> {
  if (value instanceof Headers) return Object.fromEntries(value);
  if (typeof value !== "object" || value === null) return {};
  const entries = Object.entries(value).flatMap(([name, each]: [string, unknown]) =>
    typeof each === "string" ? [[name.toLowerCase(), each]] : [],
  );
  return Object.fromEntries(entries);
}

/** Not every SDK names its errors; their classes tell. */
function namesOf(error: unknown): string {
  return error instanceof Error ? `${error.name} ${error.constructor.name}` : "";
}

function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null || !(name in value)) return undefined;
  const found: unknown = Reflect.get(value, name);
  return found ?? undefined;
}

function isAsyncIterable(value: object): value is AsyncIterable<unknown> {
  return Symbol.asyncIterator in value;
}

/** What SDKs add to items of a reply and providers refuse when it is sent back. */
function withoutAdditions(this: unknown, key: string, value: unknown): unknown {
  const type = key === "parsed" || key === "parsed_arguments" ? fieldOf(this, "type") : undefined;
  const isAdded =
    (key === "parsed" && type === "output_text") ||
    (key === "parsed_arguments" && type === "function_call");
  return isAdded ? undefined : value;
}
