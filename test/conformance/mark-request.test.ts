// Goal: one call marks a raw request of any client. Method: bodies as people write them, and a simulator that bills them.
import { expect, test } from "vitest";
import { plantedKey } from "../../harness/planted-key.ts";
import { findPolicy, markRequest, openCacheState, resolveModel } from "../../src/core-index.ts";
import { createSimulator } from "../../src/simulator/index.ts";

const manual = "Every answer names the file and the line it speaks of. ".repeat(300);
const short = { type: "ephemeral" };

const messagesBody = {
  model: "claude-sonnet-4-6",
  max_tokens: 100,
  tools: [{ name: "look", description: "Looks.", input_schema: { type: "object" } }],
  system: manual,
  messages: [{ role: "user", content: "Why is CI red?" }],
};

test("H-04: a plain system text and a plain message are wrapped and marked, and the given body stays as it was", () => {
  const before = structuredClone(messagesBody);
  const { body, plan } = markRequest(messagesBody, { policy: findPolicy("last-n") });
  expect(body).toEqual({
    ...messagesBody,
    system: [{ type: "text", text: manual, cache_control: short }],
    messages: [
      {
        role: "user",
        content: [{ type: "text", text: "Why is CI red?", cache_control: short }],
      },
    ],
  });
  expect(plan.markers).toHaveLength(2);
  expect(messagesBody).toEqual(before);
});

test("H-04: markers that are there stay and count, and marking twice changes nothing", () => {
  const tools = messagesBody.tools.map((tool) => ({ ...tool, cache_control: short }));
  const talk = Array.from({ length: 8 }, (_, index) => ({
    role: index % 2 === 0 ? "user" : "assistant",
    content: `Message ${index}: ${manual}`,
  }));
  const given = { ...messagesBody, tools, messages: [...talk, ...messagesBody.messages] };
  const { body, plan } = markRequest(given, { policy: findPolicy("last-n") });
  expect(plan.markers.map(({ slot }) => slot)).toEqual(["present", "rule", "rule", "rule"]);
  expect(JSON.stringify(body).match(/cache_control/g)).toHaveLength(4);
  expect(body.tools).toEqual(given.tools);
  expect(markRequest(body, { policy: findPolicy("last-n") }).body).toEqual(body);
});

test("H-04: a request of the Responses API is marked as its models want it; an automatic one gets a key, unless it has one", () => {
  const body = { model: "gpt-5.6-sol", input: manual };
  const marked = markRequest(body, { policy: findPolicy("tail-5m") }).body;
  expect(marked).toMatchObject({
    input: [
      {
        role: "user",
        content: [
          { type: "input_text", text: manual, prompt_cache_breakpoint: { mode: "explicit" } },
        ],
      },
    ],
  });
  const messages = [
    { role: "system", content: manual },
    { role: "user", content: "Hello." },
  ];
  const plain = { model: "gpt-5.5", messages };
  expect(markRequest(plain).body).toEqual({
    ...plain,
    prompt_cache_key: expect.stringMatching(/^strata-/),
  });
  const keyed = { ...plain, prompt_cache_key: "mine" };
  expect(markRequest(keyed).body).toEqual(keyed);
});

test("H-04: Claude behind Chat Completions gets cache_control on parts", () => {
  const model = resolveModel("openrouter/claude-sonnet-4-6").facts;
  const given = {
    model: "anthropic/claude-sonnet-4.6",
    messages: [
      { role: "system", content: manual },
      { role: "user", content: "Hello." },
    ],
  };
  const { body } = markRequest(given, { model, policy: findPolicy("last-n") });
  expect(body.messages[0]).toEqual({
    role: "system",
    content: [{ type: "text", text: manual, cache_control: short }],
  });
});

test("what is no request, or names no known model, is refused", () => {
  expect(() => markRequest({ hello: 1 })).toThrow("not a request that Strata can read");
  expect(() => markRequest({ ...messagesBody, model: "claude-9" })).toThrow("claude-9");
});

test("what earlier calls taught is refused without the current time", () => {
  const state = openCacheState();
  expect(() => markRequest(messagesBody, { state })).toThrow(
    expect.objectContaining({
      code: "input-invalid",
      message: "`state` is given without the current time",
    }),
  );
  const { body } = markRequest(messagesBody, { state, nowMs: 1_700_000_000_000 });
  expect(body).toEqual(markRequest(messagesBody).body);
});

test("a raw request that was marked is read from the cache the second time", async () => {
  const simulator = createSimulator({ seed: 1, clock: "virtual" });
  const { body } = markRequest(messagesBody);
  const post = async (): Promise<unknown> => {
    const answer = await simulator.fetch("http://localhost/v1/messages", {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "x-api-key": plantedKey,
        "anthropic-version": "2023-06-01",
      },
      body: JSON.stringify(body),
    });
    return answer.json();
  };
  expect(await post()).toMatchObject({ usage: { cache_read_input_tokens: 0 } });
  expect(await post()).toSatisfy(
    ({ usage }) => usage.cache_read_input_tokens > 3000 && usage.cache_creation_input_tokens === 0,
  );
});
