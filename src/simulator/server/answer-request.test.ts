import { describe, expect, test } from "vitest";
import { createSimulatorOf } from "../simulator.ts";
import type { Route, Surface } from "../surface.ts";

const origin = "http://127.0.0.1:4141";

describe("strangers", () => {
  test.each([
    ["http://example.com/v1/models", {}],
    ["http://127.0.0.1.example.com/v1/models", {}],
    [`${origin}/v1/models`, { host: "attacker.example:4141" }],
    [`${origin}/v1/models`, { origin: "https://attacker.example" }],
    [`${origin}/v1/models`, { origin: "null" }],
  ])("are refused: %s %o", async (url, headers) => {
    const simulator = createSimulatorOf([]);
    const response = await simulator.fetch(url, { headers: { "x-key": "k", ...headers } });
    expect(response.status).toBe(403);
    expect(simulator.calls()).toEqual([]);
  });

  test.each(["http://localhost:1", "http://127.8.8.8", "http://[::1]:99"])(
    "are not those who say %s",
    async (place) => {
      const headers = { "x-key": "k", host: new URL(place).host };
      const response = await createSimulatorOf([]).fetch(`${place}/v1/models`, { headers });
      expect(response.status).toBe(404);
      expect([...response.headers.keys()].filter((name) => name.includes("origin"))).toEqual([]);
    },
  );

  test("get no preflight", async () => {
    const response = await createSimulatorOf([]).fetch(`${origin}/v1/say`, { method: "OPTIONS" });
    expect(response.status).toBe(405);
    expect([...response.headers.keys()].filter((name) => name.startsWith("access-"))).toEqual([]);
  });
});

describe("a route", () => {
  const items: Route = {
    method: "PATCH",
    path: /\/v1\/items\/(?<item>[^/]+):(?<verb>\w+)/,
    handle: ({ params }) => ({ status: 200, headers: {}, body: JSON.stringify(params) }),
  };
  const frames: Route = {
    method: "POST",
    path: "/v1/frames",
    handle: () => ({ status: 200, headers: {}, body: [Uint8Array.of(0xff, 0x00), "text"] }),
  };
  const surface: Surface = {
    name: "made up",
    routes: [items, frames],
    isClient: () => true,
    refuse: ({ status, message }) => ({ status, headers: {}, body: message }),
    fault: () => ({ status: 500, headers: {}, body: "" }),
    authenticate: () => ({ key: "k" }),
  };
  const ask = (path: string, method: string): Promise<Response> =>
    createSimulatorOf([() => surface]).fetch(`${origin}${path}`, { method });

  test("may be a pattern of the whole path, and gets its groups decoded", async () => {
    const answer = await ask("/v1/items/a.b%3A0:count", "PATCH");
    expect(await answer.json()).toEqual({ item: "a.b:0", verb: "count" });
  });

  test.each([
    ["/v1/items/a:count/more", "PATCH"],
    ["/x/v1/items/a:count", "PATCH"],
    ["/v1/items/a%:count", "PATCH"],
    ["/v1/items/a:count", "DELETE"],
  ])("does not answer to %s by %s", async (path, method) => {
    expect((await ask(path, method)).status).toBe(404);
  });

  test("may send bytes that are no text", async () => {
    const answer = await ask("/v1/frames", "POST");
    expect([...new Uint8Array(await answer.arrayBuffer())]).toEqual([0xff, 0, 116, 101, 120, 116]);
  });
});
