// Goal: the router chooses hosts, goes on to another one and bills as OpenRouter documents. Method: plain requests, on a clock of the
// test; each host keeps what it saw itself.
import { describe, expect, test } from "vitest";
import { createEcho } from "../behaviours/echo.ts";
import { createSimulator, type Simulator, type SimulatorOptions } from "../simulator.ts";

interface Answer {
  readonly status: number;
  readonly provider?: string;
  readonly usage?: Readonly<Record<string, unknown>>;
  readonly error?: Readonly<Record<string, unknown>>;
}

const manual = "Every answer names the file and the line it speaks of. ".repeat(400);
const claude = "anthropic/claude-sonnet-5.5";
const deepseek = "deepseek/deepseek-v4.1-flash";
const steady = { leavesSticky: 0, passesOver: 0 };

function open(options: SimulatorOptions = {}): Simulator {
  return createSimulator({
    seed: 1,
    clock: "virtual",
    model: createEcho(),
    openrouter: steady,
    ...options,
  });
}

interface Asked {
  readonly model?: string;
  readonly text?: string;
  readonly key?: string;
  readonly members?: object;
  readonly isMarked?: boolean;
}

async function ask(simulator: Simulator, asked: Asked = {}): Promise<Answer> {
  const { model = deepseek, text = "Hello?", key = "key", members = {}, isMarked = false } = asked;
  const mark = isMarked ? { cache_control: { type: "ephemeral" } } : {};
  const system = { role: "system", content: [{ type: "text", text: manual, ...mark }] };
  const response = await simulator.fetch("http://localhost/api/v1/chat/completions", {
    method: "POST",
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({
      model,
      messages: [system, { role: "user", content: text }],
      ...members,
    }),
  });
  return { status: response.status, ...((await response.json()) as Omit<Answer, "status">) };
}

async function hostsOf(simulator: Simulator, count: number, asked: Asked = {}): Promise<string[]> {
  const hosts: string[] = [];
  for (let index = 0; index < count; index += 1) {
    hosts.push((await ask(simulator, asked)).provider ?? "");
  }
  return hosts;
}

describe("which host answers", () => {
  test("any of a model's hosts, until the cache was used at one; then that one, for ten idle minutes", async () => {
    const simulator = open();
    const asked = { model: claude, isMarked: true };
    const [home = "", ...later] = await hostsOf(simulator, 12, asked);
    expect(new Set(later)).toEqual(new Set([home]));
    const after = new Set<string>();
    for (let index = 0; index < 12; index += 1) {
      await simulator.clock.advance(600_000);
      after.add((await ask(simulator, asked)).provider ?? "");
    }
    expect(after.size).toBe(3);
  });

  test("a conversation without caching stays nowhere", async () => {
    const short = { members: { messages: [{ role: "user", content: "Hello?" }] }, model: claude };
    expect(new Set(await hostsOf(open(), 20, short)).size).toBe(3);
  });

  test("another account, another conversation and another session have hosts of their own", async () => {
    const simulator = open();
    const asked = { model: claude, isMarked: true };
    const homes = new Set<string>();
    for (const one of ["a", "b", "c", "d", "e", "f"]) {
      homes.add((await hostsOf(simulator, 2, { ...asked, key: one })).at(-1) ?? "");
    }
    expect(homes.size).toBeGreaterThan(1);
    const sessions = new Set<string>();
    for (const id of ["a", "b", "c", "d", "e", "f"]) {
      const members = { session_id: id };
      sessions.add((await hostsOf(simulator, 2, { ...asked, members })).at(-1) ?? "");
    }
    expect(sessions.size).toBeGreaterThan(1);
    // One session is one conversation, whatever is said in it.
    const members = { session_id: "a" };
    const [home] = await hostsOf(simulator, 1, { ...asked, members });
    expect(await hostsOf(simulator, 5, { ...asked, members, text: "Again?" })).toEqual(
      Array.from({ length: 5 }, () => home),
    );
  });

  test("a host asked for first answers, and its stickiness is off", async () => {
    const simulator = open();
    expect(await hostsOf(simulator, 3, askedOf("Novita"))).toEqual(["Novita", "Novita", "Novita"]);
    expect(new Set(await hostsOf(simulator, 1, askedOf("together")))).toEqual(
      new Set(["Together"]),
    );
  });

  test("hosts are limited by name or slug, and none is an error", async () => {
    const only = { model: claude, members: { provider: { only: ["anthropic", "Google"] } } };
    const hosts = new Set(await hostsOf(open(), 20, only));
    expect([...hosts].toSorted()).toEqual(["Anthropic", "Google"]);
    const ignore = {
      model: claude,
      members: { provider: { ignore: ["amazon-bedrock", "google"] } },
    };
    expect(new Set(await hostsOf(open(), 8, ignore))).toEqual(new Set(["Anthropic"]));
    const none = await ask(open(), { model: claude, members: { provider: { only: ["Novita"] } } });
    expect(none).toMatchObject({
      status: 404,
      error: {
        code: 404,
        message: "No allowed providers are available for the selected model.",
        metadata: { requested_providers: ["Novita"] },
      },
    });
  });

  test("hosts change in spite of it as often as was measured, and as seldom as an option says", async () => {
    const asked = { model: claude, isMarked: true };
    const switchesOf = async (options: SimulatorOptions): Promise<number> => {
      const hosts = await hostsOf(open(options), 200, asked);
      return hosts.filter((host, index) => index > 0 && host !== hosts[index - 1]).length;
    };
    const usual = await switchesOf({ openrouter: {} });
    expect(usual).toBeGreaterThan(70);
    expect(usual).toBeLessThan(110);
    expect(await switchesOf({ openrouter: { leavesSticky: 0.1 } })).toBeLessThan(35);
    expect(await switchesOf({ openrouter: { leavesSticky: 0 } })).toBe(0);
  });

  test("the same seed gives the same hosts", async () => {
    const usual = { openrouter: {} };
    expect(await hostsOf(open(usual), 20)).toEqual(await hostsOf(open(usual), 20));
    expect(await hostsOf(open(usual), 20)).not.toEqual(
      await hostsOf(open({ seed: 2, ...usual }), 20),
    );
  });
});

describe("a host that fails", () => {
  test("is passed over: the router asks another one, and only that one is billed", async () => {
    const simulator = open();
    simulator.fault({ kind: "rate limited", host: "Novita" });
    const members = { provider: { order: ["Novita", "Together"] } };
    expect((await ask(simulator, { members })).provider).toBe("Together");
    expect((await ask(simulator, { members })).provider).toBe("Novita");
    expect(
      simulator.calls().map(({ status, fault, billed }) => [status, fault, billed?.host]),
    ).toEqual([
      [200, "rate limited at Novita", "Together"],
      [200, null, "Novita"],
    ]);
  });

  test.each([
    ["rate limited", 429],
    ["server error", 502],
    ["overloaded", 503],
  ] as const)("and without others %s is the router's %i", async (kind, status) => {
    const simulator = open();
    simulator.fault({ kind, host: "Novita" });
    const members = { provider: { order: ["Novita"], allow_fallbacks: false } };
    expect(await ask(simulator, { members })).toMatchObject({
      status,
      error: {
        code: status,
        message: "Provider returned error",
        metadata: { provider_name: "Novita" },
      },
    });
    expect(simulator.calls()[0]?.billed).toBe(null);
  });

  test("breaks no stream: such a fault is refused when it is written", () => {
    expect(() => open().fault({ kind: "cut", host: "Novita" })).toThrow(
      'faults[0].host: "cut" breaks an answer, and a host that fails gives none',
    );
  });
});

describe("the bill", () => {
  test("names the cost, what was read and what was written; another host reads nothing", async () => {
    const simulator = open();
    const first = await ask(simulator, { model: claude, isMarked: true, ...askedOf("Anthropic") });
    const second = await ask(simulator, { model: claude, isMarked: true, ...askedOf("Anthropic") });
    const other = await ask(simulator, { model: claude, isMarked: true, ...askedOf("Google") });
    const [one, two, three] = simulator.calls().map(({ billed }) => billed);
    const written = one?.bill.writeTokens["5m"];
    expect(written).toBeGreaterThan(5000);
    expect(detailsOf(first)).toMatchObject({ cached_tokens: 0, cache_write_tokens: written });
    expect(detailsOf(second)).toMatchObject({ cached_tokens: written, cache_write_tokens: 0 });
    expect(detailsOf(other)).toMatchObject({ cached_tokens: 0, cache_write_tokens: written });
    expect([first, second, other].map(({ usage }) => `$${String(usage?.["cost"])}`)).toEqual(
      [one, two, three].map((billed) => billed?.costUsd),
    );
    expect(first.usage).toMatchObject({
      is_byok: false,
      cost_details: { upstream_inference_cost: null },
    });
  });

  test("says nothing of writes where writing has no price", async () => {
    const { usage } = await ask(open());
    expect(usage?.["prompt_tokens_details"]).not.toHaveProperty("cache_write_tokens");
  });

  test("a key without credit is refused; other keys are not", async () => {
    const simulator = open({ openrouter: { ...steady, creditUsd: 0.0001 } });
    expect((await ask(simulator)).status).toBe(200);
    expect((await ask(simulator)).status).toBe(402);
    expect((await ask(simulator, { key: "another" })).status).toBe(200);
  });

  test("a model that has no price here is not served", async () => {
    const { status, error } = await ask(open(), { model: "meta/llama" });
    expect([status, error?.["message"]]).toEqual([400, "meta/llama is not a valid model ID"]);
  });
});

test("Claude gets all system text at the start, so a late one costs the cache", async () => {
  const simulator = open();
  const send = (messages: readonly object[]): Promise<Answer> => {
    const members = { messages, provider: { order: ["Anthropic"] } };
    return ask(simulator, { model: claude, members });
  };
  const mark = { cache_control: { type: "ephemeral" } };
  const user = { role: "user", content: [{ type: "text", text: manual, ...mark }] };
  await send([{ role: "system", content: "Rules." }, user]);
  const late = { role: "system", content: "It is noon." };
  await send([
    { role: "system", content: "Rules." },
    user,
    late,
    { role: "user", content: "Go on." },
  ]);
  expect(simulator.calls().map(({ billed }) => billed?.bill.readTokens)).toEqual([0, 0]);
});

test("a stream begins with a comment, names the host in every chunk and ends with the usage", async () => {
  const response = await open().fetch("http://localhost/api/v1/chat/completions", {
    method: "POST",
    headers: { authorization: "Bearer key" },
    body: JSON.stringify({
      model: deepseek,
      stream: true,
      provider: { order: ["Novita"] },
      messages: [{ role: "user", content: "Hello?" }],
    }),
  });
  const events = (await response.text()).trimEnd().split("\n\n");
  expect(events[0]).toBe(": OPENROUTER PROCESSING");
  expect(events.at(-1)).toBe("data: [DONE]");
  const chunks = events.slice(1, -1).map((event) => JSON.parse(event.slice(6)) as Answer);
  expect(new Set(chunks.map(({ provider }) => provider))).toEqual(new Set(["Novita"]));
  expect(chunks.flatMap(({ usage }) => (usage === undefined ? [] : [usage]))).toMatchObject([
    { prompt_tokens: 10 },
  ]);
});

test("the hosts of a model are listed with what they charge, and its models as the router names them", async () => {
  const { data } = (await get("")) as { readonly data: readonly { readonly id: string }[] };
  expect(data.map(({ id }) => id)).toEqual(expect.arrayContaining([claude, deepseek]));
  expect(await get(`/${claude}/endpoints`)).toMatchObject({
    data: {
      id: claude,
      endpoints: [
        {
          provider_name: "Anthropic",
          supports_implicit_caching: false,
          pricing: {
            prompt: "0.000002",
            completion: "0.00001",
            input_cache_read: "0.0000001",
            input_cache_write: "0.0000025",
            input_cache_write_1h: "0.000004",
          },
        },
        { provider_name: "Amazon Bedrock" },
        { provider_name: "Google" },
      ],
    },
  });
  expect(await get("/meta/llama/endpoints")).toEqual({
    error: { message: "Model not found", code: 404 },
  });
});

function askedOf(host: string): Asked {
  return { members: { provider: { order: [host] } } };
}

function detailsOf({ usage }: Answer): unknown {
  return usage?.["prompt_tokens_details"];
}

async function get(path: string): Promise<unknown> {
  const url = `http://localhost/api/v1/models${path}`;
  const response = await open().fetch(url, { headers: { authorization: "Bearer key" } });
  return response.json();
}
