// Parses one line of a request log: protocol, body, time, session, status and usage.
import {
  countIn,
  fieldsIn,
  isObject,
  parseFields,
  textIn,
  type Fields,
} from "../../core/message/fields.ts";
import { toJsonTree } from "../../core/message/json-tree.ts";
import type { RequestAddress, SeenRequest } from "../../core/wire/foreign/foreign-reader.ts";
import { recogniseProtocol } from "../../core/wire/foreign/recognise-protocol.ts";
import type { Protocol } from "../../core/wire/protocol.ts";
import { timeMsOf } from "./line-reader.ts";

export interface RequestLine {
  readonly protocol: Protocol;
  readonly seen: SeenRequest;
  readonly model: string;
  readonly startMs: number | null;
  readonly endMs: number | null;
  /** HTTP status of the answer; null if not logged. */
  readonly status: number | null;
  /** The provider's usage object, or null. */
  readonly usage: Fields | null;
  /** The client's own session id. */
  readonly session: string | null;
}

/** Undefined for a line without a request. */
export function readRequestLine(
  line: Fields,
  protocols?: readonly Protocol[],
): RequestLine | undefined {
  const request = fieldsIn(line, "request");
  const address: RequestAddress = {
    path: textIn(request, "url") ?? textIn(line, "url") ?? textIn(line, "path") ?? null,
    headers: textsIn({ ...fieldsIn(line, "headers"), ...fieldsIn(request, "headers") }),
  };
  const places = [request["body"], line["body"], line["request"], line];
  const found = findRequest(places, address, protocols);
  if (found === undefined) return undefined;
  const response = fieldsIn(line, "response");
  const startMs = firstTime([line, request], startNames);
  return {
    ...found,
    startMs,
    endMs: firstTime([line, response], endNames) ?? endAfter(startMs, line),
    status: firstCount([response, line], ["status_code", "statusCode", "status"]),
    usage: usageIn(line, response, found.protocol),
    session: sessionIn(line, request, address.headers),
  };
}

/** The first that some protocol understands and that is for a model. */
function findRequest(
  places: readonly unknown[],
  address: RequestAddress,
  protocols: readonly Protocol[] | undefined,
): Pick<RequestLine, "protocol" | "seen" | "model"> | undefined {
  for (const place of places) {
    const value = toObject(place);
    if (!isObject(value)) continue;
    const seen = { ...address, body: toJsonTree(value) };
    const protocol = recogniseProtocol(seen, protocols);
    const model = protocol?.foreign.modelOf(seen) ?? "";
    if (protocol !== undefined && model !== "") return { protocol, seen, model };
  }
  return undefined;
}

/** Header names in lower case; values that are no text are left out. */
function textsIn(headers: Fields): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      typeof value === "string" ? [[name.toLowerCase(), value]] : [],
    ),
  );
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

/** Size distinguishes milliseconds from seconds since 1970; small values are seconds since the start. */
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

function usageIn(line: Fields, response: Fields, protocol: Protocol): Fields | null {
  const body = toObject(response["body"]);
  const answers = [line, response, isObject(body) ? body : {}];
  const found = answers.map((answer) => protocol.findUsage(answer)).find(isObject);
  if (found !== undefined) return found;
  const streamed = textIn(response, "body_raw") ?? textIn(response, "body");
  return streamed === undefined ? null : streamedUsage(streamed, protocol);
}

/** Usage from the events of a stream; later events override earlier ones. */
function streamedUsage(events: string, protocol: Protocol): Fields | null {
  const usage: Record<string, unknown> = {};
  for (const [, data = ""] of events.matchAll(/^data: ?(.*)$/gm)) {
    const found = protocol.findUsage(parseFields(data) ?? {});
    if (isObject(found)) Object.assign(usage, found);
  }
  return Object.keys(usage).length === 0 ? null : usage;
}

const sessionNames = ["session_id", "sessionId", "session", "conversation_id", "conversationId"];
const sessionHeaders = ["x-claude-code-session-id", "x-session-id", "session_id", "session-id"];

/** A sub-agent with the session's id also has an id of its own. */
function sessionIn(
  line: Fields,
  request: Fields,
  headers: RequestAddress["headers"],
): string | null {
  const named = sessionNames.map((name) => textIn(line, name) ?? textIn(request, name));
  const sent = sessionHeaders.map((name) => headers[name]);
  const session = [...named, ...sent].find((id) => id !== undefined);
  if (session === undefined) return null;
  const agent = headers["x-claude-code-agent-id"] ?? textIn(line, "agent_id");
  return agent === undefined ? session : `${session}/${agent}`;
}

/** Bodies are logged as objects or as text. */
function toObject(value: unknown): unknown {
  return typeof value === "string" && value.startsWith("{") ? parseFields(value) : value;
}
