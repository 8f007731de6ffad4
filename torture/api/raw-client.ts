// A client that writes bytes as they are and judges the answer: its form, and whether it is one of the API's.
import { connect, type Socket } from "node:net";
import { gunzipSync } from "node:zlib";
import { isObject, parseFields } from "../../src/core/message/fields.ts";
import type { HostileRequest } from "./hostile-request.ts";

export interface RawAnswer {
  readonly status: number;
  /** What is wrong with it; null if nothing is. */
  readonly problem: string | null;
}

export interface RawClient {
  /** Null if the connection was closed without an answer, or nothing came for a while. */
  ask(request: HostileRequest): Promise<RawAnswer | null>;
  close(): void;
}

/** A server waits for the rest of half a request: longer than this nothing will come. */
const silenceMs = 300;

export function openClient(port: number): RawClient {
  let socket: Socket | null = null;
  const drop = (): void => {
    socket?.destroy();
    socket = null;
  };
  return {
    close: drop,
    ask: async (request) => {
      socket ??= connect(port, "127.0.0.1").on("error", () => {});
      const head = await exchange(socket, request);
      if (head === null || head.isLast) drop();
      return head === null ? null : { status: head.status, problem: judge(head, request) };
    },
  };
}

interface Received {
  readonly status: number;
  readonly type: string;
  readonly coding: string;
  readonly body: Buffer;
  /** Nothing else may be sent on this connection. */
  readonly isLast: boolean;
}

function exchange(
  socket: Socket,
  { bytes, method, mayBeBroken }: HostileRequest,
): Promise<Received | null> {
  const { promise, resolve } = Promise.withResolvers<Received | null>();
  let received = Buffer.alloc(0);
  const look = (isClosed: boolean): void => {
    const found = parseAnswer(received, method, isClosed);
    if (found !== null) finish({ ...found, isLast: found.isLast || isClosed || mayBeBroken });
    else if (isClosed) finish(null);
  };
  const onData = (data: Buffer): void => {
    received = Buffer.concat([received, data]);
    look(false);
  };
  const onClose = (): void => look(true);
  const timer = setTimeout(() => finish(null), mayBeBroken ? silenceMs : 20_000);
  const finish = (found: Received | null): void => {
    clearTimeout(timer);
    socket.off("data", onData).off("close", onClose);
    resolve(found);
  };
  socket.on("data", onData).on("close", onClose);
  if (socket.destroyed) finish(null);
  else socket.write(bytes);
  return promise;
}

/** Null if it is not whole yet. */
function parseAnswer(received: Buffer, method: string, isClosed: boolean): Received | null {
  const text = received.toString("latin1");
  const end = text.indexOf("\r\n\r\n");
  if (end === -1) return null;
  const head = text.slice(0, end);
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0);
  if (status === 100) return parseAnswer(received.subarray(end + 4), method, isClosed);
  const header = (name: string): string =>
    new RegExp(`^${name}: *(.*)$`, "im").exec(head)?.[1]?.trim() ?? "";
  const type = header("content-type");
  const about = {
    status,
    type,
    coding: header("content-encoding"),
    isLast: /close/i.test(header("connection")),
  };
  // A stream has no end.
  if (type === "text/event-stream") return { ...about, body: Buffer.alloc(0), isLast: true };
  const length = Number(header("content-length") || 0);
  const body = received.subarray(end + 4);
  const isWhole = method === "HEAD" || status === 204 || status === 304 || body.length >= length;
  return isWhole || isClosed ? { ...about, body: body.subarray(0, length) } : null;
}

function judge(
  { status, type, coding, body }: Received,
  { method, mayBeBroken }: HostileRequest,
): string | null {
  if (status === 0) return "no status";
  if (method === "HEAD" || status === 204 || status === 304 || type === "text/event-stream")
    return null;
  // What is no HTTP is refused by the server itself, before anyone knows whom it is for; so is a path of no one.
  if (body.length === 0 && ((mayBeBroken && (status === 400 || status === 431)) || status === 404))
    return null;
  const fields = parseFields((coding === "gzip" ? gunzipSync(body) : body).toString("utf8"));
  if (fields === undefined) return `${status} without JSON`;
  if (status === 200) return "data" in fields || "openapi" in fields ? null : "200 without data";
  const { error } = fields;
  const isError =
    isObject(error) &&
    [error["code"], error["message"], error["hint"]].every((each) => typeof each === "string");
  return isError ? null : `${status} without the envelope of errors`;
}
