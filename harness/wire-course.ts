// Random conversations through a protocol and the simulator: what was sent is compared with what the simulator read,
// what its model said with what came back, and a streamed reply with a whole one.
import { assemble, type Assembly } from "../src/core/assembly/assemble.ts";
import { buildFoundation } from "../src/core/assembly/foundation.ts";
import { appendMessages, openThread, type Thread } from "../src/core/assembly/thread.ts";
import type { CachePlan } from "../src/core/cache/cache-plan.ts";
import { openCacheState, type CacheState } from "../src/core/cache/cache-state.ts";
import { openPace } from "../src/core/cache/pace.ts";
import { planCache } from "../src/core/cache/plan-cache.ts";
import { findPolicy } from "../src/core/cache/policies.ts";
import type { Block, Message } from "../src/core/message/message.ts";
import type { ToolDefinition } from "../src/core/message/tool-definition.ts";
import { resolveModel } from "../src/core/models/resolve-model.ts";
import { cheapCounter } from "../src/core/tokens/cheap-counter.ts";
import { createTokenCounter } from "../src/core/tokens/token-counter.ts";
import type { EncodedRequest } from "../src/core/wire/encoded-request.ts";
import type { ProviderFailure } from "../src/core/wire/failure.ts";
import { protocols, type ProtocolName } from "../src/core/wire/protocols.ts";
import type { Protocol } from "../src/core/wire/protocol.ts";
import type { Reply } from "../src/core/wire/reply.ts";
import { createSimulator, type Simulator } from "../src/simulator/simulator.ts";
import type { Prompt, Reply as ModelReply, ReplyPart } from "../src/simulator/prompt.ts";
import { createRandom, type Random } from "./random-message.ts";
import { askRaw, decodeAnswer, type RawAnswer } from "./raw-answer.ts";

/** A model that the simulator serves in each protocol. A new protocol does not compile without its row. */
const modelIds: Readonly<Record<ProtocolName, string>> = {
  "anthropic-messages": "claude-sonnet-4-6",
  "openai-chat": "gpt-6.1-sol",
  "openai-responses": "gpt-6.1-sol",
  gemini: "gemini-3.8-flash",
  "bedrock-converse": "global.anthropic.claude-sonnet-4-6",
  "bedrock-invoke": "global.anthropic.claude-sonnet-4-6",
  "vertex-anthropic": "publishers/anthropic/models/claude-sonnet-4-6",
};

export interface CourseWire {
  readonly protocol: Protocol;
  readonly modelId: string;
  /** Whether its provider says how long to wait after too many requests. */
  readonly saysWhen: boolean;
}

/** AWS leaves the wait to its clients. */
const waitsAreOwn: ReadonlySet<ProtocolName> = new Set(["bedrock-converse", "bedrock-invoke"]);

export const courseWires: readonly CourseWire[] = protocols.map((protocol) => ({
  protocol,
  modelId: modelIds[protocol.name],
  saysWhen: !waitsAreOwn.has(protocol.name),
}));

const { layout, markers } = findPolicy("adaptive");
/** 2026-11-16. */
export const startMs = 1_794_787_200_000;

/** A conversation on two equal simulators: one is asked for whole replies, the other for streams. */
export interface Course {
  readonly wire: CourseWire;
  readonly whole: Simulator;
  readonly streamed: Simulator;
  /** What the model that answered last was told. */
  seen: Prompt | null;
  /** What the model says next. */
  next: ModelReply;
  thread: Thread;
}

export interface CourseCall {
  readonly assembly: Assembly;
  readonly whole: RawAnswer;
  readonly streamed: RawAnswer;
}

export function openCourse(
  wire: CourseWire,
  system: string,
  tools: readonly ToolDefinition[],
): Course {
  const { protocol, modelId } = wire;
  const { facts } = resolveModel(modelId);
  const model = (prompt: Prompt): ModelReply => {
    course.seen = prompt;
    return course.next;
  };
  const simulate = (): Simulator =>
    createSimulator({ model, seed: 1, clock: { virtualStartMs: startMs } });
  const foundation = buildFoundation({
    tools,
    system: system === "" ? [] : [{ label: "rules", tier: "T1", text: system }],
    spelling: protocol.spelling(facts),
    counter: createTokenCounter(cheapCounter, facts.tokenizer),
    model: facts,
  });
  const course: Course = {
    wire,
    whole: simulate(),
    streamed: simulate(),
    seen: null,
    next: { parts: [], stop: "end" },
    thread: openThread(foundation),
  };
  return course;
}

/** Sends the same call both ways. The reply is not appended. */
export async function makeCall(course: Course, current: readonly Message[]): Promise<CourseCall> {
  const { protocol } = course.wire;
  const { assembly, encode } = prepare(course, current);
  return {
    assembly,
    whole: await askRaw(course.whole, protocol, encode(false)),
    streamed: await askRaw(course.streamed, protocol, encode(true)),
  };
}

export interface PreparedCall {
  readonly assembly: Assembly;
  readonly plan: CachePlan;
  readonly encode: (stream: boolean) => EncodedRequest;
}

/** The next call of a conversation; without a state it is marked as a first call would be. */
export function prepare(
  { wire: { protocol, modelId }, thread }: Pick<Course, "wire" | "thread">,
  current: readonly Message[],
  state: CacheState = openCacheState(),
): PreparedCall {
  const { facts: model } = resolveModel(modelId);
  const assembly = assemble({ thread, current, volatile: null, layout, model });
  const plan = planCache({
    blocks: assembly.blocks,
    rules: model,
    markers,
    state,
    pace: openPace("human"),
    now: startMs,
  });
  const encode = (stream: boolean): EncodedRequest =>
    protocol.encode({ assembly, plan, model, options: { outputTokensMax: 60_000, stream } });
  return { assembly, plan, encode };
}

/** What went wrong in one random conversation; empty if nothing did. */
export async function runCourse(wire: CourseWire, seed: number): Promise<readonly string[]> {
  const random = createRandom(seed);
  const system = random() < 0.8 ? randomText(random) : "";
  const tools = names.slice(0, upTo(random, names.length)).map((name) => toTool(random, name));
  const course = openCourse(wire, system, tools);
  const faults: string[] = [];
  const sent: Message[] = [];
  let current: readonly Message[] = [userSays(randomText(random))];
  for (let calls = 1 + upTo(random, 3); calls > 0; calls -= 1) {
    course.next = randomReply(random, tools);
    const call = await makeCall(course, current);
    sent.push(...current);
    const [whole, streamed] = [call.whole, call.streamed].map((raw) =>
      decodeAnswer(wire.protocol, raw),
    );
    if (!isReply(whole) || !isReply(streamed)) {
      return [...faults, `no reply: ${JSON.stringify([whole, streamed])}`];
    }
    faults.push(
      ...compare("the simulator read", readItems(course.seen), sent.flatMap(toItems)),
      ...compare("a system text read", [course.seen?.system ?? ""], [system]),
      ...compare("the whole reply", saidIn(whole), said(course.next)),
      ...compare("the stream", saidIn(streamed), said(course.next)),
      ...compare("the usage of the stream", streamed.usage, whole.usage),
      ...compare("the stop of the stream", streamed.stopReason, whole.stopReason),
      ...usageFaults(whole),
    );
    // The two may carry different ids. One of them goes on, with both simulators.
    const reply = random() < 0.5 ? whole : streamed;
    course.thread = appendMessages(call.assembly.thread, [reply.message]);
    sent.push(reply.message);
    const uses = reply.message.content.filter((block) => block.type === "tool_use");
    current =
      uses.length === 0
        ? [userSays(randomText(random))]
        : uses.map(({ id }) => toolSays(id, randomText(random)));
  }
  return faults;
}

/** Counts stand in one bucket each; what is read and written is part of the prompt. */
function usageFaults({
  usage: { usage, isReported, refused, warnings },
}: Reply): readonly string[] {
  const counts = [usage.uncachedTokens, usage.cacheReadTokens, usage.outputTokens];
  const whole = counts.every((count) => Number.isSafeInteger(count) && count >= 0);
  return whole && isReported && refused === undefined && warnings.length === 0
    ? []
    : [`usage is ${JSON.stringify({ usage, isReported, refused, warnings })}`];
}

function compare(what: string, found: unknown, expected: unknown): readonly string[] {
  const [left, right] = [JSON.stringify(found), JSON.stringify(expected)];
  return left === right ? [] : [`${what}: ${left}, not ${right}`];
}

export function isReply(outcome: Reply | ProviderFailure | undefined): outcome is Reply {
  return outcome?.kind === "reply";
}

type Item = readonly [kind: string, ...rest: readonly string[]];

function readItems(prompt: Prompt | null): readonly Item[] {
  return (prompt?.turns ?? []).flatMap(({ role, text, toolUses, toolResults }): readonly Item[] => [
    ...toolResults.map((result): Item => ["result", result.id, result.text]),
    ...(text === "" ? [] : [[role, text] as const]),
    ...toolUses.map(({ id, name, inputJson }): Item => ["use", id, name, inputJson]),
  ]);
}

function toItems({ role, content }: Message): readonly Item[] {
  return content.flatMap((block): readonly Item[] => {
    if (block.type === "text") return [[role, block.text]];
    if (block.type === "tool_use") return [["use", block.id, block.name, block.inputJson]];
    if (block.type === "tool_result") return [["result", block.toolUseId, textOf(block.content)]];
    return [];
  });
}

function textOf(content: readonly Block[]): string {
  return content.map((block) => (block.type === "text" ? block.text : "")).join("");
}

/** Without thinking, which not every wire shows. */
function said({ parts, stop }: ModelReply): unknown {
  const shown = parts.flatMap((part): readonly unknown[] => {
    if (part.kind === "thinking") return [];
    return part.kind === "text" ? [part.text] : [{ use: part.name, input: part.inputJson }];
  });
  return { shown, stop };
}

const stops: Readonly<Record<string, ModelReply["stop"]>> = {
  end_turn: "end",
  tool_use: "tool use",
  max_tokens: "output limit",
};

function saidIn({ message, stopReason }: Reply): unknown {
  const shown = message.content.flatMap((block): readonly unknown[] => {
    if (block.type === "text") return block.text === "" ? [] : [block.text];
    return block.type === "tool_use" ? [{ use: block.name, input: block.inputJson }] : [];
  });
  return { shown, stop: stops[stopReason] ?? stopReason };
}

const names = ["bash", "read_file", "search"];

function toTool(random: Random, name: string): ToolDefinition {
  return { name, description: randomText(random), inputSchemaJson: '{"type":"object"}' };
}

function userSays(text: string): Message {
  return { role: "user", content: [{ type: "text", text }] };
}

function toolSays(toolUseId: string, text: string): Message {
  const content: readonly Block[] = [{ type: "text", text }];
  return { role: "tool", content: [{ type: "tool_result", toolUseId, content, isError: false }] };
}

function randomReply(random: Random, tools: readonly ToolDefinition[]): ModelReply {
  const text: readonly ReplyPart[] = [{ kind: "text", text: randomText(random) }];
  const uses = random() < 0.5 ? tools.slice(0, upTo(random, tools.length + 1)) : [];
  const calls = uses.map(({ name }): ReplyPart => ({
    kind: "tool use",
    name,
    inputJson: randomInput(random),
  }));
  if (calls.length > 0) {
    return { parts: random() < 0.5 ? [...text, ...calls] : calls, stop: "tool use" };
  }
  return { parts: text, stop: random() < 0.1 ? "output limit" : "end" };
}

const pieces = [
  "a word ",
  "\n",
  '"quoted" \\ ',
  "Grüße ",
  "漢字",
  "🙂🇩🇪",
  "\u2028",
  "</script>",
  "data: {}\n\n",
  "\u0000",
  "1.0 1e400",
  "x".repeat(300),
];

/** Never empty, and never only white space, which some providers refuse. */
function randomText(random: Random): string {
  const parts = Array.from(
    { length: 1 + upTo(random, 5) },
    () => pieces[upTo(random, pieces.length)],
  );
  return `t${parts.join("")}.`;
}

/** JSON that a parser in JavaScript would change. */
function randomInput(random: Random): string {
  const members = [
    '"10":1',
    '"2":1.0',
    '"big":12345678901234567890',
    `"text":${JSON.stringify(randomText(random))}`,
    '"list":[1e3,null,{"b":0,"a":-0}]',
  ].filter(() => random() < 0.5);
  return `{${members.join(",")}}`;
}

/** A whole number from 0, below `count`. */
function upTo(random: Random, count: number): number {
  return Math.floor(random() * count);
}
