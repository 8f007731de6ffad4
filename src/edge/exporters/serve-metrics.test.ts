import { expect, test } from "vitest";
import { createMetrics } from "./metrics.ts";
import { serveMetrics } from "./serve-metrics.ts";
import { parseExposition } from "./test-kit.ts";

const serve = serveMetrics(createMetrics());

test("GET /metrics is answered with the text and its type", async () => {
  const response = await serve(new Request("http://localhost:4177/metrics?debug=1"));
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  expect(response.headers.get("cache-control")).toBe("no-store");
  expect(parseExposition(await response.text()).has("llm_cache_hit_ratio")).toBe(true);
});

test("HEAD is answered without the text", async () => {
  const response = await serve(new Request("http://localhost/metrics", { method: "HEAD" }));
  expect([response.status, await response.text()]).toEqual([200, ""]);
});

test("other methods and other paths are refused", async () => {
  const posted = await serve(new Request("http://localhost/metrics", { method: "POST" }));
  expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  expect((await serve(new Request("http://localhost/"))).status).toBe(404);
});
