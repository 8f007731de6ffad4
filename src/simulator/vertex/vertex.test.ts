import { expect, test } from "vitest";
import { echo, words } from "../anthropic/test-kit.ts";
import { createSurfaceKit, jsonOf, readToEnd, type Any, type SurfaceKit } from "../test-kit.ts";
import { createVertexSurface } from "./index.ts";

interface Kit extends SurfaceKit {
  readonly post: (method: string, body: unknown, betas?: string) => Any;
}

const place = "/v1/projects/my-project/locations/global/publishers/anthropic/models";

function createKit(): Kit {
  const kit: Kit = Object.assign(createSurfaceKit(createVertexSurface(), echo), {
    post: (method: string, sent: unknown, betas?: string) => {
      const headers = new Map(betas === undefined ? [] : [["anthropic-beta", betas] as const]);
      const path = method.startsWith("/") ? method : `${place}/${method}`;
      const response = kit.handle({ path, bodyText: JSON.stringify(sent), headers });
      const text = readToEnd(response, kit.nowMs);
      const isJson = typeof response.body === "string";
      const { status } = response;
      return { status, headers: response.headers, text, body: isJson ? JSON.parse(text) : null };
    },
  });
  return kit;
}

const body = {
  anthropic_version: "vertex-2023-10-16",
  max_tokens: 100,
  messages: [{ role: "user", content: "hello" }],
};
const model = "claude-sonnet-5-5";

test("a prediction is the message of the model's own API", () => {
  const answer = createKit().post(`${model}:rawPredict`, body);
  expect(answer.status).toBe(200);
  expect(answer.headers["request-id"]).toMatch(/^req_vrtx_/);
  expect(answer.body).toMatchObject({
    id: expect.stringMatching(/^msg_vrtx_/),
    type: "message",
    model,
    content: [{ type: "thinking" }, { type: "text", text: "hello" }],
  });
});

test("a stream is that of the model's own API, whether the body asks for it or only the path", () => {
  for (const sent of [body, { ...body, stream: true }]) {
    const { headers, text } = createKit().post(`${model}:streamRawPredict`, sent);
    expect(headers["content-type"]).toBe("text/event-stream; charset=utf-8");
    expect(text).toMatch(/^event: message_start\n/);
    expect(text).toMatch(/event: message_stop\ndata: \{"type":"message_stop"\}\n\n$/);
  }
});

test("tool uses have ids of this cloud", () => {
  const kit = createKit();
  kit.answer = () => ({
    parts: [{ kind: "tool use", name: "read", inputJson: "{}" }],
    stop: "tool use",
  });
  const tools = [{ name: "read", input_schema: { type: "object" } }];
  expect(
    kit.post(`${model}:rawPredict`, { ...body, max_tokens: 500, tools }).body.content[0].id,
  ).toMatch(/^toolu_vrtx_/);
});

test("a count names its model in the body, and needs no version", () => {
  const kit = createKit();
  const { messages } = body;
  const { input_tokens: billed } = kit.post(`${model}:rawPredict`, body).body.usage;
  expect(kit.post("count-tokens:rawPredict", { model, messages }).body).toEqual({
    input_tokens: billed,
  });
});

test("betas stand in a header, as on the model's own API", () => {
  const kit = createKit();
  const edits = [{ type: "clear_thinking_20251015", keep: "all" }];
  const sent = { ...body, context_management: { edits } };
  expect(kit.post(`${model}:rawPredict`, sent).status).toBe(400);
  const beta = "context-management-2025-06-27";
  expect(kit.post(`${model}:rawPredict`, sent, beta).status).toBe(200);
});

test("a marked prefix is read, and one marker may stand for the whole request", () => {
  const kit = createKit();
  const system = [{ type: "text", text: words(800), cache_control: { type: "ephemeral" } }];
  const usage = (sent: object): Any =>
    kit.post(`${model}:rawPredict`, { ...body, ...sent }).body.usage;
  const first = usage({ system });
  expect(first.cache_creation.ephemeral_5m_input_tokens).toBeGreaterThan(800);
  expect(usage({ system }).cache_read_input_tokens).toBe(first.cache_creation_input_tokens);
  const whole = { cache_control: { type: "ephemeral" }, system: words(900, "other") };
  expect(usage(whole).cache_creation_input_tokens).toBeGreaterThan(900);
});

test("a region costs 10 % more than the global location", () => {
  const kit = createKit();
  const long = { ...body, system: words(2000) };
  const costs = ["global", "us-east5"].map((location) => {
    const path = `/v1/projects/p/locations/${location}/publishers/anthropic/models/${model}:rawPredict`;
    kit.post(path, long);
    return Number(kit.records.at(-1)?.costUsd?.slice(1));
  });
  expect((costs[1] ?? 0) / (costs[0] ?? 1)).toBeCloseTo(1.1, 5);
});

test("an id may carry its day after an at sign, as Google spells it", () => {
  const path = `${encodeURIComponent("claude-sonnet-4-5@20250929")}:rawPredict`;
  expect(createKit().post(path, body).body.model).toBe("claude-sonnet-4-5");
});

test("an unknown model is refused in Google's words", () => {
  const { status, body: refused } = createKit().post("claude-0:rawPredict", body);
  expect(status).toBe(404);
  expect(refused).toEqual({
    error: {
      code: 404,
      status: "NOT_FOUND",
      message: expect.stringMatching(
        /^Publisher Model `projects\/my-project\/locations\/global\/publishers\/anthropic\/models\/claude-0` was not found/,
      ),
    },
  });
});

test.each<[string, object, string]>([
  ["without a version", { anthropic_version: undefined }, "anthropic_version: Field required"],
  ["with a model", { model }, "model: Extra inputs are not permitted"],
  ["with an unknown field", { tempo: 1 }, "tempo: Extra inputs are not permitted"],
  [
    "that asks for diagnostics",
    { diagnostics: { previous_message_id: null } },
    "diagnostics: Extra inputs are not permitted",
  ],
])("a body %s is refused in the words of the model's own API", (_name, change, message) => {
  const { status, body: refused } = createKit().post(`${model}:rawPredict`, { ...body, ...change });
  expect(status).toBe(400);
  expect(refused).toEqual({
    type: "error",
    error: { type: "invalid_request_error", message },
    request_id: expect.stringMatching(/^req_vrtx_/),
  });
});

test("a body that asks for a stream is refused where the path does not stream", () => {
  const { body: refused } = createKit().post(`${model}:rawPredict`, { ...body, stream: true });
  expect(refused.error.message).toMatch(/^stream: true does not fit rawPredict/);
});

test("a request without a token is refused in Google's words", () => {
  const { surface, nowMs } = createKit();
  const request = { method: "POST", path: "", params: {}, bodyText: "", headers: new Map() };
  const result = surface.authenticate(
    { ...request, query: new URLSearchParams() },
    { newId: () => "id", nowMs },
  );
  expect("refusal" in result && result.refusal.status).toBe(401);
  expect("refusal" in result && jsonOf(result.refusal)).toMatchObject({
    error: { code: 401, status: "UNAUTHENTICATED" },
  });
});

test.each([
  ["rate limited", 429, { error: { code: 429, status: "RESOURCE_EXHAUSTED" } }],
  ["server error", 500, { type: "error", error: { type: "api_error" } }],
  ["overloaded", 529, { type: "error", error: { type: "overloaded_error" } }],
  ["model timeout", 504, { type: "error", error: { type: "timeout_error" } }],
] as const)(
  "Google limits the rate, the model's own API fails otherwise: %s",
  (kind, status, expected) => {
    const { surface, nowMs, workspace } = createKit();
    const fault = kind === "rate limited" ? { kind, retryAfterSeconds: 3 } : { kind };
    const response = surface.fault(fault, { newId: () => "id", nowMs, workspace, path: "" });
    expect(response.status).toBe(status);
    expect(jsonOf(response)).toMatchObject(expected);
    expect(response.headers["retry-after"]).toBe(kind === "rate limited" ? "3" : undefined);
  },
);
