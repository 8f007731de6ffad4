// A request to the API, from its headers to its answer.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Access } from "../access/access.ts";
import type { Door } from "../access/door.ts";
import type { ReaderThread } from "../reader/reader-thread.ts";
import { streamHeaders, type EventStreams } from "../stream/event-streams.ts";
import { findPlaces, readQuery } from "../routes/find-route.ts";
import type { Asked, Desk, Route } from "../routes/route.ts";
import { refuseWith } from "./api-error.ts";
import { readBody } from "./read-body.ts";
import { answerTo, errorAnswer, jsonAnswer, writeAnswer, type Answer } from "./write-answer.ts";

export interface AnswerParts {
  readonly table: readonly Route[];
  readonly door: Door;
  readonly reader: Pick<ReaderThread, "ask">;
  readonly desk: Desk;
  readonly streams: EventStreams;
  readonly metrics: ServedMetrics | null;
  /** For people: a mistake of our own. */
  readonly onFault: (fault: string) => void;
}

/** Prometheus metrics, for `/metrics`. */
export interface ServedMetrics {
  readonly contentType: string;
  render(): Promise<string>;
}

export type AnswerRequest = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

export function answerRequests(parts: AnswerParts): AnswerRequest {
  return (incoming, outgoing) => {
    // Only a request without a body can be followed by another one, whether its route reads bodies or not.
    const { headers, method } = incoming;
    const hasBody = Number(headers["content-length"] ?? 0) > 0 || "transfer-encoding" in headers;
    if (hasBody && method !== "POST") outgoing.shouldKeepAlive = false;
    if (headers.expect !== undefined) outgoing.writeContinue();
    answer(incoming, outgoing, parts)
      .catch((error: unknown) => answerTo(error, parts.onFault))
      .then((given) => {
        if (given === null) return;
        if (!incoming.complete) outgoing.shouldKeepAlive = false;
        writeAnswer(outgoing, given);
        incoming.resume();
      })
      .catch((error: unknown) => parts.onFault(String(error)));
  };
}

/** Null for a stream, which goes on. */
async function answer(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  parts: AnswerParts,
): Promise<Answer | null> {
  const { method = "GET", headers, url = "" } = incoming;
  const { table, door } = parts;
  const nowMs = Date.now();
  const [path, search] = splitOnce(url);
  if (path === "/metrics") return answerMetrics(incoming, parts, nowMs);
  const places = findPlaces(path, table);
  const methods = methodsOf(places.routes);
  if (method === "OPTIONS") return allowed(methods);
  const wanted = method === "HEAD" ? "GET" : method;
  const route = places.routes.find((each) => each.method === wanted);
  if (route === undefined) return otherMethod(method, methods);
  const access = admit(route, incoming, door, nowMs);
  const asked = { path: places.path, query: readQuery(new URLSearchParams(search), route), access };
  if (route.isStream === true) {
    if (method === "HEAD") return { status: 200, headers: streamHeaders, body: new Uint8Array() };
    await parts.streams.open(asked, incoming, outgoing);
    return null;
  }
  if (route.act !== undefined) {
    const body = route.method === "POST" ? await readBody(incoming) : {};
    const acted = await route.act({ ...asked, body, headers, nowMs }, parts.desk);
    return jsonAnswer(acted.body, acted.headers);
  }
  return askReader(route.name, asked, incoming, { ...parts, nowMs });
}

/** Not below the base: this is where scrapers look. */
async function answerMetrics(
  { method = "GET", headers }: IncomingMessage,
  { metrics, door }: AnswerParts,
  nowMs: number,
): Promise<Answer> {
  const methods = ["GET", "HEAD", "OPTIONS"];
  if (method === "OPTIONS") return allowed(methods);
  if (!methods.includes(method)) return otherMethod(method, methods);
  if (door.admit(headers, nowMs).kind !== "owner") throw notYours("metrics");
  if (metrics === null) {
    throw refuseWith(
      "route_not_found",
      "nothing is measured here: no gateway runs in this process",
      "ask the gateway, or have the host of your sessions serve its own: docs/metrics.md",
    );
  }
  return {
    status: 200,
    headers: { "content-type": metrics.contentType, "cache-control": "no-store" },
    body: Buffer.from(await metrics.render()),
  };
}

function allowed(methods: readonly string[]): Answer {
  return { status: 204, headers: { allow: methods.join(", ") }, body: new Uint8Array() };
}

function notYours(name: string): Error {
  return refuseWith("not_yours", `${name} is for the owner of the gateway`, "ask with its token");
}

async function askReader(
  route: string,
  asked: Asked,
  { headers }: IncomingMessage,
  { reader, nowMs, onFault }: AnswerParts & { readonly nowMs: number },
): Promise<Answer> {
  const { fault, ...given } = await reader.ask({
    route,
    asked,
    nowMs,
    takesGzip: /\bgzip\b/i.test(headers["accept-encoding"] ?? ""),
    knownTag: headers["if-none-match"] ?? null,
  });
  if (fault !== null) onFault(`${route}: ${fault}`);
  return given;
}

function admit(
  { name, isForKeys }: Route,
  { headers }: IncomingMessage,
  door: Door,
  nowMs: number,
): Access {
  // Who logs in has nothing else yet.
  if (name === "login") {
    door.checkPlace(headers);
    return { kind: "owner" };
  }
  const access = door.admit(headers, nowMs);
  if (access.kind === "owner" || isForKeys === true) return access;
  throw notYours(name);
}

function otherMethod(method: string, methods: readonly string[]): Answer {
  const allow = methods.join(", ");
  return errorAnswer(
    {
      code: "method_not_allowed",
      message: `there is no ${method.slice(0, 20)} here`,
      hint: `use one of ${allow}`,
    },
    { allow },
  );
}

function methodsOf(routes: readonly Route[]): readonly string[] {
  const own = routes.map(({ method }) => method);
  return [...own, ...(own.includes("GET") ? ["HEAD"] : []), "OPTIONS"];
}

function splitOnce(url: string): readonly [string, string] {
  const at = url.indexOf("?");
  return at === -1 ? [url, ""] : [url.slice(0, at), url.slice(at + 1)];
}
