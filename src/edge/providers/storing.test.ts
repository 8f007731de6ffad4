// Requests about stored prefixes: other methods than POST, an answer that is text, and no second attempt.
import { afterEach, expect, test } from "vitest";
import { toRequest } from "../../core/wire/encoded-request.ts";
import { closeAll, openHttp, openProvider, textOf } from "./test-kit.ts";

afterEach(closeAll);

test.each([
  ["GET", "", undefined, undefined],
  ["DELETE", "", undefined, undefined],
  ["PATCH", '{"ttl":"1s"}', "application/json", "12"],
] as const)("%s is sent with its own body alone", async (method, body, type, length) => {
  let seen: unknown;
  const server = await openHttp((request, response) => {
    const { headers, url } = request;
    seen = [request.method, url, request.bytes.toString(), headers["content-type"]];
    expect(headers["content-length"]).toBe(length);
    expect(headers["transfer-encoding"]).toBeUndefined();
    response.end('{"name":"cachedContents/x"}');
  });
  const request = toRequest({ method, path: "/v1/things?page=2", parts: [body] });
  const { outcome } = await openProvider(server.url).send({
    request,
    stream: false,
    purpose: "storing",
  });
  expect(textOf(outcome)).toBe('{"name":"cachedContents/x"}');
  expect(seen).toEqual([method, "/v1/things?page=2", body, type]);
});

test("nothing is tried twice: a lost answer may have stored something", async () => {
  let count = 0;
  const server = await openHttp((_request, response) => {
    count += 1;
    response.writeHead(529).end("busy");
  });
  const provider = openProvider(server.url, { retries: { attemptsMax: 3, backoffMsBase: 0 } });
  const request = toRequest({ path: "/v1/things", parts: ["{}"] });
  const { outcome } = await provider.send({ request, stream: false, purpose: "storing" });
  expect(outcome).toMatchObject({ kind: "overloaded", detail: "busy" });
  expect(count).toBe(1);
});
