// What the bills of two calls in a row say about the messages appended between them.
import type { Message, Role } from "../../src/core/message/message.ts";
import { generatedTokens, promptTokens } from "../../src/core/message/usage.ts";
import type { Tokenizer } from "../../src/core/models/model-facts.ts";
import { findModel } from "../../src/core/models/resolve-model.ts";
import { estimateTokens } from "../../src/core/tokens/estimate.ts";
import type { TextCounter } from "../../src/core/tokens/o200k/counter.ts";
import {
  addRawCounts,
  countMessage,
  countText,
  noRawCount,
  type RawCount,
} from "../../src/core/tokens/raw-count.ts";
import { createReminderRule } from "./hidden-reminders.ts";
import { readSession, type TraceRequest } from "./trace-reader.ts";

/** Smaller differences are mostly message envelopes. */
export const deltaTokensMin = 200;

export interface Difference {
  readonly model: string;
  readonly family: "claude" | "openai" | "other";
  readonly tokenizer: Tokenizer;
  /** Tokens that the second prompt has more than the first. */
  readonly billedTokens: number;
  /** The whole second prompt. */
  readonly promptTokens: number;
  /** The part that the usage of the first reply tells. 0 if it tells none. */
  readonly knownTokens: number;
  /** What must be estimated. */
  readonly rest: RawCount;
  /** Everything appended, the reply too. */
  readonly whole: RawCount;
  /** Whether the agent sent more than its transcript holds. */
  readonly isHidden: boolean;
}

/** The differences of one session in order; a text says why a request has none. */
export async function* differencesIn(
  file: string,
  counter: TextCounter,
): AsyncGenerator<Difference | string> {
  let compare: ((request: TraceRequest) => Difference | string) | undefined;
  for await (const request of readSession(file)) {
    compare ??= createComparison(request.agent, counter);
    yield compare(request);
  }
}

/** A first request whose system text and tools are recorded: the only long prose that sessions show. */
export type FirstPrompt = Pick<Difference, "tokenizer" | "billedTokens" | "rest">;

/** What the vendor documents a request with tools to hold beside them, and a message beside its text. */
const toolsPreambleTokens = 346;
const messageTokens = 8;

/** Null if the recording does not show the whole of it. */
export async function firstPromptIn(
  file: string,
  counter: TextCounter,
): Promise<FirstPrompt | null> {
  for await (const { model, overhead, appended, usage } of readSession(file)) {
    if (overhead === null || overhead.system === "" || usage === null) return null;
    const { system, tools } = overhead;
    const texts = [system, ...tools].map((text) => countText(text, counter));
    const messages = appended.map((message) => countMessage(message, counter));
    const preamble = (tools.length === 0 ? 0 : toolsPreambleTokens) + messageTokens;
    return {
      tokenizer: tokenizerOf(model),
      billedTokens: promptTokens(usage) - preamble,
      rest: [...texts, ...messages].reduce(addRawCounts, noRawCount),
    };
  }
  return null;
}

interface CountedMessage {
  readonly role: Role;
  readonly count: RawCount;
  /** Whether a person wrote it: no tool results. */
  readonly isUserTurn: boolean;
}

/** The last call with a bill. */
interface Previous {
  readonly model: string;
  readonly messageCount: number;
  readonly promptTokens: number;
  readonly replyTokens: number;
}

/** Takes requests in order. */
function createComparison(
  agent: string,
  counter: TextCounter,
): (request: TraceRequest) => Difference | string {
  let messages: CountedMessage[] = [];
  let previous: Previous | undefined;
  const hasReminder = createReminderRule(agent);

  return (request) => {
    const rewritten = request.keep < messages.length;
    messages = messages.slice(0, request.keep);
    messages.push(...request.appended.map((message) => toCounted(message, counter)));
    const isHidden = hasReminder(request.keep, request.appended);
    const last = previous;
    const { model, usage } = request;
    previous =
      usage === null
        ? undefined
        : {
            model,
            messageCount: messages.length,
            promptTokens: promptTokens(usage),
            replyTokens: generatedTokens(usage),
          };
    if (usage === null) return "no usage";
    if (last === undefined) return "no usage before";
    if (rewritten) return "history rewritten";
    if (request.overhead !== null) return "system or tools changed";
    if (model !== last.model) return "model changed";
    if (dropsThinking(model, messages, last.messageCount)) {
      return "earlier thinking dropped by the provider";
    }
    return toDifference(messages.slice(last.messageCount), last, {
      model,
      promptTokens: promptTokens(usage),
      isHidden,
    });
  };
}

function toCounted(message: Message, counter: TextCounter): CountedMessage {
  const { role, content } = message;
  const isUserTurn = role === "user" && content.every(({ type }) => type !== "tool_result");
  return { role, count: countMessage(message, counter), isUserTurn };
}

/** Some models forget the thinking before a user turn: the prompt is another one, not only longer. */
function dropsThinking(
  model: string,
  messages: readonly CountedMessage[],
  appendedFrom: number,
): boolean {
  if (findModel(model)?.facts.capabilities.stripsPriorThinking !== true) return false;
  const turn = messages.findLastIndex(({ isUserTurn }) => isUserTurn);
  if (turn < appendedFrom) return false;
  const before = messages.slice(0, turn);
  const turnBefore = before.findLastIndex(({ isUserTurn }) => isUserTurn);
  return before.slice(turnBefore + 1).some(({ count }) => count.thinkingBlocks > 0);
}

/**
 * A streamed reply sometimes reports the usage of its first event: one to a few tokens. A count below
 * this share of our own estimate is taken for that error.
 */
const plausibleShare = 0.6;

function toDifference(
  appended: readonly CountedMessage[],
  last: Previous,
  call: Pick<Difference, "model" | "promptTokens" | "isHidden">,
): Difference {
  const family = familyOf(call.model);
  const tokenizer = tokenizerOf(call.model);
  const [first] = appended;
  const isKnown =
    first?.role === "assistant" &&
    last.replyTokens > 0 &&
    last.replyTokens >= plausibleShare * estimateTokens(first.count, tokenizer);
  const rest = sumOf(isKnown ? appended.slice(1) : appended);
  return {
    ...call,
    family,
    tokenizer,
    billedTokens: call.promptTokens - last.promptTokens,
    knownTokens: isKnown ? last.replyTokens : 0,
    rest,
    whole: isKnown ? addRawCounts(first.count, rest) : rest,
  };
}

function sumOf(messages: readonly CountedMessage[]): RawCount {
  return messages.reduce((sum, { count }) => addRawCounts(sum, count), noRawCount);
}

function familyOf(model: string): Difference["family"] {
  if (model.startsWith("claude")) return "claude";
  return model.startsWith("gpt") ? "openai" : "other";
}

/** By name: recordings also hold models that the table no longer has. */
function tokenizerOf(model: string): Tokenizer {
  const family = familyOf(model);
  if (family === "openai") return "o200k";
  if (family === "other") return "other";
  const [, major = "0", minor = "0"] = /^claude-[a-z]+-(\d)(?:[-.](\d)(?!\d))?/.exec(model) ?? [];
  return Number(major) * 10 + Number(minor) >= 47 ? "claude-new" : "claude-old";
}
