// Goal: the five promises that caching stands on (CF-B). Method: random conversations through the real
// spelling of every protocol; what is checked is found in the bytes, not asked of the code that wrote them.
import type { Policy } from "../src/core/cache/policy.ts";
import { execFileSync } from "node:child_process";
import { tmpdir } from "node:os";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { BlockList } from "../src/core/assembly/prompt-block.ts";
import { itemsOf } from "../src/core/growing/growing-list.ts";
import { findPolicy, listPolicies } from "../src/core/cache/policies.ts";
import { toToolDefinition } from "../src/core/message/tool-definition.ts";
import { lifetimes } from "../src/core/message/usage.ts";
import type { CacheRules } from "../src/core/models/cache-rules.ts";
import { deepFreeze } from "../src/core/models/catalogue.ts";
import type { Lookback } from "../src/core/models/marker-rules.ts";
import type { ModelFacts } from "../src/core/models/model-facts.ts";
import { resolveModel } from "../src/core/models/resolve-model.ts";
import type { OfferedTool } from "../src/core/tools/select-tools.ts";
import { anthropicMessages } from "../src/core/wire/anthropic-messages/index.ts";
import { gemini } from "../src/core/wire/gemini/index.ts";
import { bedrockConverse } from "../src/core/wire/bedrock/converse/index.ts";
import { bedrockInvoke } from "../src/core/wire/bedrock/invoke/index.ts";
import { openaiChat } from "../src/core/wire/openai/chat/index.ts";
import { openaiResponses } from "../src/core/wire/openai/responses/index.ts";
import type { Protocol } from "../src/core/wire/protocol.ts";
import { vertexAnthropic } from "../src/core/wire/vertex-anthropic/index.ts";
import { hashBodies } from "./invariants/body-hashes.ts";
import { createBurst, createDialogue, volatileMark } from "./invariants/dialogue.ts";
import { lastMarkerAt, markersIn, withoutMarkers } from "./invariants/markers.ts";
import {
  openFor,
  options,
  sendDialogue,
  sendOne,
  toBytes,
  workspaceRules,
  type SentCall,
  type Setting,
} from "./invariants/send-dialogue.ts";

const seed = fc.integer({ min: 0, max: 2 ** 31 - 1 });
// Short prompts are padded, so that every model keeps something.
const adaptive: Policy = withPadding(findPolicy("adaptive"));

function withPadding(policy: Policy): Policy {
  return { ...policy, layout: { ...policy.layout, padding: "auto" } };
}
const noon = 1_800_000_000_000;

const claudes = [
  "claude-sonnet-4-6",
  "claude-haiku-4-5",
  "bedrock/anthropic.claude-sonnet-4-6",
  "openrouter/anthropic/claude-sonnet-4-6",
];
const gpts = ["gpt-6.1-sol", "gpt-5.5"];
const unbound: readonly (readonly [string, Protocol])[] = [
  ...claudes.map((model) => [model, anthropicMessages] as const),
  ...gpts.map((model) => [model, openaiChat] as const),
  ...gpts.map((model) => [model, openaiResponses] as const),
  ["gemini-3.8-flash", gemini],
  ["bedrock/claude-sonnet-4-6", bedrockConverse],
  ["bedrock/claude-haiku-4-5", bedrockInvoke],
  ["vertex/claude-haiku-4-5", vertexAnthropic],
];
const named = unbound.map(([model, protocol]) => ({
  model: resolveModel(model).facts,
  protocol,
  name: `${model} by ${protocol.name}`,
}));

describe.each(named)("on $name", ({ model, protocol }) => {
  const setting = { model, protocol, policy: adaptive };

  test("1. what was sent up to the tail is sent again, byte for byte at the same place; the rest stands after it", () => {
    const run = fc.property(seed, fc.constantFrom("adaptive", "last-n"), (number, policy) => {
      const dialogue = createDialogue(number, { callsMax: 8, gaps: "any" });
      const calls = sendDialogue(dialogue, { ...setting, policy: findPolicy(policy) });
      for (const [call, next] of neighbours(calls)) expect(isReplayed(call, next)).toBe(true);
      for (const [index, call] of calls.entries()) {
        const bare = withoutMarkers(call.body);
        const end = storedEnd(call);
        const says = (dialogue.calls[index]?.volatile ?? null) !== null;
        expect(lastMarkerAt(call.body)).toBeLessThanOrEqual(end);
        expect(bare.slice(0, end)).not.toContain(volatileMark);
        expect(bare.slice(end).includes(volatileMark)).toBe(says);
      }
    });
    fc.assert(run, { numRuns: 25 });
  });

  test("1. volatile text that is stored with its message is sent again with it", () => {
    const run = fc.property(seed, (number) => {
      const dialogue = createDialogue(number, { callsMax: 8, gaps: "any" });
      const calls = sendDialogue(dialogue, { ...setting, policy: findPolicy("nexus") });
      for (const [call, next] of neighbours(calls)) expect(isReplayed(call, next)).toBe(true);
      for (const call of calls) {
        expect(withoutMarkers(call.body).slice(storedEnd(call))).not.toContain(volatileMark);
      }
    });
    fc.assert(run, { numRuns: 10 });
  });

  test("the same inputs give the same bytes, and encoding changes none of them", () => {
    const run = fc.property(seed, (number) => {
      const dialogue = deepFreeze(createDialogue(number, { callsMax: 5, gaps: "any" }));
      const calls = sendDialogue(dialogue, setting);
      expect(sendDialogue(dialogue, setting).map(({ body }) => body)).toEqual(
        calls.map(({ body }) => body),
      );
      for (const { assembly, plan, body, request } of calls) {
        deepFreeze(assembly);
        deepFreeze(plan);
        const again = protocol.encode({ assembly, plan, model, options });
        // The earlier request, whose pieces are shared, is still what it was.
        expect([toBytes(again), toBytes(request)]).toEqual([body, body]);
        const bare = { ...plan, markers: [], requestMarker: null };
        const unmarked = toBytes(protocol.encode({ assembly, plan: bare, model, options }));
        expect(unmarked).toBe(withoutMarkers(body));
      }
    });
    fc.assert(run, { numRuns: 10 });
  });

  test("3. neither the order of tools, keys, permissions and skills nor time and ids show in tools and system text", () => {
    const names = ["b", "a", "é", "Z", "a b"];
    const tools = names.map((name) => toolWith(name, ["path", "10", "9"]));
    const respelled = names.map((name) => toolWith(name, ["9", "path", "10"]));
    const skills = ["two", "one", "Ten"].map((name) => ({ name, description: name, body: name }));
    const granted = ["read", "write", "Run"];
    const expected = headOf({ ...setting, tools, skills, permissions: granted }, "Hello.", noon);
    const run = fc.property(
      fc.shuffledSubarray(respelled, { minLength: 5 }),
      fc.shuffledSubarray(skills, { minLength: 3 }),
      fc.shuffledSubarray(granted, { minLength: 3 }),
      fc.uuid(),
      fc.nat(),
      (someTools, someSkills, permissions, id, later) => {
        const parts = { tools: someTools, skills: someSkills, permissions };
        expect(headOf({ ...setting, ...parts }, id, noon + later)).toBe(expected);
      },
    );
    fc.assert(run, { numRuns: 20 });
  });
});

describe.each([...named, ...boundModels()])("2. on $name", ({ model, protocol }) => {
  test("the next call looks at where the last one ended, however much was added", () => {
    const run = fc.property(seed, (number) => {
      const dialogue = createDialogue(number, { callsMax: 8, gaps: "soon" });
      const calls = sendDialogue(dialogue, { model, protocol, policy: adaptive });
      for (const [{ assembly, plan }, next] of neighbours(calls)) {
        const end = lastWritten(plan, assembly.blocks, model.cache);
        if (end === null) continue;
        const { blocks } = next.assembly;
        expect(blocks.at(end)?.key).toBe(assembly.blocks.at(end)?.key);
        // A first image, or thinking that is taken out, loses the messages whatever is marked.
        if (losesMessages(assembly.blocks, blocks, model)) continue;
        expect(isInSight(end, next, model.cache.markers?.lookback ?? null)).toBe(true);
        expect(next.plan.expected.hitBlock).toBe(end);
      }
    });
    fc.assert(run, { numRuns: 25 });
  });

  test.each([1, 17, 18, 19, 20, 21, 40, 100])(
    "the next call looks at where the last one ended after %i blocks were said at once",
    (count) => {
      const calls = sendDialogue(createBurst(count), { model, protocol, policy: adaptive });
      for (const [{ assembly, plan }, next] of neighbours(calls)) {
        const end = lastWritten(plan, assembly.blocks, model.cache) ?? -1;
        const isKept = model.cache.markers !== null;
        expect(end > 0).toBe(isKept);
        expect(isInSight(end, next, model.cache.markers?.lookback ?? null)).toBe(isKept);
      }
    },
  );
});

test("3. another process on another clock, language and folder makes the same bytes", () => {
  const program = `
    const { hashBodies } = await import(${JSON.stringify(import.meta.resolve("./invariants/body-hashes.ts"))});
    console.log(JSON.stringify(hashBodies(20261115)));`;
  const here = hashBodies(20_261_115);
  expect(new Set(here).size).toBe(12);
  for (const env of [
    { TZ: "Asia/Kathmandu", LANG: "tr_TR.UTF-8", LC_ALL: "tr_TR.UTF-8" },
    { TZ: "America/St_Johns", LANG: "C", LC_ALL: "C" },
  ]) {
    const printed = execFileSync(process.execPath, ["--input-type=module", "-e", program], {
      cwd: tmpdir(),
      env: { ...process.env, ...env },
      encoding: "utf8",
    });
    expect(JSON.parse(printed)).toEqual(here);
  }
});

describe.each([...named, ...boundModels()])("4. on $name", ({ model, protocol }) => {
  test.each(listPolicies().map((policy) => [policy.name, policy] as const))(
    "%s sets no marker too many, none that lives longer than one before it, none where none can stand",
    (_name, policy) => {
      const run = fc.property(
        seed,
        fc.constantFrom("human", "tool loop", "worker", "cron", "one-shot"),
        (number, pace) => {
          const dialogue = createDialogue(number, { callsMax: 6, gaps: "any" });
          for (const call of sendDialogue(dialogue, { model, protocol, policy, pace })) {
            expect(faultsOf(call, model.cache)).toEqual([]);
          }
        },
      );
      fc.assert(run, { numRuns: 6 });
    },
  );
});

describe.each(boundModels())("5. on $name", ({ model, protocol }) => {
  test.each(listPolicies().map((policy) => [policy.name, policy] as const))(
    "%s never changes a byte that stood before a kept thinking block, whatever volatile text says",
    (_name, policy) => {
      const run = fc.property(seed, (number) => {
        const dialogue = createDialogue(number, { callsMax: 8, gaps: "any" });
        const calls = sendDialogue(dialogue, { model, protocol, policy });
        for (const [call, next] of neighbours(calls)) {
          // The reply was made after everything that was sent.
          const before = conversationOf(call.request.toObject());
          const after = conversationOf(next.request.toObject());
          expect(after.fixed).toBe(before.fixed);
          expect(after.messages.slice(0, before.messages.length)).toEqual(before.messages);
          const sent = withoutMarkers(call.body);
          const upToEnd = sent.slice(0, sent.lastIndexOf("]}"));
          expect(withoutMarkers(next.body).startsWith(upToEnd)).toBe(true);
        }
      });
      fc.assert(run, { numRuns: 10 });
    },
  );
});

/** Thinking is bound to its prefix; with and without system messages among the messages. */
function boundModels(): { model: ModelFacts; protocol: Protocol; name: string }[] {
  const { facts } = resolveModel("claude-opus-5-5");
  const capabilities = { ...facts.capabilities, midConversationSystem: false };
  return [
    { model: facts, protocol: anthropicMessages, name: "claude-opus-5-5" },
    {
      model: { ...facts, capabilities },
      protocol: anthropicMessages,
      name: "claude-opus-5-5 without system messages",
    },
  ];
}

/** The bytes of tools and system text, which are those of the body. */
function headOf(setting: Setting, text: string, now: number): string {
  const { permissions = [] } = setting;
  const context = { role: "unified", workspaceRules, permissions } as const;
  const current = [{ role: "user" as const, content: [{ type: "text" as const, text }] }];
  const volatile = `It is ${now}.`;
  const { assembly, body } = sendOne(openFor({ ...setting, context }), { current, volatile }, now);
  const { toolBytes, systemBytes } = assembly.thread.foundation;
  const bytes = [toolBytes, systemBytes].map((each) =>
    Buffer.from(each.slice(0, each.length)).toString("latin1"),
  );
  for (const each of bytes) expect(withoutMarkers(body)).toContain(each);
  return bytes.join("\n");
}

function neighbours(calls: readonly SentCall[]): (readonly [SentCall, SentCall])[] {
  return calls.slice(1).map((next, index) => [calls[index] ?? next, next] as const);
}

/** Whether what one call stored begins the next one. */
function isReplayed(call: SentCall, next: SentCall): boolean {
  const stored = withoutMarkers(call.body).slice(0, storedEnd(call));
  return withoutMarkers(next.body).startsWith(stored);
}

/** Where in a body without markers the stored messages end. */
function storedEnd({ assembly, body }: SentCall): number {
  const { bytes } = assembly.thread;
  const stored = Buffer.from(bytes.slice(0, bytes.length)).toString("latin1");
  const at = withoutMarkers(body).indexOf(stored);
  expect(at).toBeGreaterThan(0);
  return at + stored.length;
}

/** The block after which the provider keeps the prefix of this call; null where it keeps none. */
function lastWritten(
  { markers, mode }: SentCall["plan"],
  blocks: BlockList,
  rules: CacheRules,
): number | null {
  const own = mode === "implicit" ? endings(blocks)[0] : undefined;
  const last = Math.max(own ?? -1, markers.at(-1)?.block ?? -1);
  const tokens = blocks.at(last)?.endTokens ?? 0;
  return rules.markers === null || tokens < (rules.minimumTokens ?? 0) ? null : last;
}

/** Whether a marker of the call, or the provider by itself, comes upon this block. */
function isInSight(end: number, { plan, assembly }: SentCall, lookback: Lookback | null): boolean {
  const { blocks } = assembly;
  if (lookback?.kind === "boundaries") {
    const looked = endings(blocks).slice(0, lookback.implicitEarlier + 1);
    return looked.includes(end) || plan.markers.some(({ block }) => block === end);
  }
  return plan.markers.some(({ block }) => {
    if (lookback === null || block < end) return false;
    let positions = 1;
    for (let at = block - 1; at >= end; at -= 1) {
      const [kind, after] = [blocks.at(at)?.kind, blocks.at(at + 1)?.kind];
      const isRun = kind === after && (kind === "tool_use" || kind === "tool_result");
      if (!isRun || lookback.counting === "every block") positions += 1;
    }
    return positions <= 20;
  });
}

/** Ends of messages of the user, the latest first; tool results that come together end once. */
function endings(blocks: BlockList): number[] {
  const found: number[] = [];
  for (let at = blocks.length - 1; at >= 0; at -= 1) {
    const block = blocks.at(at);
    const goesOn = block?.kind === "tool_result" && blocks.at(at + 1)?.kind === "tool_result";
    if (block?.role === "user" && block.endsMessage && !goesOn) found.push(at);
  }
  return found;
}

/** What a provider would refuse, or not do as planned. */
function faultsOf({ plan, assembly, request, body }: SentCall, rules: CacheRules): string[] {
  const found = markersIn(request.toObject());
  const { markers } = rules;
  const ofRequest = plan.requestMarker === null ? 0 : 1;
  const own = plan.mode === "implicit" ? 1 : 0;
  const lives = found.map(({ lifetime }) => lifetimes.findIndex((each) => each === lifetime));
  const rises = lives.some((life, index) => index > 0 && life > (lives[index - 1] ?? 0));
  const written = body.match(/"cache_control"|"cachePoint"|"prompt_cache_breakpoint"/g) ?? [];
  const faults = {
    "a marker is not where it was planned": found.length !== plan.markers.length,
    "a marker stands outside tools, system and messages":
      written.length !== found.length + ofRequest,
    "too many markers": found.length + ofRequest + own > (markers?.markersMax ?? 0),
    "a longer lifetime after a shorter one": rises && markers?.lifetimeOrder !== "any",
    "a marker on what can carry none": found.some(
      ({ carrier }) =>
        /thinking/.test(String(carrier["type"])) ||
        "reasoningContent" in carrier ||
        carrier["text"] === "" ||
        Object.keys(carrier).length === 0,
    ),
    "a marker on a carrier the provider does not name": plan.markers.some(({ block }) => {
      const at = assembly.blocks.at(block);
      return at?.mayCarryMarker !== true || !markers?.carriers.some((each) => each === at.kind);
    }),
  };
  return Object.entries(faults).flatMap(([fault, isThere]) => (isThere ? [fault] : []));
}

function conversationOf(body: unknown): { fixed: string; messages: readonly unknown[] } {
  const bare = JSON.parse(withoutMarkers(JSON.stringify(body))) as {
    readonly messages: readonly unknown[];
  };
  const { messages, ...fixed } = bare;
  return { fixed: JSON.stringify(fixed), messages };
}

function toolWith(name: string, keys: readonly string[]): OfferedTool {
  const properties = Object.fromEntries(keys.map((key) => [key, { type: "string", title: key }]));
  const inputSchema = `{${keys.map((key) => `"${key}":${JSON.stringify(properties[key])}`).join(", ")}}`;
  return {
    definition: toToolDefinition({
      name,
      description: `Does ${name}.`,
      inputSchema: `{"type":"object","properties":${inputSchema}}`,
    }),
    needs: ["read"],
  };
}

function losesMessages(
  before: BlockList,
  after: BlockList,
  { capabilities, cache }: ModelFacts,
): boolean {
  const isFirstImage = kinds(after).has("image") && !kinds(before).has("image");
  const isKeyed = cache.invalidation.some(({ change }) => change === "images appear or vanish");
  return (
    (isFirstImage && isKeyed) || (capabilities.stripsPriorThinking && kinds(after).has("thinking"))
  );
}

function kinds(blocks: BlockList): Set<string> {
  return new Set([...itemsOf(blocks)].filter(({ tier }) => tier !== "T5").map(({ kind }) => kind));
}
