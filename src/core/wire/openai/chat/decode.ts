// Answers of Chat Completions → a reply.
import { growingList, itemsOf, type GrowingList } from "../../../growing/growing-list.ts";
import { growingMap, type GrowingMap } from "../../../growing/growing-map.ts";
import type { Block } from "../../../message/message.ts";
import { malformed, type ProviderFailure } from "../../failure.ts";
import { toInputJson } from "../arguments.ts";
import { failureIn } from "../failure.ts";
import { parseFields } from "../../../message/fields.ts";
import type { Reply, ReplyStop } from "../../reply.ts";
import { readAnswer, type ChatAnswer, type ChatCall } from "./schema.ts";
import { joinUsage, readChatUsage } from "./usage.ts";

export function decodeChat(body: string): Reply | ProviderFailure {
  const fields = parseFields(body);
  if (fields === undefined) return malformed("the answer is not a JSON object");
  const answer = readAnswer(fields, "message");
  if (answer.choice === null) {
    return failureIn(fields) ?? malformed("the answer has no choices");
  }
  return toReply({ ...takeAnswer(nothingYet, answer), isDone: true });
}

/** What has arrived. Texts grow at their end; pieces of calls are joined at the end. */
export interface ChatState {
  readonly hasBegun: boolean;
  readonly id: string;
  readonly model: string;
  readonly servedBy: string;
  readonly text: string;
  readonly refusal: string;
  readonly thinking: string;
  readonly calls: GrowingList<ChatCall>;
  /** Ids of the calls that have begun, by index. */
  readonly callIds: GrowingMap<number, string>;
  readonly finishReason: string | null;
  readonly usage: unknown;
  readonly isDone: boolean;
  readonly failure: ProviderFailure | null;
  /** Events that could not be read. */
  readonly unreadable: number;
}

export const nothingYet: ChatState = {
  hasBegun: false,
  id: "",
  model: "",
  servedBy: "",
  text: "",
  refusal: "",
  thinking: "",
  calls: growingList(),
  callIds: growingMap(),
  finishReason: null,
  usage: null,
  isDone: false,
  failure: null,
  unreadable: 0,
};

/** Adds a completion or the next chunk. */
export function takeAnswer(state: ChatState, answer: ChatAnswer): ChatState {
  const { id, model, servedBy, choice, usage } = answer;
  const calls = choice?.calls ?? [];
  return {
    ...state,
    hasBegun: state.hasBegun || choice !== null,
    id: state.id === "" ? (id ?? "") : state.id,
    model: state.model === "" ? (model ?? "") : state.model,
    servedBy: state.servedBy === "" ? (servedBy ?? "") : state.servedBy,
    text: state.text + (choice?.text ?? ""),
    refusal: state.refusal + (choice?.refusal ?? ""),
    thinking: state.thinking + (choice?.thinking ?? ""),
    calls: calls.length === 0 ? state.calls : state.calls.append(calls),
    callIds: calls.reduce(withId, state.callIds),
    finishReason: choice?.finishReason ?? state.finishReason,
    usage: joinUsage(state.usage, usage),
  };
}

/** The first piece of a call has its id. */
function withId(ids: ChatState["callIds"], { index, id = "" }: ChatCall): ChatState["callIds"] {
  return ids.get(index) === undefined ? ids.set(index, id) : ids;
}

export function toReply(state: ChatState): Reply {
  const { id, model, servedBy, finishReason, isDone, failure, unreadable } = state;
  const usage = readChatUsage(state.usage);
  const warnings =
    unreadable === 0
      ? usage.warnings
      : [...usage.warnings, `events that could not be read: ${unreadable}`];
  return {
    kind: "reply",
    id,
    model,
    message: { role: "assistant", content: toContent(state) },
    stopReason: toStop(state),
    usage: { ...usage, warnings },
    status: failure === null && (finishReason !== null || isDone) ? "complete" : "partial",
    ...(failure === null ? {} : { failure }),
    ...(servedBy === "" ? {} : { servedBy }),
    transformations: [],
  };
}

function toContent({ thinking, text, refusal, calls }: ChatState): readonly Block[] {
  const blocks: Block[] = [];
  if (thinking !== "") blocks.push({ type: "thinking", text: thinking });
  for (const each of [text, refusal]) if (each !== "") blocks.push({ type: "text", text: each });
  return [...blocks, ...joinCalls(calls).map(toBlock)];
}

interface WholeCall {
  id: string;
  name: string;
  readonly pieces: string[];
  readonly isCustom: boolean;
}

/** Pieces of one call may stand among pieces of others. */
function joinCalls(calls: GrowingList<ChatCall>): readonly WholeCall[] {
  const byIndex = new Map<number, WholeCall>();
  for (const { index, id = "", name = "", input = "", isCustom } of itemsOf(calls)) {
    const call = byIndex.get(index) ?? { id: "", name: "", pieces: [], isCustom };
    if (call.id === "") call.id = id;
    if (call.name === "") call.name = name;
    call.pieces.push(input);
    byIndex.set(index, call);
  }
  return [...byIndex].toSorted(([left], [right]) => left - right).map(([, call]) => call);
}

/** A call in free text, which we never offer, is kept as JSON text. */
function toBlock({ id, name, pieces, isCustom }: WholeCall): Block {
  const input = pieces.join("");
  if (!isCustom) return { type: "tool_use", id, name, inputJson: toInputJson(input) };
  const json = JSON.stringify({ id, type: "custom", custom: { name, input } });
  return { type: "opaque", json };
}

function toStop({ finishReason, refusal, calls }: ChatState): ReplyStop {
  switch (finishReason ?? "") {
    case "stop":
      // A forced call also ends with "stop".
      if (calls.length > 0) return "tool_use";
      return refusal === "" ? "end_turn" : "refusal";
    case "length":
      return "max_tokens";
    case "tool_calls":
    case "function_call":
      return "tool_use";
    case "content_filter":
      return "refusal";
    default:
      return "unknown";
  }
}
