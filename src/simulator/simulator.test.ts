import { describe, expect, test } from "vitest";
import { plantedKey } from "../../harness/planted-key.ts";
import { resolveModel } from "../core/models/resolve-model.ts";
import type { Bill } from "./billing/bill.ts";
import { createSimulatorOf, type Simulator, type SimulatorOptions } from "./simulator.ts";
import type { SimResponse, Surface, SurfaceContext } from "./surface.ts";

// Goal: everything around a surface works with any surface. Method: a tiny provider.
const { facts } = resolveModel("claude-sonnet-5-5");

function json(status: number, body: unknown): SimResponse {
  const headers = { "content-type": "application/json" };
  return { status, headers, body: JSON.stringify(body) };
}

function answer(bodyText: string, context: SurfaceContext): SimResponse {
  const { text = "", stream = false } = JSON.parse(bodyText) as {
    text?: string;
    stream?: boolean;
  };
  const id = context.newId("tiny_");
  const open = context.billing.open({
    id,
    workspace: context.workspace,
    model: facts,
    blocks: [{ hash: text, tokens: 1000, tier: "messages", run: null, boundary: null }],
    markers: [{ block: 0, lifetime: "5m", origin: "explicit" }],
    mode: "explicit",
    settings: {},
    startMs: context.nowMs,
  });
  const turn = { role: "user" as const, text, toolUses: [], toolResults: [] };
  const reply = context.answer({
    model: facts.id,
    wants: "reply",
    instructions: null,
    system: "",
    tools: [],
    turns: [turn],
    outputTokensMax: 100,
    thinks: false,
    toolChoice: "auto",
  });
  context.record({
    surface: "tiny",
    model: facts.id,
    startMs: context.nowMs,
    bill: open.bill,
    outputTokens: 1,
    reasoningTokens: 0,
    costUsd: "0.001",
    stopReason: "end",
  });
  const [part] = reply.parts;
  const said = part?.kind === "text" ? part.text : "";
  const events = [{ id }, { read: open.bill.readTokens }, { said }, { done: true }];
  if (!stream) return { ...json(200, { id, said, read: open.bill.readTokens }), bill: open };
  return {
    status: 200,
    headers: { "content-type": "text/event-stream" },
    body: events.map((event) => `data: ${JSON.stringify(event)}\n\n`),
    bill: open,
  };
}

function createTinySurface(): Surface {
  return {
    name: "tiny",
    routes: [
      {
        method: "POST",
        path: "/v1/say",
        handle: ({ bodyText }, context) => answer(bodyText, context),
      },
      { method: "GET", path: "/v1/models", handle: () => json(200, { data: [facts.id] }) },
    ],
    isClient: () => true,
    refuse: ({ status, message }) => json(status, { error: { message } }),
    fault: (fault) => json(fault.kind === "rate limited" ? 429 : 500, { fault }),
    authenticate: ({ headers }) => {
      const key = headers.get("x-key");
      return key === undefined ? { refusal: json(401, { error: "no key" }) } : { key };
    },
  };
}

const origin = "http://127.0.0.1:4141";

function createTiny(options: SimulatorOptions = {}): Simulator {
  return createSimulatorOf([createTinySurface], { seed: 1, clock: "virtual", ...options });
}

interface EventBody {
  readonly id: string;
  readonly said: string;
  readonly read: number;
}

function request(text: string, more: { key?: string; stream?: boolean } = {}): Request {
  return new Request(`${origin}/v1/say`, {
    method: "POST",
    headers: { "x-key": more.key ?? "a key of mine" },
    body: JSON.stringify({ text, stream: more.stream ?? false }),
  });
}

async function say(simulator: Simulator, text: string, key?: string): Promise<EventBody> {
  const response = await simulator.fetch(request(text, key === undefined ? {} : { key }));
  return (await response.json()) as EventBody;
}

function billsOf(simulator: Simulator): (Bill | undefined)[] {
  return simulator.calls().map(({ billed }) => billed?.bill);
}

/** Waits until sent requests have started. */
function soon(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 20));
}

const decoder = new TextDecoder();

async function readEvent(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<string> {
  const { value } = await reader.read();
  return decoder.decode(value);
}

describe("a request", () => {
  test("is answered by the model and billed by what was written before", async () => {
    const simulator = createTiny();
    expect(await say(simulator, "hello")).toMatchObject({ said: "hello", read: 0 });
    expect(await say(simulator, "hello")).toMatchObject({ said: "hello", read: 1000 });
    expect(simulator.calls().map(({ outcome, status }) => [outcome, status])).toEqual([
      ["answered", 200],
      ["answered", 200],
    ]);
  });

  test("reads nothing that another key wrote", async () => {
    const simulator = createTiny();
    await say(simulator, "hello", "one");
    expect(await say(simulator, "hello", "two")).toMatchObject({ read: 0 });
  });

  test("gets the same bytes for the same seed", async () => {
    const [one, two, other] = await Promise.all([
      say(createTiny(), "hello"),
      say(createTiny(), "hello"),
      say(createTiny({ seed: 2 }), "hello"),
    ]);
    expect(two).toEqual(one);
    expect(other.id).not.toBe(one.id);
  });

  test("that is sent together with equal ones writes as each of them does", async () => {
    const simulator = createTiny();
    await Promise.all(Array.from({ length: 20 }, () => say(simulator, "hello")));
    expect(billsOf(simulator).map((bill) => bill?.readTokens)).toEqual(Array(20).fill(0));
    expect(await say(simulator, "hello")).toMatchObject({ read: 1000 });
  });

  test("never shows its key again", async () => {
    const key = plantedKey;
    const simulator = createTiny({ control: true });
    await say(simulator, "hello", key);
    const shown = await Promise.all(
      ["state", "ledger"].map(async (name) =>
        (await simulator.fetch(`${origin}/_sim/${name}`)).text(),
      ),
    );
    expect(shown.join()).toContain(simulator.calls()[0]?.workspace);
    expect(shown.join() + JSON.stringify(simulator.calls())).not.toContain(key);
  });

  test("without a key is refused in the provider's words", async () => {
    const simulator = createTiny();
    const response = await simulator.fetch(`${origin}/v1/models`);
    expect(response.status).toBe(401);
    expect(await response.json()).toEqual({ error: "no key" });
    expect(simulator.calls()[0]).toMatchObject({ outcome: "refused", workspace: null });
  });

  test.each(["GET", "POST", "HEAD", "DELETE"])(
    "to an unknown path is not found: %s",
    async (method) => {
      const response = await createTiny().fetch(`${origin}/api/hello`, { method });
      expect(response.status).toBe(404);
      expect(await response.json()).toEqual({
        error: { message: `Not found: ${method} /api/hello` },
      });
    },
  );

  test("with a body over the limit is too large, whatever its length was said to be", async () => {
    const simulator = createTiny({ bodyBytesMax: 100 });
    const long = "x".repeat(101);
    const announced = await simulator.fetch(request(long));
    const streamed = await simulator.fetch(`${origin}/v1/say`, {
      method: "POST",
      headers: { "x-key": "k" },
      body: new ReadableStream({
        pull: (controller) => controller.enqueue(new TextEncoder().encode(long)),
      }),
      duplex: "half",
    });
    expect([announced.status, streamed.status]).toEqual([413, 413]);
    expect(simulator.calls().map(({ billed }) => billed)).toEqual([null, null]);
  });

  test("that breaks the model gets a clear 500, and the ledger says why", async () => {
    const simulator = createTiny({
      model: () => {
        throw new Error("the script has no answer");
      },
    });
    const response = await simulator.fetch(request("hello"));
    expect(response.status).toBe(500);
    expect(await response.json()).toEqual({ error: { message: "the script has no answer" } });
    expect(simulator.calls()[0]).toMatchObject({
      problem: "the script has no answer",
      status: 500,
    });
  });

  test("that is not JSON does not stop the simulator", async () => {
    const simulator = createTiny();
    const response = await simulator.fetch(`${origin}/v1/say`, {
      method: "POST",
      headers: { "x-key": "k" },
      body: "{",
    });
    expect(response.status).toBe(500);
    expect(await say(simulator, "hello")).toMatchObject({ said: "hello" });
  });
});

describe("a stream", () => {
  test("gives each event when it is asked for", async () => {
    const simulator = createTiny();
    const response = await simulator.fetch(request("hello", { stream: true }));
    const reader = response.body?.getReader();
    if (reader === undefined) throw new Error("no body");
    const id = simulator.calls()[0]?.billed?.bill.requestId;
    expect(await readEvent(reader)).toBe(`data: {"id":"${id}"}\n\n`);
    expect(simulator.calls()[0]?.outcome).toBe("under way");
    await readEvent(reader);
    await readEvent(reader);
    expect(await readEvent(reader)).toBe('data: {"done":true}\n\n');
    expect((await reader.read()).done).toBe(true);
    expect(simulator.calls()[0]?.outcome).toBe("answered");
  });

  test("that has begun lets others read what it wrote", async () => {
    const simulator = createTiny();
    await simulator.fetch(request("hello", { stream: true }));
    expect(await say(simulator, "hello")).toMatchObject({ read: 1000 });
  });

  test("ends when the client leaves", async () => {
    const simulator = createTiny();
    const response = await simulator.fetch(request("hello", { stream: true }));
    await response.body?.cancel();
    expect(simulator.calls()[0]?.outcome).toBe("left");
  });

  test("counts a lifetime from its end with that option", async () => {
    const simulator = createTiny({
      billing: { clock: "response end" },
      latency: { perEventMs: 60_000 },
    });
    const response = await simulator.fetch(request("hello", { stream: true }));
    const startMs = simulator.clock.now();
    const read = response.text();
    await simulator.clock.advance(10 * 60_000);
    await read;
    // Four events, a minute apart.
    const [entry] = simulator.billing.entries(simulator.clock.now());
    expect(entry).toMatchObject({ expiresMs: startMs + (3 + 5) * 60_000 });
  });

  test("takes the time of its latency option, on the simulator's clock", async () => {
    const simulator = createTiny({ latency: { firstByteMs: 2000, perEventMs: 500 } });
    const start = simulator.clock.now();
    const times: number[] = [];
    const reading = (async () => {
      const response = await simulator.fetch(request("hello", { stream: true }));
      const reader = response.body?.getReader();
      while ((await reader?.read())?.done === false) times.push(simulator.clock.now() - start);
    })();
    await soon();
    await simulator.clock.advance(10_000);
    await reading;
    expect(times).toEqual([2000, 2500, 3000, 3500]);
  });
});

async function struckBy(seed: number): Promise<number[]> {
  const simulator = createTiny({ faults: [{ kind: "random", probability: 0.3, seed }] });
  const statuses: number[] = [];
  for (let index = 0; index < 100; index += 1) {
    statuses.push((await simulator.fetch(request("hello"))).status);
  }
  return statuses;
}

describe("faults", () => {
  test("strike in the order they were asked for, once each", async () => {
    const simulator = createTiny({ faults: [{ kind: "rate limited", retryAfterSeconds: 2 }] });
    simulator.fault({ kind: "overloaded" });
    const statuses: number[] = [];
    for (let index = 0; index < 3; index += 1) {
      statuses.push((await simulator.fetch(request("hello"))).status);
    }
    expect(statuses).toEqual([429, 500, 200]);
    expect(simulator.calls().map(({ fault }) => fault)).toEqual([
      "rate limited",
      "overloaded",
      null,
    ]);
    expect(billsOf(simulator)[1]).toBeUndefined();
  });

  test("leave requests that generate nothing alone", async () => {
    const simulator = createTiny({ faults: [{ kind: "server error" }] });
    const models = await simulator.fetch(`${origin}/v1/models`, { headers: { "x-key": "k" } });
    expect(models.status).toBe(200);
    expect((await simulator.fetch(request("hello"))).status).toBe(500);
  });

  test("cut a stream after some events; what it wrote stays", async () => {
    const simulator = createTiny({ faults: [{ kind: "cut", afterEvents: 2 }] });
    const response = await simulator.fetch(request("hello", { stream: true }));
    await expect(response.text()).rejects.toThrow("cut this stream");
    expect(simulator.calls()[0]).toMatchObject({ outcome: "cut", fault: "cut", status: 200 });
    expect(await say(simulator, "hello")).toMatchObject({ read: 1000 });
  });

  test("that cut before the first event leave nothing written", async () => {
    const simulator = createTiny({ faults: [{ kind: "cut", afterEvents: 0 }] });
    const response = await simulator.fetch(request("hello", { stream: true }));
    await expect(response.text()).rejects.toThrow("cut this stream");
    expect(await say(simulator, "hello")).toMatchObject({ read: 0 });
  });

  test("break the JSON of one event and end the stream", async () => {
    const simulator = createTiny({ faults: [{ kind: "malformed", afterEvents: 2 }] });
    const response = await simulator.fetch(request("hello", { stream: true }));
    const events = (await response.text()).split("\n\n");
    expect(events).toHaveLength(4);
    expect(events[2]).toBe('data: {"sai');
  });

  test("change one byte of an event and end the stream", async () => {
    const simulator = createTiny({ faults: [{ kind: "corrupt", afterEvents: 2 }] });
    const response = await simulator.fetch(request("hello", { stream: true }));
    const events = (await response.text()).split("\n\n");
    expect(events).toHaveLength(4);
    expect(events[2]).toBe('data: {"said":"hello"\u0007');
  });

  const breaking = ["cut", "malformed", "corrupt", "error event"] as const;

  test.each(breaking)("break a reply that is no stream: %s", async (kind) => {
    const simulator = createTiny({ faults: [{ kind }] });
    const response = await simulator.fetch(request("hello"));
    await expect(response.json()).rejects.toThrow(/cut this stream|JSON/);
  });

  test("cut a reply that is no stream in its middle, so that no client has all of it", async () => {
    const simulator = createTiny({ faults: [{ kind: "cut" }] });
    const response = await simulator.fetch(request("hello"));
    const chunk = await response.body?.getReader().read();
    expect(() => JSON.parse(new TextDecoder().decode(chunk?.value))).toThrow("JSON");
  });

  test("stall a stream until the client gives up", async () => {
    const simulator = createTiny({ faults: [{ kind: "stall", afterEvents: 1 }] });
    const leaving = new AbortController();
    const { signal } = leaving;
    const response = await simulator.fetch(
      new Request(request("hello", { stream: true }), { signal }),
    );
    const reader = response.body?.getReader();
    await reader?.read();
    const second = reader?.read();
    leaving.abort();
    await expect(second).rejects.toThrow("aborted");
    expect(simulator.calls()[0]).toMatchObject({ outcome: "left", fault: "stall" });
  });

  test("delay the first byte; a client that does not wait leaves nothing written", async () => {
    const simulator = createTiny({ faults: [{ kind: "slow first byte", delayMs: 60_000 }] });
    const leaving = new AbortController();
    const slow = simulator.fetch(new Request(request("hello"), { signal: leaving.signal }));
    await soon();
    expect(await say(simulator, "hello")).toMatchObject({ read: 0 });
    leaving.abort();
    await slow;
    expect(simulator.calls()[0]).toMatchObject({ outcome: "left" });
    expect(simulator.billing.entries(simulator.clock.now())).toMatchObject([
      { writtenBy: simulator.calls()[1]?.billed?.bill.requestId },
    ]);
  });

  test("at random are the same for the same seed, until they are cleared", async () => {
    const [one, two, other] = await Promise.all([7, 7, 8].map(struckBy));
    expect(two).toEqual(one);
    expect(other).not.toEqual(one);
    expect(one?.filter((status) => status !== 200)).toHaveLength(28);
  });
});

describe("memory", () => {
  test("of calls is bounded, and what was forgotten is counted", async () => {
    const simulator = createTiny({ callsMax: 3, control: true });
    for (let index = 0; index < 5; index += 1) await say(simulator, `hello ${index}`);
    expect(simulator.calls().map(({ number }) => number)).toEqual([3, 4, 5]);
    const ledger = await (await simulator.fetch(`${origin}/_sim/ledger`)).json();
    expect(ledger).toMatchObject({ dropped: 2 });
  });

  test("of entries is bounded", async () => {
    const simulator = createTiny({ billing: { entriesMax: 2 } });
    for (let index = 0; index < 5; index += 1) await say(simulator, `hello ${index}`);
    expect(simulator.billing.entries(simulator.clock.now())).toHaveLength(2);
  });

  test("is gone after a reset, but no id comes twice", async () => {
    const simulator = createTiny();
    const first = await say(simulator, "hello");
    simulator.reset();
    expect(simulator.calls()).toEqual([]);
    const again = await say(simulator, "hello");
    expect(again).toMatchObject({ said: "hello", read: 0 });
    expect(again.id).not.toBe(first.id);
  });

  test("of a response that outlives a reset is not brought back", async () => {
    const simulator = createTiny({ latency: { firstByteMs: 1000 } });
    const before = say(simulator, "hello");
    await soon();
    simulator.reset();
    await simulator.clock.advance(1000);
    await before;
    expect(simulator.billing.entries(simulator.clock.now())).toEqual([]);
  });
});
