// Answers of generateContent → a reply. A stream's events are such answers too, each with what is new.
import { growingList, itemsOf, type GrowingList } from "../../growing/growing-list.ts";
import { hashContent } from "../../hash.ts";
import { parseFields, type Fields } from "../../message/fields.ts";
import { itemTexts } from "../../message/json-text.ts";
import type { Block, JsonText } from "../../message/message.ts";
import { malformed, type ProviderFailure } from "../failure.ts";
import type { Reply, ReplyStop } from "../reply.ts";
import { excerpt, failureIn } from "./failure.ts";
import { toBlocks, withMoreText, type ReadPart } from "./parts.ts";
import { readAnswer, type GeminiAnswer } from "./schema.ts";
import { joinUsage, readUsage } from "./usage.ts";

export function decodeGemini(body: string): Reply | ProviderFailure {
  // Without `alt=sse` a stream is one list of its events.
  const isList = /^\s*\[/.test(body) && isJson(body);
  let state = nothingYet;
  for (const json of isList ? itemTexts(body.trim()) : [body]) [state] = takeEvent(state, json);
  if (!state.hasBegun && state.failure === null) {
    return malformed(`the answer has no candidates: ${excerpt(body)}`);
  }
  return finishGemini(state);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** What has arrived. Parts are joined at the end. */
export interface GeminiState {
  readonly hasBegun: boolean;
  readonly id: string;
  readonly model: string;
  readonly arrived: GrowingList<ArrivedPart>;
  readonly hasCalls: boolean;
  readonly finishReason: string | null;
  readonly finishMessage: string;
  readonly blockReason: string | null;
  readonly usage: Fields;
  readonly failure: ProviderFailure | null;
  /** Events and parts that could not be read. */
  readonly unreadable: number;
}

export interface ArrivedPart {
  readonly part: ReadPart;
  /** A call's own id, or the one that it gets from us. Empty for other parts. */
  readonly toolUseId: string;
  /** Whether it is the first of its event: only such a part can be more of the one before. */
  readonly isFirst: boolean;
}

export const nothingYet: GeminiState = {
  hasBegun: false,
  id: "",
  model: "",
  arrived: growingList(),
  hasCalls: false,
  finishReason: null,
  finishMessage: "",
  blockReason: null,
  usage: {},
  failure: null,
  unreadable: 0,
};

/** Adds an answer or the next event, and says which parts are new. */
export function takeEvent(
  state: GeminiState,
  json: JsonText,
): readonly [GeminiState, readonly ArrivedPart[]] {
  const fields = parseFields(json);
  const failure = fields === undefined ? failureInList(json) : failureIn(fields);
  if (failure !== undefined) return [{ ...state, failure: state.failure ?? failure }, []];
  if (fields === undefined) return [{ ...state, unreadable: state.unreadable + 1 }, []];
  return takeAnswer(state, readAnswer(fields, json));
}

/** An error may come as a list of one. */
function failureInList(json: JsonText): ProviderFailure | undefined {
  if (!/^\s*\[/.test(json) || !isJson(json)) return undefined;
  return failureIn(parseFields(itemTexts(json.trim())[0] ?? "") ?? {});
}

function takeAnswer(
  state: GeminiState,
  answer: GeminiAnswer,
): readonly [GeminiState, readonly ArrivedPart[]] {
  const { model = "", candidate, blockReason, usage } = answer;
  const id = state.id === "" ? (answer.id ?? "") : state.id;
  const joined = joinUsage(state.usage, usage);
  const parts = candidate?.parts ?? [];
  const arrived = parts.map((part, index): ArrivedPart => {
    const toolUseId = idOf(part, state.arrived.length + index, id, joined);
    return { part, toolUseId, isFirst: index === 0 };
  });
  const next: GeminiState = {
    hasBegun: state.hasBegun || candidate !== undefined || blockReason !== undefined,
    id,
    model: state.model === "" ? model : state.model,
    arrived: arrived.length === 0 ? state.arrived : state.arrived.append(arrived),
    hasCalls: state.hasCalls || parts.some(({ call }) => call !== undefined),
    finishReason: candidate?.finishReason ?? state.finishReason,
    finishMessage: candidate?.finishMessage ?? state.finishMessage,
    blockReason: blockReason ?? state.blockReason,
    usage: joined,
    failure: state.failure,
    unreadable: state.unreadable + (candidate?.unreadable ?? 0),
  };
  return [next, arrived];
}

/** The id for a call without one: the same reply gives the same id, a later reply another, since its prompt is longer. */
function idOf(part: ReadPart, place: number, replyId: string, usage: Fields): string {
  if (part.call === undefined) return "";
  if (part.call.id !== "") return part.call.id;
  const reply = replyId === "" ? JSON.stringify(usage["promptTokenCount"] ?? null) : replyId;
  return `call_${hashContent(`${reply}\n${place}\n${part.json}`).slice(0, 24)}`;
}

export function finishGemini(state: GeminiState): Reply | ProviderFailure {
  const { hasBegun, failure } = state;
  if (!hasBegun) return failure ?? malformed("the stream ended before a reply began");
  return toReply(state);
}

function toReply(state: GeminiState): Reply {
  const { id, model, arrived, finishReason, blockReason, usage } = state;
  const failure = state.failure ?? brokenCall(state);
  const isEnded = finishReason !== null || blockReason !== null;
  const reported = readUsage(usage);
  return {
    kind: "reply",
    id,
    model,
    message: { role: "assistant", content: toContent(arrived) },
    stopReason: toStop(state),
    usage: { ...reported, warnings: [...reported.warnings, ...warningsOf(state)] },
    status: failure === null && isEnded ? "complete" : "partial",
    ...(failure === null ? {} : { failure }),
    transformations: [],
  };
}

/** The provider ends a reply whose tool call it could not read, and bills it. */
function brokenCall({ finishReason, finishMessage }: GeminiState): ProviderFailure | null {
  if (finishReason === null || !brokenCalls.has(finishReason)) return null;
  return malformed(finishMessage === "" ? finishReason : `${finishReason}: ${finishMessage}`);
}

const brokenCalls: ReadonlySet<string> = new Set([
  "MALFORMED_FUNCTION_CALL",
  "UNEXPECTED_TOOL_CALL",
  "TOO_MANY_TOOL_CALLS",
]);

function warningsOf({ unreadable, blockReason, finishReason }: GeminiState): readonly string[] {
  return [
    ...(unreadable === 0 ? [] : [`events and parts that could not be read: ${unreadable}`]),
    ...(blockReason === null ? [] : [`the prompt was blocked: ${excerpt(blockReason)}`]),
    ...(finishReason === "CONTINUATION"
      ? ["the model stopped at a limit of the request and would go on if it were asked to"]
      : []),
  ];
}

/** The pieces of one text become one part again. */
function toContent(arrived: GrowingList<ArrivedPart>): readonly Block[] {
  const blocks: Block[] = [];
  let first: ArrivedPart | null = null;
  let more: string[] = [];
  const flush = (): void => {
    if (first === null) return;
    blocks.push(...toBlocks(withMoreText(first.part, more), first.toolUseId));
    more = [];
  };
  for (const each of itemsOf(arrived)) {
    if (first !== null && continues(each, first.part)) {
      more.push(each.part.text ?? "");
    } else {
      flush();
      first = each;
    }
  }
  flush();
  return blocks;
}

/**
 * Whether a part of a later event is more of the text that began with `first`. The signature of a text comes with its first
 * piece; one without text stands at the end and has nothing behind it.
 */
function continues({ part, isFirst }: ArrivedPart, first: ReadPart): boolean {
  if (!isFirst || !isPiece(part) || first.isThought !== part.isThought) return false;
  return isPiece(first) || (first.signature !== "" && (first.text ?? "") !== "");
}

/** Text, or a summary of thinking, with nothing else to it. */
function isPiece({ isPlain, isPlainThought, call }: ReadPart): boolean {
  return (isPlain && call === undefined) || isPlainThought;
}

function toStop({ finishReason, blockReason, hasCalls }: GeminiState): ReplyStop {
  switch (finishReason ?? "") {
    case "STOP":
      return hasCalls ? "tool_use" : "end_turn";
    case "MAX_TOKENS":
      return "max_tokens";
    case "SAFETY":
    case "RECITATION":
    case "LANGUAGE":
    case "BLOCKLIST":
    case "PROHIBITED_CONTENT":
    case "SPII":
    case "IMAGE_SAFETY":
    case "IMAGE_PROHIBITED_CONTENT":
    case "IMAGE_RECITATION":
      return "refusal";
    default:
      return finishReason === null && blockReason !== null ? "refusal" : "unknown";
  }
}
