// Requests to the API as strangers may send them: right ones with odd parts, and bytes that only look like requests.
import type { Random } from "../../harness/random-message.ts";
import { parameters } from "../../src/api/routes/parameters.ts";
import { apiBase, routes } from "../../src/api/routes/routes.ts";

export interface HostileRequest {
  readonly bytes: Buffer;
  readonly method: string;
  /** It may be no HTTP at all, and then gets a bare 400 of the server. */
  readonly mayBeBroken: boolean;
}

const methods = [
  "GET",
  "GET",
  "GET",
  "GET",
  "GET",
  "GET",
  "GET",
  "HEAD",
  "POST",
  "OPTIONS",
  "DELETE",
  "PUT",
  "PATCH",
];

const oddValues: readonly string[] = [
  "",
  "0",
  "-1",
  "1",
  "1000",
  "1001",
  "1e309",
  "NaN",
  "0x10",
  "9".repeat(400),
  "999999w",
  "1m",
  "2026-11-16",
  "2026-11-17",
  "2026-02-30",
  "0000-01-01",
  "9999-12-31",
  "+275760-09-13",
  "1969-12-31T23:59Z",
  "2026-11-16T09:00+99:99",
  "none",
  "session",
  "day",
  "hour",
  "cost_usd:asc",
  "group:desc",
  "constructor",
  "__proto__",
  "toString",
  "hasOwnProperty",
  "claude-opus-4-6",
  "turn-1",
  "build",
  "gateway",
  "' OR 1=1; DROP TABLE calls; --",
  "%' ESCAPE '\\",
  "~~%%__",
  "a b c d e f g h i j",
  "<script>alert(1)</script>",
  "\u0000",
  "\ud800",
  "\u202etxt",
  "😀".repeat(50),
  "../../../../etc/passwd",
  "gateway.call,cache.miss",
  "gateway.call,,moon",
  "MTc5NTA1OTU5Mzk2NQphYmM",
  "Mzk5OTk5OTk5OTk5OTk5OTk5OQph",
];

export function hostileRequest(random: Random): HostileRequest {
  const kind = random();
  if (kind < 0.06) return garbage(random);
  const method = pick(methods, random);
  const path = kind < 0.75 ? routePath(random) : oddPath(random);
  const body = method === "GET" || method === "HEAD" ? "" : oddBody(random);
  const { lines, isBroken } = oddHeaders(body, random);
  const head = [`${method} ${path} HTTP/1.1`, ...lines, "", ""].join("\r\n");
  return {
    bytes: Buffer.from(head + body, "latin1"),
    method,
    mayBeBroken: isBroken || /[^\x21-\x7e]/.test(path),
  };
}

/** A route of the table with odd values for its parts and parameters. */
function routePath(random: Random): string {
  const route = pick(
    routes.filter(({ isStream }) => isStream !== true || random() < 0.2),
    random,
  );
  const path = route.path.replaceAll(
    /\{\w+\}/g,
    () => encoded(pick(oddValues, random), random) || "x",
  );
  const known = Object.keys(parameters);
  const names = Array.from({ length: Math.floor(random() * random() * 5) }, () =>
    random() < 0.8
      ? pick(route.query.length > 0 ? route.query : known, random)
      : pick(known, random),
  );
  const search = names.map(
    (name) =>
      `${name}=${encoded(valueFor(name, route.values?.[name as never] ?? [], random), random)}`,
  );
  return `${apiBase}${path}${search.length === 0 ? "" : `?${search.join("&")}`}`;
}

function valueFor(_name: string, listed: readonly string[], random: Random): string {
  return listed.length > 0 && random() < 0.5 ? pick(listed, random) : pick(oddValues, random);
}

/** Mostly as it must be, at times half, twice or not at all. */
function encoded(value: string, random: Random): string {
  const how = random();
  const whole = encodeURIComponent(value.toWellFormed());
  if (how < 0.85) return whole;
  if (how < 0.9) return whole.slice(0, Math.floor(random() * whole.length));
  if (how < 0.95) return encodeURIComponent(whole);
  return "%zz%ff%00";
}

function oddPath(random: Random): string {
  return pick(
    [
      apiBase,
      `${apiBase}/`,
      `${apiBase}//analytics//cost`,
      `${apiBase}/analytics/cost/../../../etc`,
      `${apiBase}/analytics/cost%2f`,
      `${apiBase}/analytics/${"x".repeat(3000)}`,
      `${apiBase}?${"a=1&".repeat(500)}`,
      `${apiBase}/sessions/${"%2e".repeat(200)}/calls`,
      `${apiBase}/openapi.json#fragment`,
      `${apiBase}/analytics/constructor`,
      `${apiBase}/__proto__`,
      "/strata/v1x",
      `${apiBase}/analytics/cost?=&&&=`,
      `${apiBase}/analytics/cost?from`,
      `${apiBase}/a\u0001b`,
    ],
    random,
  );
}

function oddBody(random: Random): string {
  return pick(
    [
      "",
      "{}",
      "[]",
      "null",
      "5",
      '{"code":1}',
      '{"code":"x"}',
      "{",
      "\u0000",
      `{"code":"${"y".repeat(200)}"}`,
      "z".repeat(70_000),
      "[".repeat(5000),
    ],
    random,
  );
}

function oddHeaders(
  body: string,
  random: Random,
): { readonly lines: readonly string[]; readonly isBroken: boolean } {
  const more = [
    'If-None-Match: W/"x"',
    "If-None-Match: *",
    "Accept-Encoding: gzip;q=0, br",
    "Accept-Encoding: gzip",
    "Range: bytes=0-10",
    "Cookie: strata_login=; a=b; =; strata_login",
    "Authorization: Bearer",
    "Authorization: Basic eA==",
    "X-Strata-Token: \u00e4",
    "Last-Event-ID: -1",
    "Last-Event-ID: 99999999999999999999",
    "Origin: null",
    "Origin: http://evil.example",
    "Sec-Fetch-Site: cross-site",
    `X-Long: ${"h".repeat(4000)}`,
    "Content-Type: text/plain; charset=nonsense",
  ].filter(() => random() < 0.03);
  const host = random() < 0.97 ? "Host: localhost" : "Host: evil.example";
  const chunks = random() < 0.02;
  const length =
    random() < 0.98
      ? [`Content-Length: ${Buffer.byteLength(body, "latin1")}`]
      : ["Content-Length: 3x"];
  const lines = [
    host,
    ...(body === "" && !chunks ? [] : chunks ? ["Transfer-Encoding: chunked"] : length),
    ...more,
  ];
  return { lines, isBroken: chunks || length[0] === "Content-Length: 3x" };
}

/** Bytes by chance, and beginnings of requests. */
function garbage(random: Random): HostileRequest {
  const whole = `GET ${apiBase}/analytics/cost HTTP/1.1\r\nHost: localhost\r\n\r\n`;
  const bytes =
    random() < 0.5
      ? Buffer.from(
          Array.from({ length: 1 + Math.floor(random() * 200) }, () => Math.floor(random() * 256)),
        )
      : mutated(Buffer.from(whole), random);
  return { bytes: Buffer.concat([bytes, Buffer.from("\r\n\r\n")]), method: "?", mayBeBroken: true };
}

function mutated(bytes: Buffer, random: Random): Buffer {
  const changed = Buffer.from(bytes);
  for (let times = 0; times < 3; times += 1)
    changed[Math.floor(random() * changed.length)] = Math.floor(random() * 256);
  return changed;
}

function pick<T>(from: readonly T[], random: Random): T {
  const found = from[Math.floor(random() * from.length)];
  if (found === undefined) throw new Error("nothing to pick from");
  return found;
}
