import { describe, expect, test } from "vitest";
import { createSimulatorOf, type Simulator } from "../simulator.ts";

const origin = "http://localhost:4141";

function createControlled(): Simulator {
  return createSimulatorOf([], { control: true, clock: { virtualStartMs: 1_000_000 } });
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

async function ask(simulator: Simulator, route: string, body?: unknown): Promise<Answer> {
  const [method = "", path = ""] = route.split(" ");
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const response = await simulator.fetch(`${origin}${path}`, {
    method,
    ...(body === undefined ? {} : { body: text }),
  });
  return { status: response.status, body: await response.json() };
}

function complaint(message: RegExp): unknown {
  return { error: { message: expect.stringMatching(message) as string } };
}

test("without control there are no control routes", async () => {
  const simulator = createSimulatorOf([]);
  for (const path of ["state", "ledger", "faults", "clock", "reset"]) {
    expect((await simulator.fetch(`${origin}/_sim/${path}`)).status).toBe(404);
    expect((await simulator.fetch(`${origin}/_sim/${path}`, { method: "POST" })).status).toBe(404);
  }
});

test("the state shows the clock, the entries and what can still strike", async () => {
  expect(await ask(createControlled(), "GET /_sim/state")).toEqual({
    status: 200,
    body: {
      clock: { kind: "virtual", nowMs: 1_000_000, now: "1970-01-01T00:16:40.000Z" },
      entries: [],
      stored: [],
      faults: [],
      calls: 0,
    },
  });
});

test("the ledger can be read from a call on", async () => {
  const simulator = createControlled();
  for (let index = 0; index < 3; index += 1) await simulator.fetch(`${origin}/nowhere`);
  const { body } = await ask(simulator, "GET /_sim/ledger?after=2");
  expect(body).toMatchObject({
    calls: [{ number: 3, status: 404, why: "nothing is billed here" }],
    dropped: 0,
  });
  expect((await ask(simulator, "GET /_sim/ledger?after=x")).status).toBe(400);
});

describe("the clock", () => {
  test("moves by an amount or to a time", async () => {
    const simulator = createControlled();
    const advanced = await ask(simulator, "POST /_sim/clock", { advanceMs: 3_600_000 });
    expect(advanced).toMatchObject({ status: 200, body: { nowMs: 4_600_000 } });
    const set = await ask(simulator, "POST /_sim/clock", { setMs: 5_000_000 });
    expect(set).toMatchObject({ status: 200, body: { nowMs: 5_000_000 } });
  });

  test.each([{ setMs: 999_999 }, { advanceMs: -1 }])("does not go back: %o", async (body) => {
    const answer = await ask(createControlled(), "POST /_sim/clock", body);
    expect(answer).toMatchObject({ status: 409, body: complaint(/never goes back/) });
  });

  test("of the machine stays where it is", async () => {
    const simulator = createSimulatorOf([], { control: true });
    const answer = await ask(simulator, "POST /_sim/clock", { advanceMs: 1 });
    expect(answer).toMatchObject({ status: 409, body: complaint(/--virtual-clock/) });
  });
});

describe("faults", () => {
  test("are queued, listed and cleared", async () => {
    const simulator = createControlled();
    await ask(simulator, "POST /_sim/faults", { kind: "rate limited", retryAfterSeconds: 2 });
    await ask(simulator, "POST /_sim/faults", [
      { kind: "cut", afterEvents: 3, count: null, path: "/v1/messages" },
      { kind: "random", probability: 0.5, seed: 9, of: [{ kind: "overflow" }] },
    ]);
    expect((await ask(simulator, "GET /_sim/faults")).body).toEqual({
      faults: [
        {
          faults: [{ kind: "rate limited", retryAfterSeconds: 2 }],
          count: 1,
          probability: 1,
          seed: 0,
          path: null,
        },
        {
          faults: [{ kind: "cut", afterEvents: 3 }],
          count: null,
          probability: 1,
          seed: 0,
          path: "/v1/messages",
        },
        {
          faults: [{ kind: "overflow", tokensMax: 200_000, tokens: 213_462 }],
          count: null,
          probability: 0.5,
          seed: 9,
          path: null,
        },
      ],
    });
    expect(await ask(simulator, "POST /_sim/faults", { clear: true })).toEqual({
      status: 200,
      body: { faults: [] },
    });
  });
});

test.each<[string, unknown, RegExp]>([
  ["POST /_sim/clock", {}, /one of advanceMs and setMs/],
  ["POST /_sim/clock", { advanceMs: 1, setMs: 2 }, /one of advanceMs and setMs/],
  ["POST /_sim/clock", { advanceMs: "1" }, /must be a number/],
  ["POST /_sim/clock", { advance: 1 }, /unknown field "advance"; did you mean "advanceMs"/],
  ["POST /_sim/clock", [1], /must be an object/],
  ["POST /_sim/clock", "{", /not JSON/],
  ["POST /_sim/faults", {}, /fault.kind is missing/],
  ["POST /_sim/faults", 5, /fault.kind is 5/],
  ["POST /_sim/faults", { kind: "explosion" }, /"explosion", but must be one of "rate limited"/],
  ["POST /_sim/faults", { kind: "cut", delayMs: 1 }, /unknown field "delayMs"/],
  ["POST /_sim/faults", { kind: "cut", count: 0 }, /must be a whole number above 0/],
  ["POST /_sim/faults", { kind: "cut", probability: 2 }, /from 0 to 1/],
  ["POST /_sim/faults", { kind: "random", of: [] }, /is empty/],
  ["POST /_sim/faults", { kind: "random", of: [{ kind: "random" }] }, /faults?.of\[0\].kind/],
  ["POST /_sim/faults", [{ kind: "cut" }, { kind: "stal" }], /faults\[1\].kind/],
  [
    "POST /_sim/faults",
    `{"kind":"cut","probability":${"[".repeat(9000)}${"]".repeat(9000)}}`,
    /nested too deep/,
  ],
  ["POST /_sim/faults", { kind: "cut", probability: "x".repeat(900) }, /is "x{199}…, but/],
  ["POST /_sim/faults", `"${"x".repeat(1_000_001)}"`, /too long/],
])("bad input is refused with what to do: %s %j", async (route, body, message) => {
  const answer = await ask(createControlled(), route, body);
  expect(answer).toEqual({ status: 400, body: complaint(message) });
});

test("an unknown control route names those there are", async () => {
  const answer = await ask(createControlled(), "GET /_sim/clock");
  expect(answer).toEqual({ status: 404, body: complaint(/POST \/_sim\/clock/) });
  expect((await ask(createControlled(), "GET /_sim/constructor")).status).toBe(404);
});

test("a reset forgets calls and faults, and the clock goes on", async () => {
  const simulator = createControlled();
  await simulator.clock.advance(500);
  await simulator.fetch(`${origin}/nowhere`);
  simulator.fault({ kind: "cut" });
  expect(await ask(simulator, "POST /_sim/reset")).toMatchObject({
    status: 200,
    body: { calls: 0, faults: [], clock: { nowMs: 1_000_500 } },
  });
});
