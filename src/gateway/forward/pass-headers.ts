// Which headers pass: all of them, in their order and spelling, except those that speak about one connection only.
import type { IncomingHttpHeaders } from "node:http";

/** RFC 9110 §7.6.1, and what only the nearest server may read. */
const ofConnection: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "te",
  "transfer-encoding",
  "upgrade",
]);

/** `expect` was answered here; trailers of a request cannot be sent on. */
const ofRequestHop: ReadonlySet<string> = new Set([
  ...ofConnection,
  "host",
  "expect",
  "trailer",
  "proxy-authorization",
]);

/** The header with our own token, which no upstream may see. */
export const tokenHeader = "x-strata-token";

/** Names and values alternate, as in Node's raw headers. */
export type RawHeaders = readonly string[];

/** What is sent in place of some of a client's headers. */
export interface OwnHeaders {
  /** They replace headers of the same name. Names and values alternate. */
  readonly headers: RawHeaders;
  /** Names, in lower case, of others that do not pass. */
  readonly without?: ReadonlySet<string>;
}

export function passRequestHeaders(
  raw: RawHeaders,
  { headers: own, without = none }: OwnHeaders = { headers: [] },
): string[] {
  const left = new Set(namedByConnection(raw));
  for (let at = 0; at < own.length; at += 2) left.add(own[at]?.toLowerCase() ?? "");
  const passed: string[] = [];
  for (let at = 0; at < raw.length; at += 2) {
    const [name = "", value = ""] = [raw[at], raw[at + 1]];
    const lower = name.toLowerCase();
    if (ofRequestHop.has(lower) || lower === tokenHeader) continue;
    if (left.has(lower) || without.has(lower)) continue;
    passed.push(name, value);
  }
  passed.push(...own);
  return passed;
}

const none: ReadonlySet<string> = new Set();

export function passResponseHeaders(raw: RawHeaders): string[] {
  const left = namedByConnection(raw);
  const isChunked = indexOf(raw, "transfer-encoding") !== -1;
  const passed: string[] = [];
  for (let at = 0; at < raw.length; at += 2) {
    const [name = "", value = ""] = [raw[at], raw[at + 1]];
    const lower = name.toLowerCase();
    if (ofConnection.has(lower) || left.includes(lower)) continue;
    // Only a chunked body can have trailers, and Node refuses to announce others.
    if (lower === "trailer" && !isChunked) continue;
    passed.push(name, value);
  }
  return passed;
}

/** Bytes of a header from the client library → text that Node writes as the same bytes. */
export function toRawHeaders(bytes: unknown): RawHeaders {
  if (!Array.isArray(bytes)) return [];
  return bytes.map((each: unknown) =>
    Buffer.isBuffer(each) ? each.toString("latin1") : String(each),
  );
}

/** Lower-case names with joined values, for people who look at them. */
export function toHeaderRecord(raw: RawHeaders): Readonly<Record<string, string>> {
  const record = new Map<string, string>();
  for (let at = 0; at < raw.length; at += 2) {
    const [name = "", value = ""] = [raw[at]?.toLowerCase(), raw[at + 1]];
    const before = record.get(name);
    record.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return Object.fromEntries(record);
}

export function flatHeaders(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  // Node gives only set-cookie as a list, and no client sends that header.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- readers only look up names and compare texts
  return headers as Readonly<Record<string, string>>;
}

/** Repeated headers as one with a list of values: a proxy's client library would keep only the last. */
export function groupRepeated(raw: RawHeaders): (string | string[])[] {
  const groups = new Map<string, { readonly name: string; readonly values: string[] }>();
  for (let at = 0; at < raw.length; at += 2) {
    const [name = "", value = ""] = [raw[at], raw[at + 1]];
    const group = groups.get(name.toLowerCase());
    if (group === undefined) groups.set(name.toLowerCase(), { name, values: [value] });
    else group.values.push(value);
  }
  return [...groups.values()].flatMap(({ name, values }) => [
    name,
    values.length === 1 ? (values[0] ?? "") : values,
  ]);
}

function namedByConnection(raw: RawHeaders): readonly string[] {
  const named: string[] = [];
  for (let at = 0; at < raw.length; at += 2) {
    if (raw[at]?.toLowerCase() !== "connection") continue;
    for (const name of (raw[at + 1] ?? "").split(",")) named.push(name.trim().toLowerCase());
  }
  return named;
}

function indexOf(raw: RawHeaders, lower: string): number {
  return raw.findIndex((name, at) => at % 2 === 0 && name.toLowerCase() === lower);
}
