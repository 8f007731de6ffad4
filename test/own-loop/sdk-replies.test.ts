// Goal: whatever the official SDKs give or throw can be recorded as it is. Method: they call the simulator with what was
// prepared, whole and as streams, with faults.
import Anthropic, {
  APIConnectionTimeoutError as AnthropicTimeout,
  APIUserAbortError as AnthropicAbort,
} from "@anthropic-ai/sdk";
import OpenAI, {
  APIConnectionTimeoutError as OpenaiTimeout,
  APIUserAbortError as OpenaiAbort,
} from "openai";
import { describe, expect, test } from "vitest";
import { plantedKey, plantedOpenaiKey } from "../../harness/planted-key.ts";
import { anthropicMessages } from "../../src/core/wire/anthropic-messages/index.ts";
import { openaiChat } from "../../src/core/wire/openai/chat/index.ts";
import { openaiResponses } from "../../src/core/wire/openai/responses/index.ts";
import type { StreamPart } from "../../src/core/wire/reply.ts";
import type { OwnCall } from "../../src/engine/own-loop/own-call.ts";
import { openWorld, script, type World, type WorldOptions } from "./test-kit.ts";

type Send = (world: World, call: OwnCall) => Promise<object>;

function anthropic({ simulator }: World): Anthropic {
  const { fetch } = simulator;
  return new Anthropic({ apiKey: plantedKey, baseURL: "http://localhost", fetch, maxRetries: 0 });
}

function openai({ simulator }: World): OpenAI {
  const { fetch } = simulator;
  return new OpenAI({
    apiKey: plantedOpenaiKey,
    baseURL: "http://localhost/v1",
    fetch,
    maxRetries: 0,
  });
}

const gpt = { model: "gpt-6.1-sol" };
const streaming = { stream: true, outputTokensMax: 500 };
const whole = { stream: false, outputTokensMax: 500 };

const ways: readonly (readonly [name: string, options: WorldOptions, send: Send])[] = [
  [
    "a message",
    {},
    (world, call) =>
      anthropic(world).messages.create(
        { ...call.toObject(anthropicMessages), stream: false },
        { headers: call.headers },
      ),
  ],
  [
    "the events of a message",
    { config: { options: streaming } },
    (world, call) =>
      anthropic(world).messages.create({ ...call.toObject(anthropicMessages), stream: true }),
  ],
  [
    "the final message of a stream",
    { config: { options: streaming } },
    (world, call) =>
      anthropic(world).messages.stream(call.toObject(anthropicMessages)).finalMessage(),
  ],
  [
    "a completion",
    { protocol: openaiChat, config: { ...gpt, options: whole } },
    (world, call) =>
      openai(world).chat.completions.create({ ...call.toObject(openaiChat), stream: false }),
  ],
  [
    "the chunks of a completion",
    { protocol: openaiChat, config: { ...gpt, options: streaming } },
    (world, call) =>
      openai(world).chat.completions.create({ ...call.toObject(openaiChat), stream: true }),
  ],
  [
    "a response",
    { protocol: openaiResponses, config: { ...gpt, options: whole } },
    (world, call) =>
      openai(world).responses.create({ ...call.toObject(openaiResponses), stream: false }),
  ],
  [
    "a response as it is parsed",
    { protocol: openaiResponses, config: { ...gpt, options: whole } },
    (world, call) =>
      openai(world).responses.parse({ ...call.toObject(openaiResponses), stream: false }),
  ],
  [
    "the events of a response",
    { protocol: openaiResponses, config: { ...gpt, options: streaming } },
    (world, call) =>
      openai(world).responses.create({ ...call.toObject(openaiResponses), stream: true }),
  ],
];

describe.each(ways)("an application that records %s", (_name, options, send) => {
  test("goes through a tool to the end of the turn", async () => {
    const world = await openWorld({ script, ...options });
    const session = await world.engine.open();
    const first = await session.prepare("Why is CI red?");
    const asked = await session.record(first, await send(world, first));
    expect(asked.toolUses).toMatchObject([{ name: "look", inputJson: '{"path":"ci.yml"}' }]);
    const toolUseId = asked.toolUses[0]?.id ?? "";
    const next = await session.prepare([{ toolUseId, content: "red: line 3" }]);
    expect(JSON.stringify(next.toObject())).not.toContain("parsed");
    const done = await session.record(next, await send(world, next));
    expect(done.run?.end).toBe("done");
    expect(done.entry.usage?.cacheReadTokens).toBeGreaterThan(1024);
    expect(JSON.stringify(done.entry.reply)).toContain("because of line 3");
  });

  test("records what is thrown as what it is", async () => {
    const world = await openWorld(options);
    const session = await world.engine.open();
    world.simulator.fault({ kind: "rate limited", retryAfterSeconds: 7 });
    const call = await session.prepare("Why is CI red?");
    const thrown = await send(world, call).catch((error: unknown) => error as Error);
    const { run, entry } = await session.record(call, thrown);
    expect(run?.end).toBe("failed");
    expect(entry.failure).toMatchObject({ kind: "rate-limited", retryAfterMs: 7000 });
  });
});

test("a stream is told of as it comes, and kept as far as it came", async () => {
  const world = await openWorld({
    script: [{ text: "It is red because of line 3. ".repeat(20) }],
    config: { options: streaming },
  });
  const session = await world.engine.open();
  world.simulator.fault({ kind: "cut", afterEvents: 6 });
  const call = await session.prepare("Why is CI red?");
  const body = { ...call.toObject(anthropicMessages), stream: true as const };
  const parts: StreamPart[] = [];
  const { run, entry } = await session.record(call, await anthropic(world).messages.create(body), {
    onPart: (part) => parts.push(part),
  });
  expect(parts[0]).toEqual({ type: "text", text: expect.any(String) });
  expect([run?.end, entry.status, entry.failure?.kind]).toEqual([
    "failed",
    "partial",
    "unreachable",
  ]);
});

test.each([
  ["aborted", new AnthropicAbort(), "cancelled", "cancelled"],
  ["aborted by openai", new OpenaiAbort(), "cancelled", "cancelled"],
  ["out of time", new AnthropicTimeout(), "timeout", "failed"],
  ["out of time by openai", new OpenaiTimeout(), "timeout", "failed"],
  ["unconnected", new TypeError("fetch failed"), "unreachable", "failed"],
] as const)("an application that is %s says so", async (_name, error, kind, end) => {
  const { engine } = await openWorld();
  const session = await engine.open();
  const { run, entry } = await session.record(await session.prepare("Hello."), error);
  expect([entry.failure?.kind, run?.end]).toEqual([kind, end]);
});

test("a key in what is thrown does not reach the ledger", async () => {
  const { engine } = await openWorld();
  const session = await engine.open();
  const call = await session.prepare("Hello.");
  const error = new Error(`connect failed for ${plantedKey}`);
  const { entry } = await session.record(call, error);
  expect(entry.failure?.detail).toBe("connect failed for [redacted]");
});

test("an object for another protocol than the call's is refused", async () => {
  const world = await openWorld({});
  const session = await world.engine.open();
  const call = await session.prepare("Why is CI red?");
  expect(() => call.toObject(openaiChat)).toThrow(
    "this call is of the protocol anthropic-messages, not of openai-chat",
  );
});
