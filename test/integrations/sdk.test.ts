// Goal: users of the providers' SDKs get markers and a record by wrapping their client. Method: the SDKs drive the simulator.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import Anthropic, { BadRequestError } from "@anthropic-ai/sdk";
import { AnthropicBedrock } from "@anthropic-ai/bedrock-sdk";
import OpenAI from "openai";
import { expect, onTestFinished, test } from "vitest";
import { plantedKey, plantedOpenaiKey } from "../../harness/planted-key.ts";
import type { ObservedCall } from "../../src/gateway/index.ts";
import {
  openWatchedFetch,
  withStrata,
  type Fetch,
  type WatchedFetch,
  type WatchedFetchOptions,
} from "../../src/integrations/sdk/index.ts";
import { createSimulator, exampleAwsKey } from "../../src/simulator/index.ts";
import { claude, gpt, hello, manual } from "../simulator-clients/serve.ts";

interface Stage {
  /** In the place of the provider: keeps each body. */
  readonly fetch: Fetch;
  readonly bodies: readonly string[];
  readonly calls: readonly ObservedCall[];
  readonly problems: readonly string[];
  readonly watched: WatchedFetch;
}

function openStage(options: WatchedFetchOptions = {}, vendor: string | null = "anthropic"): Stage {
  const simulator = createSimulator({ seed: 1 });
  const [bodies, calls, problems]: [string[], ObservedCall[], string[]] = [[], [], []];
  const watched = openWatchedFetch({
    ...(vendor !== null && { vendor }),
    // Machines that run tests are slow.
    waitMsMax: 30_000,
    onCall: (call) => calls.push(call),
    onProblem: (problem) => problems.push(problem),
    ...options,
  });
  onTestFinished(() => watched.close());
  const fetch: Fetch = async (input, init) => {
    const request = new Request(input, init);
    const body = await request.text();
    bodies.push(body);
    const { pathname, search } = new URL(request.url);
    const { method, headers } = request;
    return simulator.fetch(`http://localhost${pathname}${search}`, { method, headers, body });
  };
  return { fetch, bodies, calls, problems, watched };
}

function anthropic({ fetch, watched }: Stage, baseURL = "http://localhost"): Anthropic {
  const client = new Anthropic({ apiKey: plantedKey, baseURL, fetch, maxRetries: 0 });
  return withStrata(client, watched);
}

/** With a tool: a question without any may stay the only call, and then nothing is worth writing. */
const question = {
  model: claude,
  max_tokens: 100,
  system: manual,
  messages: hello,
  tools: [{ name: "look", input_schema: { type: "object" as const } }],
};

test("a call without markers is sent with ours, and the next one reads what it wrote", async () => {
  const stage = openStage();
  const client = anthropic(stage);
  const first = await client.messages.create(question);
  const { data, response } = await client.messages.create(question).withResponse();
  expect(data.content).toEqual(first.content);
  expect(response.url).toBe("");
  expect(first.usage.cache_creation_input_tokens).toBeGreaterThan(2000);
  expect(data.usage.cache_read_input_tokens).toBe(first.usage.cache_creation_input_tokens);
  await stage.watched.flush();
  expect(stage.calls.map(({ policy, upstream }) => [policy, upstream])).toEqual([
    ["adaptive", "anthropic"],
    ["adaptive", "anthropic"],
  ]);
  expect(stage.calls.map(({ conversation }) => conversation.client)).toEqual([
    "anthropic-sdk",
    "anthropic-sdk",
  ]);
  expect(stage.problems).toEqual([]);
});

test("the client that was wrapped stays as it was", async () => {
  const stage = openStage();
  const { fetch, watched } = stage;
  const client = new Anthropic({ apiKey: plantedKey, baseURL: "http://localhost", fetch });
  withStrata(client, watched);
  await client.messages.create(question);
  await watched.flush();
  expect(stage.bodies).toEqual([JSON.stringify(question)]);
  expect(stage.calls).toEqual([]);
});

async function partsOf(client: Anthropic): Promise<unknown[]> {
  const parts: unknown[] = [];
  for await (const part of client.messages.stream(question)) {
    if (part.type === "content_block_delta") parts.push(part);
  }
  return parts;
}

test("a stream arrives as it does without us, and is recorded when it was read", async () => {
  const stage = openStage();
  const { fetch } = stage;
  const bare = new Anthropic({ apiKey: plantedKey, baseURL: "http://localhost", fetch });
  const parts = await partsOf(bare);
  expect(parts.length).toBeGreaterThan(1);
  expect(await partsOf(anthropic(stage))).toEqual(parts);
  await stage.watched.flush();
  expect(stage.calls).toMatchObject([{ status: "complete", stopReason: "end_turn" }]);
});

test("a stream that its reader leaves is recorded as far as it came", async () => {
  const stage = openStage();
  const begun = { ...stage, fetch: firstHalfOf(stage.fetch) };
  const stream = anthropic(begun).messages.stream(question);
  for await (const part of stream) {
    if (part.type === "content_block_start") break;
  }
  await stage.watched.flush();
  expect(stage.calls).toMatchObject([{ status: "partial", failure: { kind: "cancelled" } }]);
});

/** The rest of its answers never comes. */
function firstHalfOf(fetch: Fetch): Fetch {
  return async (input, init) => {
    const answer = await fetch(input, init);
    const bytes = new Uint8Array(await answer.arrayBuffer());
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(bytes.subarray(0, bytes.length / 2)),
    });
    return new Response(body, answer);
  };
}

test("a refusal and a connection that fails reach the caller as they are", async () => {
  const stage = openStage();
  const client = anthropic(stage);
  const refused = client.messages.create({ ...question, messages: [] });
  await expect(refused).rejects.toThrow(BadRequestError);
  const lost = new Error("the network is gone");
  const { watched } = stage;
  const broken = watched.wrap(() => Promise.reject(lost));
  const body = JSON.stringify(question);
  await expect(broken("http://localhost/v1/messages", { method: "POST", body })).rejects.toBe(lost);
  await watched.flush();
  expect(stage.calls.map(({ status, failure }) => [status, failure?.kind])).toEqual([
    ["failed", "invalid-request"],
    ["failed", "unreachable"],
  ]);
});

test.each([
  [
    "chat completions",
    (client: OpenAI) =>
      client.chat.completions.create({
        model: gpt,
        messages: [
          { role: "developer", content: manual },
          { role: "user", content: "hello" },
        ],
      }),
  ],
  [
    "responses",
    (client: OpenAI) =>
      client.responses.create({ model: gpt, instructions: manual, input: "hello" }),
  ],
] as const)("OpenAI's %s are recorded with their cost", async (_name, ask) => {
  const stage = openStage({}, "openai");
  const { fetch, watched } = stage;
  const baseURL = "http://localhost/v1";
  const client = withStrata(new OpenAI({ apiKey: plantedOpenaiKey, baseURL, fetch }), watched);
  await ask(client);
  await ask(client);
  await watched.flush();
  const [first, second] = stage.calls;
  expect(second?.usage?.cacheReadTokens).toBeGreaterThan(1024);
  expect(second?.costPicoUsd).toBeLessThan(first?.costPicoUsd ?? 0n);
  expect(stage.problems).toEqual([]);
});

test("with a store, calls are in the ledger once the fetch is closed", async () => {
  const folder = mkdtempSync(join(tmpdir(), "strata-sdk-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const store = join(folder, "ledger.db");
  const stage = openStage({ store });
  const client = anthropic(stage);
  await client.messages.create(question);
  await client.messages.create(question);
  await stage.watched.close();
  const rows = new DatabaseSync(store, { readOnly: true });
  onTestFinished(() => rows.close());
  const costs = rows.prepare("select cost_pico_usd from calls").all();
  expect(costs).toEqual(
    stage.calls.map(({ costPicoUsd }) => ({ cost_pico_usd: Number(costPicoUsd) })),
  );
  expect(costs.length).toBe(2);
});

test("a conversation goes on in another process with the same store", async () => {
  const folder = mkdtempSync(join(tmpdir(), "strata-sdk-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const store = join(folder, "ledger.db");
  const before = openStage({ store });
  const first = await anthropic(before).messages.create(question);
  await before.watched.close();
  const after = openStage({ store });
  const messages = [...hello, { role: "assistant" as const, content: first.content }, ...hello];
  await anthropic(after).messages.create({ ...question, messages });
  await after.watched.flush();
  const [one, two] = [...before.calls, ...after.calls].map(({ conversation }) => conversation);
  expect(two).toMatchObject({ id: one?.id, callNumber: 2 });
});

test("after it is closed, and with bodies that are no JSON text, requests pass unseen", async () => {
  const stage = openStage();
  const { watched } = stage;
  const client = anthropic(stage);
  const upload = watched.wrap(stage.fetch);
  const form = new FormData();
  form.set("model", claude);
  await upload("http://localhost/v1/messages", { method: "POST", body: form });
  await watched.close();
  await client.messages.create(question);
  expect(stage.bodies.at(-1)).toBe(JSON.stringify(question));
  expect(stage.calls).toEqual([]);
});

test("a server that is not known as a vendor's gets no markers, unless its vendor is named", async () => {
  const stage = openStage({}, null);
  await anthropic(stage, "http://llm.example.com").messages.create(question);
  await stage.watched.flush();
  expect(stage.bodies).toEqual([JSON.stringify(question)]);
  expect(stage.calls).toMatchObject([{ upstream: "llm.example.com", status: "complete" }]);
  expect(() => openWatchedFetch({ vendor: "antropic" })).toThrow("no vendor is called antropic");
});

test("optimize: false only watches", async () => {
  const stage = openStage({ optimize: false });
  await anthropic(stage).messages.create(question);
  await stage.watched.flush();
  expect(stage.bodies).toEqual([JSON.stringify(question)]);
  expect(stage.calls).toMatchObject([{ status: "complete" }]);
});

test("a Request is watched like an address with a body", async () => {
  const stage = openStage();
  const fetch = stage.watched.wrap(stage.fetch);
  const request = new Request("http://localhost/v1/messages", {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "x-api-key": plantedKey,
      "anthropic-version": "2023-06-01",
    },
    body: JSON.stringify(question),
  });
  expect(await fetch(request)).toMatchObject({ status: 200 });
  await stage.watched.flush();
  expect(stage.bodies[0]).toContain("cache_control");
});

test("a request that is signed is sent as it was signed", async () => {
  const stage = openStage({}, "bedrock");
  const { fetch, watched } = stage;
  const client = withStrata(
    new AnthropicBedrock({
      awsRegion: "us-east-1",
      awsAccessKey: exampleAwsKey.accessKeyId,
      awsSecretKey: exampleAwsKey.secretAccessKey,
      baseURL: "http://localhost",
      fetch,
      maxRetries: 0,
    }),
    watched,
  );
  const model = "us.anthropic.claude-sonnet-4-6";
  const reply = await client.messages.create({ ...question, model });
  expect(reply.usage.input_tokens).toBeGreaterThan(2000);
  expect(stage.bodies[0]).not.toContain("cache_control");
  await watched.flush();
  expect(stage.calls).toMatchObject([{ status: "complete" }]);
});
