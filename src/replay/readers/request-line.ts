// One line of a request log → the body it holds, when it was sent, for whom, and what came back.
import { isObject } from "../../core/message/fields.ts";
import { countIn, fieldsIn, parseFields, textIn, type Fields } from "../../core/message/fields.ts";
import { timeMsOf } from "./line-reader.ts";
import { isRequestBody } from "./request-body.ts";

export interface RequestLine {
  readonly body: Fields;
  readonly url: string | null;
  readonly startMs: number | null;
  readonly endMs: number | null;
  /** Of the answer; null where it was not logged. */
  readonly status: number | null;
  /** The provider's own usage object; null where there is none. */
  readonly usage: Fields | null;
  /** What the client itself says belongs together. */
  readonly session: string | null;
}

/** Undefined for a line without a request. */
export function readRequestLine(line: Fields): RequestLine | undefined {
  const request = fieldsIn(line, "request");
  const candidates = [line, line["request"], line["body"], request["body"]];
  const body = candidates.map(toObject).find(isRequestBody);
  if (body === undefined) return undefined;
  const response = fieldsIn(line, "response");
  const startMs = firstTime([line, request], startNames);
  return {
    body,
    url: textIn(request, "url") ?? textIn(line, "url") ?? textIn(line, "path") ?? null,
    startMs,
    endMs: firstTime([line, response], endNames) ?? endAfter(startMs, line),
    status: firstCount([response, line], ["status_code", "statusCode", "status"]),
    usage: usageIn(line, response),
    session: sessionIn(line, request),
  };
}

const startNames = ["time", "timestamp", "t", "startedAt", "started_at", "start", "ts"];
const endNames = ["endedAt", "ended_at", "finishedAt", "finished_at", "end"];

function firstTime(places: readonly Fields[], names: readonly string[]): number | null {
  for (const place of places) {
    for (const name of names) {
      const timeMs = toTimeMs(place[name]);
      if (timeMs !== null) return timeMs;
    }
  }
  return null;
}

/** Seconds and milliseconds since 1970 are told apart by their size; less is seconds since the start. */
function toTimeMs(value: unknown): number | null {
  if (typeof value !== "number") return timeMsOf(value);
  if (!Number.isFinite(value) || value < 0) return null;
  return Math.round(value >= 100_000_000_000 ? value : value * 1000);
}

function endAfter(startMs: number | null, line: Fields): number | null {
  const names = ["durationMs", "duration_ms", "latencyMs", "latency_ms"];
  const tookMs = firstCount([line], names);
  if (startMs !== null && tookMs !== null) return startMs + tookMs;
  return toTimeMs(fieldsIn(line, "response")["timestamp"]);
}

function firstCount(places: readonly Fields[], names: readonly string[]): number | null {
  for (const place of places) {
    for (const name of names) {
      const count = countIn(place, name);
      if (count !== undefined) return count;
    }
  }
  return null;
}

function usageIn(line: Fields, response: Fields): Fields | null {
  const body = toObject(response["body"]);
  const places = [line["usage"], response["usage"], isObject(body) ? body["usage"] : undefined];
  const found = places.find(isObject);
  if (found !== undefined) return found;
  const streamed = textIn(response, "body_raw") ?? textIn(response, "body");
  return streamed === undefined ? null : streamedUsage(streamed);
}

/** Usage as the events of a stream bring it; what a later one says holds. */
function streamedUsage(events: string): Fields | null {
  const usage: Record<string, unknown> = {};
  for (const [, data = ""] of events.matchAll(/^data: ?(.*)$/gm)) {
    const event = data.includes('"usage"') ? parseFields(data) : undefined;
    if (event === undefined) continue;
    const places = [event, fieldsIn(event, "message"), fieldsIn(event, "response")];
    for (const { usage: part } of places) if (isObject(part)) Object.assign(usage, part);
  }
  return Object.keys(usage).length === 0 ? null : usage;
}

const sessionNames = ["session_id", "sessionId", "session", "conversation_id", "conversationId"];
const sessionHeaders = ["x-claude-code-session-id", "x-session-id", "session_id", "session-id"];

/** A sub-agent that shares the session's id has one of its own beside it. */
function sessionIn(line: Fields, request: Fields): string | null {
  const headers = { ...fieldsIn(line, "headers"), ...fieldsIn(request, "headers") };
  const named = sessionNames.map((name) => textIn(line, name) ?? textIn(request, name));
  const sent = sessionHeaders.map((name) => textIn(headers, name));
  const session = [...named, ...sent].find((id) => id !== undefined);
  if (session === undefined) return null;
  const agent = textIn(headers, "x-claude-code-agent-id") ?? textIn(line, "agent_id");
  return agent === undefined ? session : `${session}/${agent}`;
}

/** Bodies are logged as objects, or as the text that was sent. */
function toObject(value: unknown): unknown {
  return typeof value === "string" && value.startsWith("{") ? parseFields(value) : value;
}
