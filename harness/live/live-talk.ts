// Random sessions that run live, through the engine or the AI SDK, and breaks planted before their last turn.
import type { MissCause } from "../../src/core/diagnosis/explanation.ts";
import type { PayloadOf } from "../../src/core/events/event.ts";
import { promptTokens, writtenTokens, type Usage } from "../../src/core/message/usage.ts";
import { findPolicy, listPolicies } from "../../src/core/cache/policies.ts";
import type { Policy, PolicyName } from "../../src/core/cache/policy.ts";
import { resolveModel } from "../../src/core/models/resolve-model.ts";
import type { ScriptStep } from "../../src/simulator/index.ts";
import type { Random } from "../random-message.ts";
import { pickOne, randomWords, wholeBetween } from "../random/random-talk.ts";

export const liveApis = ["anthropic-messages", "openai-responses", "openai-chat"] as const;

export interface LiveTalk {
  readonly api: (typeof liveApis)[number];
  readonly model: string;
  readonly otherModel: string;
  readonly policy: PolicyName;
  readonly tools: readonly LiveTool[];
  readonly system: string;
  readonly turns: readonly LiveTurn[];
}

export interface LiveTool {
  readonly name: string;
  readonly description: string;
}

export interface LiveTurn {
  readonly afterMs: number;
  readonly text: string;
  /** All but the last use a tool. */
  readonly replies: readonly ScriptStep[];
  readonly toolResult: string;
}

const modelsOf = {
  "anthropic-messages": ["claude-sonnet-4-6", "claude-haiku-4-5", "claude-opus-4-8"],
  "openai-responses": ["gpt-6.1-sol", "gpt-6-sol"],
  "openai-chat": ["gpt-6.1-sol", "gpt-6-sol"],
} as const satisfies Record<LiveTalk["api"], readonly string[]>;

/** A session in which this break can be planted; null for any session. */
export function randomLiveTalk(
  random: Random,
  kind: LivePlant | null,
  policy: PolicyName = pickOne(random, unbroken),
): LiveTalk {
  const isShort = kind === "too short";
  const isOfClaude = isShort || kind === "beta header" || kind === "tool choice";
  const api = isOfClaude || random() < 0.5 ? "anthropic-messages" : pickOne(random, liveApis);
  const models = modelsOf[api];
  const model = isShort ? "claude-haiku-4-5" : pickOne(random, models);
  const minimum = resolveModel(model).facts.cache.minimumTokens ?? 1024;
  const words = isShort ? 1500 : Math.round(minimum * 1.3) + wholeBetween(random, 200, 2500);
  return {
    api,
    model,
    otherModel: models.find((each) => each !== model) ?? model,
    policy,
    tools: Array.from({ length: wholeBetween(random, 2, 6) }, (_, index) => ({
      name: `tool_${String.fromCharCode(97 + index)}`,
      description: randomWords(random, wholeBetween(random, 8, 60)),
    })),
    system: randomWords(random, words),
    turns: Array.from({ length: isShort ? 2 : wholeBetween(random, 2, 4) }, () =>
      randomTurn(random, { wordsMax: isShort ? 20 : 900, mayUseTools: kind !== "tool choice" }),
    ),
  };
}

/** Text that changes with every turn stands before the history, or before the one marker. */
function breaksItself({ layout, markers }: Policy): boolean {
  if (layout.volatile === "system-tail") return true;
  return markers.kind === "rules" && markers.rules.some(({ place }) => place.at === "request");
}

const unbroken: readonly PolicyName[] = listPolicies()
  .filter((policy) => policy.name !== "none" && !breaksItself(policy))
  .map(({ name }) => name);

/** Whether a miss is the policy's own doing: the text of one call alone changed, and stood before a marker. */
export function isOwnDoing(policy: PolicyName, miss: Miss): boolean {
  const isChanged = miss.block_before_hash !== miss.block_after_hash;
  return breaksItself(findPolicy(policy)) && miss.block_tier === "T5" && isChanged;
}

interface TurnShape {
  readonly wordsMax: number;
  readonly mayUseTools: boolean;
}

function randomTurn(random: Random, { wordsMax, mayUseTools }: TurnShape): LiveTurn {
  const uses = random() < 0.5 || !mayUseTools ? 0 : wholeBetween(random, 1, 2);
  const use: ScriptStep = {
    text: randomWords(random, 10),
    toolCalls: [{ name: "tool_a", input: { path: "shelf" } }],
  };
  return {
    afterMs: wholeBetween(random, 1000, 120_000),
    text: randomWords(random, wholeBetween(random, 10, wordsMax)),
    replies: [
      ...Array.from({ length: uses }, () => use),
      { text: randomWords(random, wholeBetween(random, 10, wordsMax)) },
    ],
    toolResult: randomWords(random, wholeBetween(random, 10, wordsMax)),
  };
}

export const livePlants = [
  "model switched",
  "tools reordered",
  "tool edited",
  "system byte",
  "tool choice",
  "effort",
  "beta header",
  "old message",
  "expired",
  "too short",
  "lost",
] as const;

export type LivePlant = (typeof livePlants)[number];

type Miss = PayloadOf<"cache.miss">;

/** One call as it was billed, and what the diagnosis told. */
export interface LiveCall {
  readonly usage: Usage;
  readonly miss: Miss | null;
}

export interface LiveRun {
  readonly calls: readonly LiveCall[];
  /** The first call of the last turn: the one with the break. */
  readonly planted: number;
  /** How many bytes the layout puts before the words of the first message, in the same block. */
  readonly headBytes: number;
}

/** A change of the talk before its last turn, and what the diagnosis must say. */
export interface LiveBreak {
  readonly kind: LivePlant;
  readonly tools: readonly LiveTool[];
  readonly system: string;
  /** The new text of the first message; null for the old one. */
  readonly firstText: string | null;
  readonly model: string;
  readonly pauseMs: number;
  readonly truth: Pick<Miss, "cause"> & Partial<Pick<Miss, "block_label" | "block_byte_offset">>;
  /** The start of the detail; empty for any. */
  readonly detail: string;
}

export function plantBreak(kind: LivePlant, talk: LiveTalk, random: Random): LiveBreak {
  const { tools, system, model } = talk;
  const same = { kind, tools, system, firstText: null, model, pauseMs: 0, detail: "" };
  const truth = { cause: causes[kind] };
  switch (kind) {
    case "model switched":
      return { ...same, truth, model: talk.otherModel, detail: `model: ${model} → ` };
    case "tools reordered":
      return { ...same, truth, tools: tools.toReversed() };
    case "tool edited": {
      const at = wholeBetween(random, 0, tools.length - 1);
      const { name, description } = tools[at] ?? { name: "", description: "" };
      const edited = tools.with(at, { name, description: `${description} now` });
      return { ...same, tools: edited, truth: { ...truth, block_label: `tool ${name}` } };
    }
    case "system byte": {
      const at = wholeBetween(random, 0, system.length - 1);
      const changed = `${system.slice(0, at)}#${system.slice(at + 1)}`;
      return { ...same, system: changed, truth };
    }
    case "old message": {
      const [first] = talk.turns;
      const text = first?.text ?? "";
      const at = wholeBetween(random, 0, text.length - 1);
      const firstText = `${text.slice(0, at)}#${text.slice(at + 1)}`;
      const place = { block_label: "user message 0", block_byte_offset: at };
      return { ...same, firstText, truth: { ...truth, ...place } };
    }
    case "expired":
      return { ...same, truth, pauseMs: 86_500_000 };
    case "tool choice":
      return { ...same, truth, detail: "tool choice: auto → none" };
    case "effort":
      return { ...same, truth, detail: "effort: " };
    case "beta header":
      return { ...same, truth, detail: `none → ${plantedBeta}` };
    case "too short":
    case "lost":
      return { ...same, truth };
  }
}

export const plantedBeta = "planted-2026-01-01";

const causes: Readonly<Record<LivePlant, Exclude<MissCause, "no miss">>> = {
  "model switched": "model changed",
  "tools reordered": "tools reordered",
  "tool edited": "tools changed",
  "system byte": "system changed",
  "tool choice": "parameter changed",
  effort: "parameter changed",
  "beta header": "beta header changed",
  "old message": "history rewritten",
  expired: "lifetime expired",
  "too short": "below the minimum",
  lost: "provider lost it",
};

export interface LiveOutcome {
  /** Whether the break cost enough to be told. */
  readonly isCostly: boolean;
  readonly isRight: boolean;
  /** Misses of other calls. */
  readonly alarms: number;
  /** For people. */
  readonly said: string;
}

/** Losses below are not told; near the limit both are right. */
const [freeMax, costlyMin] = [900, 1150];

/** The same session with and without the break: the difference of the bills is what it cost. */
export function judgeLive(
  { kind, truth, detail }: LiveBreak,
  broken: LiveRun,
  clean: LiveRun,
): LiveOutcome {
  const call = broken.calls[broken.planted];
  const twin = clean.calls[clean.planted];
  if (call === undefined || twin === undefined) throw new Error("the session ended early");
  const lost = kind === "too short" ? unkept(broken) : lostTokens(call.usage, twin.usage);
  const { miss } = call;
  const place = { ...truth };
  if (place.block_byte_offset !== undefined && place.block_byte_offset !== null) {
    place.block_byte_offset += broken.headBytes;
  }
  const isNamed = miss !== null && isTrue(miss, place) && (miss.detail ?? "").startsWith(detail);
  const isCostly = lost > costlyMin;
  const others = broken.calls.filter((each, at) => at !== broken.planted && each.miss !== null);
  const isToldBefore = kind === "too short";
  return {
    isCostly,
    isRight: isNamed || (miss === null && !isCostly) || (miss !== null && isBetween(lost)),
    alarms: isToldBefore ? 0 : others.length,
    said: `${miss === null ? "nothing" : JSON.stringify(miss)}; it was ${JSON.stringify(truth)} ${detail} and cost ${lost}`,
  };
}

function isBetween(lost: number): boolean {
  return lost >= freeMax && lost <= costlyMin;
}

function isTrue(miss: Miss, truth: LiveBreak["truth"]): boolean {
  return Object.entries(truth).every(([name, value]) => Object(miss)[name] === value);
}

/** What the call before sent and could not leave in the cache. */
function unkept({ calls, planted }: LiveRun): number {
  const before = calls[planted - 1]?.usage;
  if (before === undefined || before.cacheReadTokens + writtenTokens(before) > 0) return 0;
  return promptTokens(before);
}

/** Tokens that were not read but paid for. */
function lostTokens(broken: Usage, clean: Usage): number {
  const lost = clean.cacheReadTokens - broken.cacheReadTokens;
  return Math.max(0, Math.min(lost, unreadTokens(broken) - unreadTokens(clean)));
}

function unreadTokens(usage: Usage): number {
  return promptTokens(usage) - usage.cacheReadTokens;
}
