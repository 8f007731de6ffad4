import { describe, expect, test } from "vitest";
import { createSimulatorOf } from "../simulator.ts";

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
