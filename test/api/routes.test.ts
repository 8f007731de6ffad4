// Goal: the HTTP API answers as its table says. Method: every example and every odd request, against a ledger with something of everything.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Validator } from "@seriousme/openapi-schema-validator";
import { afterAll, beforeAll, expect, test } from "vitest";
import { routes } from "../../src/api/routes/routes.ts";
import { fieldsOf } from "../../src/core/message/fields.ts";
import { makeExample } from "../../src/cli/test-kit.ts";
import { inLedger } from "../gateway-record/kit.ts";
import { gatewayCall } from "../ledger/gateway-kit.ts";
import { newFolder, openTestApi, type TestApi } from "./kit.ts";

let api: TestApi;
const closers: (() => Promise<void> | void)[] = [];

beforeAll(async () => {
  const store = join(newFolder(atEnd), "ledger.db");
  await makeExample(store);
  await inLedger(store, async (ledger) => {
    await ledger.recordCalls([gatewayCall("talk", 1)]);
  });
  api = await openTestApi(store, {}, atEnd);
});
afterAll(async () => {
  for (const close of closers.toReversed()) await close();
});

function atEnd(close: () => Promise<void> | void): void {
  closers.push(close);
}

const november = "from=2026-11-01&to=2026-11-18";

test("the document is valid OpenAPI 3.1, and names every route", async () => {
  const document = JSON.parse(readFileSync("docs/openapi.json", "utf8")) as {
    readonly paths: Readonly<Record<string, object>>;
  };
  expect(await new Validator().validate(document)).toMatchObject({ valid: true });
  const named = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(named).toHaveLength(routes.length);
});

test("every example of a question is answered in the promised form", async () => {
  for (const { method, example, name, isStream } of routes) {
    if (method !== "GET" || isStream === true) continue;
    const { status, body } = await api.get(example);
    expect([name, status, body]).toMatchObject([name, 200, expect.anything()]);
  }
});

test("an analysis over HTTP is the one of the ledger, with its rows in the promised form for each of its groups", async () => {
  for (const { name, path, values } of routes) {
    for (const group of values?.group_by ?? []) {
      const { status } = await api.get(`${path}?${november}&group_by=${group}`);
      expect(`${name} by ${group}: ${status}`).toBe(`${name} by ${group}: 200`);
    }
  }
  expect((await api.get(`/analytics/cost?${november}&group_by=session`)).body).toMatchObject({
    window: { start: "2026-11-01T00:00:00.000Z", end: "2026-11-18T00:00:00.000Z" },
    data: [{ session: "build", call_count: 7, cost_usd: "0.100000" }, {}],
    left_out_count: 0,
  });
  const { body } = await api.get(`/analytics/turns?turn=turn-1`);
  expect(body).toMatchObject({ data: [{ turn: "turn-1", calls: [{ number: 1 }, { number: 2 }] }] });
});

test.each([
  ["/analytics/cost?from=yesterday", 400, "invalid_time_window"],
  ["/analytics/cost?from=2026-11-02&to=2026-11-01", 400, "invalid_time_window"],
  ["/analytics/cost?group_by=moon", 400, "invalid_group_by"],
  ["/analytics/cost?order=colour", 400, "invalid_order"],
  ["/analytics/cost?limit=0", 400, "invalid_limit"],
  ["/analytics/cost?group_by=day&points=2001", 400, "invalid_limit"],
  ["/analytics/cost?points=5", 400, "invalid_limit"],
  ["/analytics/sessions?points=5", 400, "invalid_limit"],
  ["/analytics/savings?baseline=claude-sonet-5-5", 400, "unknown_baseline_model"],
  ["/analytics/turns?turn=nowhere", 404, "turn_not_found"],
  ["/analytics/cost?baseline=claude-sonnet-5-5", 400, "invalid_parameter"],
  ["/analytics/cost?from=1d&from=2d", 400, "invalid_parameter"],
  ["/analytics/cost?from=1d%00", 400, "invalid_parameter"],
  ["/analytics/moon", 404, "route_not_found"],
  ["/", 404, "route_not_found"],
  ["", 404, "route_not_found"],
  ["/analytics/cost/", 404, "route_not_found"],
])("%s is refused: %i %s", async (path, status, code) => {
  expect(await api.get(path)).toMatchObject({ status, body: { error: { code } } });
});

test("rows by hour are at most as many as points allow, and the rest is counted", async () => {
  const path = "/analytics/cost?from=2020-01-01&to=2026-12-01&group_by=hour";
  const whole = await api.get(path);
  const first = await api.get(`${path}&points=1`);
  const { data, left_out_count: leftOut } = fieldsOf(whole.body);
  expect(leftOut).toBe(0);
  const days = Array.isArray(data) ? data : [];
  expect(days.length).toBeGreaterThan(1);
  expect(first.body).toMatchObject({ data: days.slice(0, 1), left_out_count: days.length - 1 });
});

test("a parameter longer than any name is refused", async () => {
  const told = await api.get(`/analytics/turns?turn=${"9".repeat(1001)}`);
  expect(told).toMatchObject({ status: 400, body: { error: { code: "invalid_parameter" } } });
});

test("other methods are told which there are, HEAD is GET without a body, and no answer allows another origin", async () => {
  const url = `${api.url}/strata/v1/analytics/cost`;
  const removed = await fetch(url, { method: "DELETE" });
  expect([removed.status, removed.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
  expect(await removed.json()).toMatchObject({ error: { code: "method_not_allowed" } });
  const asked = await fetch(url, {
    method: "OPTIONS",
    headers: { origin: "https://evil.example" },
  });
  expect([asked.status, asked.headers.get("allow")]).toEqual([204, "GET, HEAD, OPTIONS"]);
  const head = await fetch(url, { method: "HEAD" });
  expect([head.status, await head.text()]).toEqual([200, ""]);
  expect(Number(head.headers.get("content-length"))).toBeGreaterThan(100);
  for (const { headers } of [removed, asked, head]) {
    expect([...headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
  }
});

test("an answer about a time that has ended has a tag, and is not sent again as long as it stays the same", async () => {
  const store = join(newFolder(), "ledger.db");
  await makeExample(store);
  const own = await openTestApi(store);
  const path = `/analytics/cost?${november}&group_by=none`;
  const first = await own.get(path);
  const etag = first.headers.get("etag") ?? "";
  expect(etag).toMatch(/^W\/"[\w-]{22}"$/);
  expect((await own.get(path, { "if-none-match": etag })).status).toBe(304);
  for (const known of [`"other", ${etag}`, etag.replace("W/", ""), "*"]) {
    expect((await own.get(path, { "if-none-match": known })).status).toBe(304);
  }
  expect((await own.get(path, { "if-none-match": '"other", W/"another"' })).status).toBe(200);
  await inLedger(store, async (ledger) => {
    await ledger.recordCalls([gatewayCall("talk", 1)]);
  });
  const changed = await own.get(path, { "if-none-match": etag });
  expect(changed.status).toBe(200);
  expect(changed.headers.get("etag")).not.toBe(etag);
  const open = await own.get("/analytics/cost?from=30d");
  expect([open.headers.get("etag"), open.headers.get("cache-control")]).toEqual([null, "no-store"]);
});

test("long answers are compressed for those who take it", async () => {
  const path = `/analytics/turns?${november}`;
  const plain = await api.get(path, { "accept-encoding": "identity" });
  const compressed = await api.get(path, { "accept-encoding": "gzip" });
  expect(plain.headers.get("content-encoding")).toBeNull();
  expect(compressed.headers.get("content-encoding")).toBe("gzip");
  expect(compressed.body).toEqual(plain.body);
});

test("a ledger that is not there yet is told as such, and is found once it is", async () => {
  const store = join(newFolder(), "ledger.db");
  const own = await openTestApi(store);
  expect(await own.get("/analytics/cost")).toMatchObject({
    status: 503,
    body: { error: { code: "store_unavailable" } },
  });
  await makeExample(store);
  expect((await own.get("/analytics/cost")).status).toBe(200);
});
