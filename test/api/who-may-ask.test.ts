// Goal: only the owner gets answers, and a browser becomes the owner by a code. Method: requests with and without what they need.
import type { IncomingHttpHeaders } from "node:http";
import { join } from "node:path";
import { expect, test } from "vitest";
import { plantedToken } from "../../harness/planted-key.ts";
import { routes } from "../../src/api/routes/routes.ts";
import { createLogins } from "../../src/api/access/logins.ts";
import { makeExample } from "../../src/cli/test-kit.ts";
import { connectRaw } from "../gateway/kit.ts";
import { newFolder, openTestApi, type TestApi } from "./kit.ts";

async function openWith(token: string | null): Promise<TestApi> {
  const store = join(newFolder(), "ledger.db");
  await makeExample(store);
  return openTestApi(store, { token });
}

test("where a token is configured, nothing is answered without it", async () => {
  const api = await openWith(plantedToken);
  expect(await api.get("/analytics/cost")).toMatchObject({
    status: 401,
    body: { error: { code: "token_required" } },
  });
  for (const headers of [
    { "x-strata-token": plantedToken },
    { authorization: `Bearer ${plantedToken}` },
  ]) {
    expect((await api.get("/analytics/cost", headers)).status).toBe(200);
  }
  for (const headers of [
    { "x-strata-token": `${plantedToken}x` },
    { authorization: "Bearer" },
    { authorization: `Basic ${plantedToken}` },
    { cookie: `strata_login=${plantedToken}` },
  ]) {
    expect((await api.get("/analytics/cost", headers)).status).toBe(401);
  }
});

test("without a token, programs of this machine are the owner, and neither pages of other origins nor other names", async () => {
  const api = await openWith(null);
  expect(await api.get("/login")).toMatchObject({ body: { data: { kind: "owner", name: null } } });
  for (const [headers, code] of [
    [{ origin: "https://evil.example" }, "foreign_origin"],
    [{ origin: "http://127.0.0.1:1" }, "foreign_origin"],
    [{ origin: "null" }, "foreign_origin"],
    [{ "sec-fetch-site": "cross-site" }, "foreign_origin"],
  ] as const) {
    const told = await api.get("/analytics/cost", headers);
    expect([told.status, told.body]).toMatchObject([403, { error: { code } }]);
  }
  expect((await api.get("/login", { origin: api.url })).status).toBe(200);
  const port = Number(new URL(api.url).port);
  const byName = connectRaw(port, "GET /strata/v1/login HTTP/1.1\r\nHost: evil.example\r\n\r\n");
  expect(await byName.until("}}")).toMatch(/^HTTP\/1.1 403[^]*foreign_host/);
});

test("a code from the owner logs one browser in, once, with a cookie for this site and no script", async () => {
  const api = await openWith(plantedToken);
  expect((await api.post("/login-codes", {})).status).toBe(401);
  const asOwner = { "x-strata-token": plantedToken };
  const given = await api.post("/login-codes", {}, asOwner);
  const { code } = (given.body as { readonly data: { readonly code: string } }).data;
  expect(await api.post("/login", { code: `${code}x` })).toMatchObject({
    status: 401,
    body: { error: { code: "login_failed" } },
  });
  const foreign = await api.post("/login", { code }, { origin: "https://evil.example" });
  expect(foreign.status).toBe(403);
  const login = await api.post("/login", { code }, { origin: api.url });
  expect(login.status).toBe(200);
  const [cookie = "", ...attributes] = (login.headers.get("set-cookie") ?? "").split("; ");
  expect(attributes).toEqual(["Path=/strata", "Max-Age=2592000", "HttpOnly", "SameSite=Strict"]);
  expect((await api.post("/login", { code })).status).toBe(401);
  expect((await api.get("/analytics/cost", { cookie })).status).toBe(200);
  expect((await api.get("/analytics/cost", { cookie: `other=1; ${cookie}` })).status).toBe(200);
  expect(
    (await api.get("/analytics/cost", { cookie, origin: "https://evil.example" })).status,
  ).toBe(403);
  expect((await api.post("/logout", {}, { cookie })).body).toEqual({
    data: { was_logged_in: true },
  });
  expect((await api.get("/analytics/cost", { cookie })).status).toBe(401);
});

test("codes and logins end with their time, and the oldest go where there are too many", () => {
  const logins = createLogins({ codeMs: 10, loginMs: 100, countMax: 2 });
  const late = logins.newCode(0);
  expect(late.expiresMs).toBe(10);
  expect(() => logins.use(late.code, 11)).toThrow("too old");
  const cookies = [1, 2, 3].map(() => logins.use(logins.newCode(0).code, 5));
  expect(cookies.map((cookie) => logins.isOpen(cookie, 105))).toEqual([false, true, true]);
  expect(cookies.map((cookie) => logins.isOpen(cookie, 106))).toEqual([false, false, false]);
});

test.each([
  ["not JSON", "{", 400, "invalid_body"],
  ["a list", "[]", 400, "invalid_body"],
  ["no code", "{}", 400, "invalid_body"],
  ["a number for a code", '{"code":5}', 400, "invalid_body"],
  ["too much", "x".repeat(70_000), 413, "body_too_large"],
])("a login with %s is refused", async (_what, body, status, code) => {
  const api = await openWith(null);
  const response = await fetch(`${api.url}/strata/v1/login`, { method: "POST", body });
  expect([response.status, await response.json()]).toMatchObject([status, { error: { code } }]);
});

test("a virtual key is answered only where a route shows it its own rows, and then no session of others", async () => {
  const store = join(newFolder(), "ledger.db");
  await makeExample(store);
  const api = await openTestApi(store, { token: plantedToken, keyOf });
  const asAna = { authorization: "Bearer of-ana" };
  expect((await api.get("/login", asAna)).body).toEqual({ data: { kind: "key", name: "ana" } });
  for (const { method, example, isForKeys, name } of routes) {
    if (isForKeys === true || name === "login") continue;
    const told =
      method === "GET" ? await api.get(example, asAna) : await api.post(example, {}, asAna);
    expect([name, told.status, told.body]).toMatchObject([
      name,
      403,
      { error: { code: "not_yours" } },
    ]);
  }
  expect((await api.get("/sessions/build/picture", asAna)).status).toBe(404);
  const locked = await openTestApi(store, { keyOf });
  expect((await locked.get("/login")).status).toBe(401);
});

function keyOf({ authorization }: IncomingHttpHeaders): string | null {
  return authorization === "Bearer of-ana" ? "ana" : null;
}

test("a client that leaves within its body is no mistake of ours", async () => {
  const api = await openWith(null);
  const head = "POST /strata/v1/login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\n{";
  const leaving = connectRaw(Number(new URL(api.url).port), head);
  leaving.socket.end();
  await leaving.untilClosed();
  // A mistake would have been told to the operator, which fails a test here.
  expect((await api.get("/login")).status).toBe(200);
});
