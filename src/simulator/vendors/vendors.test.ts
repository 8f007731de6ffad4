// Goal: each vendor refuses, counts and keeps as the real one does. Method: plain requests, on a clock of the test.
import { describe, expect, test } from "vitest";
import { createEcho } from "../behaviours/echo.ts";
import { createSimulator, type Simulator, type SimulatorOptions } from "../simulator.ts";

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

const manual = "Every answer names the file and the line it speaks of. ".repeat(400);
const paths: Readonly<Record<string, string>> = {
  qwen: "/compatible-mode/v1",
  zai: "/api/paas/v4",
  groq: "/openai/v1",
};

function open(options: SimulatorOptions = {}): Simulator {
  return createSimulator({ seed: 1, clock: "virtual", model: createEcho(), ...options });
}

async function post(simulator: Simulator, vendor: string, body: object): Promise<Answer> {
  const path = `/vendors/${vendor}${paths[vendor] ?? "/v1"}/chat/completions`;
  const response = await simulator.fetch(`http://localhost${path}`, {
    method: "POST",
    headers: { authorization: "Bearer key" },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Answer["body"] };
}

/** One after another; a number is a pause in seconds. Gives what each read. */
async function readsOf(
  simulator: Simulator,
  vendor: string,
  model: string,
  steps: readonly (string | number)[],
): Promise<readonly number[]> {
  for (const step of steps) {
    if (typeof step === "number") await simulator.clock.advance(step * 1000);
    else {
      const messages = step.split("|").map((text, index) => ({
        role: index === 0 ? "system" : index % 2 === 1 ? "user" : "assistant",
        content: index === 0 ? `${text}${manual}` : text,
      }));
      await post(simulator, vendor, { model, messages });
    }
  }
  return simulator.calls().map(({ billed }) => billed?.bill.readTokens ?? -1);
}

describe("what a vendor keeps", () => {
  test("DeepSeek reads whole units: two requests that differ both miss, the third reads what they share", async () => {
    const reads = await readsOf(open(), "deepseek", "deepseek-flash", ["A|b", "A|c", "A|d"]);
    expect(reads[0]).toBe(0);
    expect(reads[1]).toBe(0);
    expect(reads[2]).toBeGreaterThan(4000);
  });

  test("DeepSeek reads a whole input when the conversation goes on, for an hour", async () => {
    const steps = ["A|b", 3599, "A|b|yes|c", 3601, "A|b|yes|c|yes|d"];
    const [first, second, third] = await readsOf(open(), "deepseek", "deepseek-flash", steps);
    expect([first, third]).toEqual([0, 0]);
    expect(second).toBeGreaterThan(4000);
  });

  test("xAI reads up to the end of a message, in blocks of 128 tokens", async () => {
    const [, second = 0] = await readsOf(open(), "xai", "grok-4.7", ["A|b", "A|c"]);
    expect(second).toBeGreaterThan(4000);
    expect(second % 128).toBe(0);
  });

  test("Mistral reads part of a message, in blocks of 64 tokens", async () => {
    const simulator = open();
    const ask = (end: string): Promise<Answer> =>
      post(simulator, "mistral", {
        model: "mistral-large-4",
        messages: [{ role: "user", content: `${manual}${end}` }],
      });
    await ask("one");
    const { body } = await ask("two");
    const { num_cached_tokens: read } = body["usage"] as { readonly num_cached_tokens: number };
    expect(read).toBeGreaterThan(4000);
    expect(read % 64).toBe(0);
  });

  test("Groq keeps a prefix for two idle hours", async () => {
    const steps = ["A|b", 7199, "A|c", 7199, "A|d", 7201, "A|e"];
    const reads = await readsOf(open(), "groq", "llama", steps);
    expect(reads.map((read) => read > 0)).toEqual([false, true, true, false]);
  });

  test("a server with one slot forgets a prompt for another; vLLM keeps both", async () => {
    const steps = ["A|b", "A|b|yes|c", "Z|b", "A|b|yes|c|yes|d"];
    const slot = await readsOf(open(), "llama.cpp", "gemma", steps);
    expect(slot.map((read) => read > 0)).toEqual([false, true, false, false]);
    const blocks = await readsOf(open(), "vllm", "gemma", steps);
    expect(blocks.map((read) => read > 0)).toEqual([false, true, false, true]);
    expect(blocks.every((read) => read % 16 === 0)).toBe(true);
  });
});

test("DeepSeek costs half outside its peak hours", async () => {
  const peak = await costAt("2026-11-18T02:00:00Z");
  expect(await costAt("2026-11-18T05:00:00Z")).toBeCloseTo(peak / 2, 12);
  expect(await costAt("2026-11-21T02:00:00Z")).toBeCloseTo(peak / 2, 12);
});

describe("what a vendor refuses", () => {
  const user = { role: "user", content: "Hello?" };
  const developer = { role: "developer", content: "Rules." };
  const schema = {
    response_format: { type: "json_schema", json_schema: { name: "a", schema: {} } },
  };

  test.each<readonly [string, string, object, number, string]>([
    [
      "deepseek",
      "deepseek-flash",
      { messages: [developer, user] },
      400,
      "unknown variant `developer`",
    ],
    [
      "deepseek",
      "deepseek-flash",
      { messages: [user, call("call_1"), result("call_1")] },
      400,
      "`reasoning_content` in the thinking mode must be passed back",
    ],
    ["deepseek", "deepseek-flash", { messages: [user], ...schema }, 400, "unavailable now"],
    [
      "moonshot",
      "kimi-k3",
      { messages: [user, call("call_1"), result("call_1")] },
      400,
      "missing in assistant tool call message at index 1",
    ],
    [
      "mistral",
      "mistral-large-4",
      { messages: [user], stream_options: { include_usage: true } },
      422,
      '"loc":["body","stream_options"]',
    ],
    [
      "mistral",
      "mistral-large-4",
      { messages: [user, call("call_1"), result("call_1")] },
      400,
      "must be a-z, A-Z, 0-9, with a length of 9",
    ],
    [
      "mistral",
      "mistral-large-4",
      { messages: [user, call("D681PevKs"), result("D681PevKs"), user] },
      400,
      "Unexpected role 'user' after role 'tool'",
    ],
    ["xai", "grok-4.7", { messages: [user], reasoning_effort: "high" }, 400, "reasoningEffort"],
    ["zai", "glm-5.3", { messages: [user], ...schema }, 400, '"code":"1210"'],
    ["ollama", "qwen3:8b", { messages: [developer, user] }, 400, 'invalid role: \\"developer\\"'],
    ["vllm", "gemma", { messages: [user], max_completion_tokens: 8 }, 400, "BadRequestError"],
    ["llama.cpp", "gemma", { messages: [developer, user] }, 500, "Jinja Exception"],
    [
      "llama.cpp",
      "gemma",
      { messages: [{ role: "user", content: [{ type: "text", text: "Hello?" }] }] },
      500,
      "type must be string, but is array",
    ],
    ["deepseek", "gpt-6.1-sol", { messages: [user] }, 404, "does not exist"],
    ["lm-studio", "gemma", { messages: [developer, user] }, 400, '{"error":"Failed to deserialize'],
  ])("%s refuses it for %s: %j", async (vendor, model, members, status, words) => {
    const answer = await post(open(), vendor, { model, ...members });
    expect(answer.status).toBe(status);
    expect(JSON.stringify(answer.body)).toContain(words);
  });

  test("thinking that is sent back, or switched off, is taken", async () => {
    const said = { ...call("call_1"), reasoning_content: "I look." };
    const messages = [user, said, result("call_1")];
    const model = "deepseek-flash";
    expect((await post(open(), "deepseek", { model, messages })).status).toBe(200);
    const plain = { model, messages: [user, call("call_1"), result("call_1")] };
    const off = { ...plain, thinking: { type: "disabled" } };
    expect((await post(open(), "deepseek", off)).status).toBe(200);
  });
});

describe("a server of one's own", () => {
  const asked = { model: "gemma", messages: [{ role: "user", content: manual }] };

  test("says how long it read what was not in its slot, and costs nothing", async () => {
    const local = { prefillTokensPerSecond: 500, outputTokensPerSecond: 10 };
    const simulator = open({ local });
    const { body } = await post(simulator, "llama.cpp", asked);
    const { billed } = simulator.calls()[0] ?? {};
    const tokens = billed?.bill.totalTokens ?? 0;
    const output = billed?.outputTokens ?? 0;
    expect(body["timings"]).toEqual({
      cache_n: 0,
      prompt_n: tokens,
      prompt_ms: tokens * 2,
      predicted_n: output,
      predicted_ms: output * 100,
    });
    expect(billed?.costUsd).toBe("$0");
  });

  test("takes its time where that is asked for", async () => {
    const simulator = open({ local: { prefillTokensPerSecond: 1000, waits: true } });
    let isThere = false;
    const answer = post(simulator, "ollama", asked).then((said) => {
      isThere = true;
      return said;
    });
    await simulator.clock.advance(1000);
    expect(isThere).toBe(false);
    await simulator.clock.advance(60_000);
    expect((await answer).status).toBe(200);
  });

  test("vLLM counts what it had only where it was started so", async () => {
    const plain = await post(open(), "vllm", asked);
    expect(plain.body["usage"]).not.toHaveProperty("prompt_tokens_details");
    const told = await post(open({ local: { promptTokensDetails: true } }), "vllm", asked);
    expect(told.body["usage"]).toHaveProperty("prompt_tokens_details", { cached_tokens: 0 });
  });
});

test("an unknown path of a vendor is refused in its own form", async () => {
  const response = await open().fetch("http://localhost/vendors/zai/nothing", { method: "POST" });
  expect([response.status, await response.json()]).toEqual([
    404,
    { error: { code: "1211", message: "Not found: POST /vendors/zai/nothing" } },
  ]);
});

function call(id: string): object {
  return {
    role: "assistant",
    content: null,
    tool_calls: [{ id, type: "function", function: { name: "look", arguments: "{}" } }],
  };
}

function result(id: string): object {
  return { role: "tool", tool_call_id: id, content: "It is." };
}

async function costAt(time: string): Promise<number> {
  const simulator = open({ clock: { virtualStartMs: Date.parse(time) } });
  await readsOf(simulator, "deepseek", "deepseek-flash", ["A|b"]);
  return Number(simulator.calls()[0]?.billed?.costUsd?.slice(1));
}
