// Answers of Chat Completions, whole or in chunks: the members that we read.
import {
  countIn,
  fieldsIn,
  fieldsOf,
  listIn,
  textIn,
  type Fields,
} from "../../../message/fields.ts";

export const chatPath = "/chat/completions";

/** A completion or a chunk; absent, null or invalid members are undefined. */
export interface ChatAnswer {
  readonly id: string | undefined;
  readonly model: string | undefined;
  /** Null if there is no choice, as in the last chunk. */
  readonly choice: ChatChoice | null;
  readonly usage: unknown;
}

export interface ChatChoice {
  readonly finishReason: string | undefined;
  readonly text: string | undefined;
  readonly refusal: string | undefined;
  /** The model's thinking, if the provider shows it. */
  readonly thinking: string | undefined;
  readonly calls: readonly ChatCall[];
}

/** A call, or the next piece of one. */
export interface ChatCall {
  readonly index: number;
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly input: string | undefined;
  /** Free text instead of JSON. */
  readonly isCustom: boolean;
}

/** Reads `message` in a completion, `delta` in a chunk. Only the first choice: we never ask for more. */
export function readAnswer(answer: Fields, saidIn: "message" | "delta"): ChatAnswer {
  const [first] = listIn(answer, "choices");
  return {
    id: textIn(answer, "id"),
    model: textIn(answer, "model"),
    choice: first === undefined ? null : readChoice(fieldsOf(first), saidIn),
    usage: answer["usage"],
  };
}

function readChoice(choice: Fields, saidIn: "message" | "delta"): ChatChoice {
  const said = fieldsIn(choice, saidIn);
  return {
    finishReason: textIn(choice, "finish_reason"),
    text: textIn(said, "content"),
    refusal: textIn(said, "refusal"),
    thinking: textIn(said, "reasoning_content") ?? textIn(said, "reasoning"),
    calls: listIn(said, "tool_calls").map((call, index) => readCall(fieldsOf(call), index)),
  };
}

function readCall(call: Fields, place: number): ChatCall {
  const isCustom = "custom" in call;
  const inner = fieldsIn(call, isCustom ? "custom" : "function");
  return {
    index: countIn(call, "index") ?? place,
    id: textIn(call, "id"),
    name: textIn(inner, "name"),
    input: textIn(inner, isCustom ? "input" : "arguments"),
    isCustom,
  };
}
