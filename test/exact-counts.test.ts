// Goal: with exact counts a plan's tokens are the bill's, bucket by bucket. Method: ask the simulator's
// count_tokens for every boundary a plan may use, plan with those counts, send, and compare.
import { describe, expect, test } from "vitest";
import { createRandom, type Random } from "../harness/random-message.ts";
import { assemble, type Assembly } from "../src/core/assembly/assemble.ts";
import { buildFoundation } from "../src/core/assembly/foundation.ts";
import type { BlockList } from "../src/core/assembly/prompt-block.ts";
import { appendMessages, openThread } from "../src/core/assembly/thread.ts";
import { openCacheState } from "../src/core/cache/cache-state.ts";
import { learnFromReply } from "../src/core/cache/learn-from-reply.ts";
import { learnPace, openPace } from "../src/core/cache/pace.ts";
import { planCache } from "../src/core/cache/plan-cache.ts";
import { findPolicy } from "../src/core/cache/policies.ts";
import type { Message } from "../src/core/message/message.ts";
import { promptTokens } from "../src/core/message/usage.ts";
import { toToolDefinition } from "../src/core/message/tool-definition.ts";
import { resolveModel } from "../src/core/models/resolve-model.ts";
import { lengthCounter } from "../src/core/tokens/token-counter.ts";
import { anthropicMessages } from "../src/core/wire/anthropic-messages/index.ts";
import { bodyText } from "../src/core/wire/encoded-request.ts";
import { createScripted, createSimulator, type Simulator } from "../src/simulator/index.ts";

const { facts } = resolveModel("claude-sonnet-4-6");
const sessionCount = 25;
const callCount = 8;

describe.each(["adaptive", "tail-5m", "tail-1h", "system-only", "none"])("policy %s", (name) => {
  test("expects exactly the tokens that are billed", async () => {
    const random = createRandom(31);
    const calls: Compared[] = [];
    for (let session = 0; session < sessionCount; session += 1) {
      calls.push(...(await runSession(name, random, `${session}`)));
    }
    expect(calls.map(({ expected }) => expected)).toEqual(calls.map(({ billed }) => billed));
    expect(calls).toHaveLength(sessionCount * callCount);
  }, 60_000);
});

interface Compared {
  readonly expected: Buckets;
  readonly billed: Buckets;
}

/** Read, written for 5m and for 1h, uncached, all together. */
type Buckets = readonly number[];

async function runSession(name: string, random: Random, id: string): Promise<Compared[]> {
  const compared: Compared[] = [];
  const { layout, markers } = findPolicy(name);
  const model = createScripted([{ text: "I looked, and it is as you say.", times: "always" }]);
  const simulator = createSimulator({ seed: 1, clock: "virtual", model });
  const count = await openCount(simulator);
  const tools = [
    toToolDefinition({ name: "look", description: "Looks.", inputSchema: { type: "object" } }),
  ];
  const text = `Session ${id}. ${"Be careful. ".repeat(400 + Math.floor(random() * 800))}`;
  const system = [{ label: "static", tier: "T1" as const, text }];
  const spelling = anthropicMessages.spelling(facts);
  let thread = openThread(
    buildFoundation({ tools, system, spelling, counter: lengthCounter, model: facts }),
  );
  let [state, pace] = [openCacheState(), openPace("human")];
  let current: readonly Message[] = [{ role: "user", content: [{ type: "text", text: "Begin." }] }];
  for (let call = 0; call < callCount; call += 1) {
    const gapMs = random() < 0.7 ? random() * 250_000 : random() * 4_000_000;
    await simulator.clock.advance(Math.floor(gapMs));
    const now = simulator.clock.now();
    const assembly = assemble({
      thread,
      current,
      volatile: `It is ${now}.`,
      layout,
      model: facts,
    });
    const exact = await count.blocks(assembly);
    const blocks = { length: assembly.blocks.length, at: exact.at };
    const plan = planCache({
      blocks,
      rules: facts,
      markers,
      state,
      pace,
      now,
      promptTokens: exact.total,
    });
    const options = { outputTokensMax: 100, stream: false };
    const request = anthropicMessages.encode({ assembly, plan, model: facts, options });
    const answer = anthropicMessages.decode(
      await post(simulator, "/v1/messages", bodyText(request.pieces)),
    );
    if (answer.kind !== "reply") throw new Error(answer.detail);
    const { usage } = answer.usage;
    const { readTokens, writeTokens, uncachedTokens } = plan.expected;
    const written = usage.cacheWriteTokens;
    compared.push({
      expected: [
        readTokens,
        writeTokens["5m"] ?? 0,
        writeTokens["1h"] ?? 0,
        uncachedTokens,
        exact.total,
      ],
      billed: [
        usage.cacheReadTokens,
        written["5m"] ?? 0,
        written["1h"] ?? 0,
        usage.uncachedTokens,
        promptTokens(usage),
      ],
    });
    state = learnFromReply({
      state,
      plan,
      blocks,
      rules: facts.cache,
      usage,
      reportsCache: true,
      startMs: now,
    }).state;
    if (call > 0) pace = learnPace(pace, gapMs);
    thread = appendMessages(assembly.thread, [answer.message]);
    current = [question(random), question(random)];
  }
  return compared;
}

function question(random: Random): Message {
  const text = "look here and there again. ".repeat(1 + Math.floor(random() * 200));
  return { role: "user", content: [{ type: "text", text }] };
}

interface Count {
  blocks(assembly: Assembly): Promise<{ readonly at: BlockList["at"]; readonly total: number }>;
}

/** Counts prefixes by asking for requests that end there. What a prefix lacks to be one is subtracted. */
async function openCount(simulator: Simulator): Promise<Count> {
  const ask = async (body: Body): Promise<number> => {
    const json = JSON.stringify({ ...body, model: facts.id });
    const told = JSON.parse(await post(simulator, "/v1/messages/count_tokens", json)) as {
      input_tokens: number;
    };
    return told.input_tokens;
  };
  const user = { role: "user", content: "x" };
  const one = await ask({ messages: [user] });
  const three = await ask({ messages: [user, { role: "assistant", content: "x" }, user] });
  const message = (three - one) / 2;
  const opening = one - message;
  return {
    blocks: async (assembly) => {
      const body = JSON.parse(bodyText(encodePlain(assembly))) as FullBody;
      const { tools, system, messages } = body;
      const ends = [...tools, ...system].map(() => 0);
      ends[ends.length - 1] = (await ask({ tools, system, messages: [user] })) - one;
      for (const [index, { role, content }] of messages.entries()) {
        for (const [place] of content.entries()) {
          const sent = [
            ...messages.slice(0, index),
            { role, content: content.slice(0, place + 1) },
          ];
          // A prompt ends with a user's message: one is added where it does not, and taken off again.
          const isWhole = role === "user";
          const told = await ask({ tools, system, messages: isWhole ? sent : [...sent, user] });
          ends.push(told - opening - (isWhole ? 0 : message));
        }
      }
      const at: BlockList["at"] = (block) => {
        const found = assembly.blocks.at(block);
        return found && { ...found, endTokens: ends[block] ?? 0 };
      };
      return { at, total: await ask({ tools, system, messages }) };
    },
  };
}

interface Body {
  readonly tools?: readonly unknown[];
  readonly system?: readonly unknown[];
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
}

interface FullBody {
  readonly tools: readonly unknown[];
  readonly system: readonly unknown[];
  readonly messages: readonly {
    readonly role: string;
    readonly content: readonly Readonly<Record<string, unknown>>[];
  }[];
}

function encodePlain(assembly: Assembly): readonly Uint8Array[] {
  const plan = planCache({
    blocks: assembly.blocks,
    rules: facts,
    markers: findPolicy("none").markers,
    state: openCacheState(),
    pace: openPace("human"),
    now: 0,
  });
  const options = { outputTokensMax: 100, stream: false };
  return anthropicMessages.encode({ assembly, plan, model: facts, options }).pieces;
}

async function post(simulator: Simulator, path: string, body: string): Promise<string> {
  const headers = { "x-api-key": "any", "anthropic-version": "2023-06-01" };
  const response = await simulator.fetch(`http://localhost${path}`, {
    method: "POST",
    headers,
    body,
  });
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return text;
}
