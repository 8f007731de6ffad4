// The JSON of Chat Completions: requests as we write them, and the members of answers that we read.
import {
  countIn,
  fieldsIn,
  fieldsOf,
  listIn,
  onlyPresent,
  textIn,
  type Fields,
} from "../../../message/fields.ts";
import { withServiceTier } from "../usage.ts";

export const chatPath = "/chat/completions";

export interface ChatRequest {
  model: string;
  messages: (
    | { role: "developer" | "system"; content: string | TextPart[] }
    | { role: "user"; content: string | (TextPart | ImagePart | FilePart)[] }
    | {
        role: "assistant";
        content: string | null;
        reasoning_content?: string;
        tool_calls?: ToolCall[];
      }
    | { role: "tool"; tool_call_id: string; content: string }
  )[];
  tools?: {
    type: "function";
    function: { name: string; description: string; parameters: Record<string, unknown> };
  }[];
  max_completion_tokens?: number;
  max_tokens?: number;
  stream?: boolean;
  temperature?: number;
  stop?: string[];
  tool_choice?: "auto" | "none" | "required" | { type: "function"; function: { name: string } };
  parallel_tool_calls?: boolean;
  prompt_cache_key?: string;
}

interface TextPart {
  type: "text";
  text: string;
}

interface ImagePart {
  type: "image_url";
  image_url: { url: string };
}

interface FilePart {
  type: "file";
  file: { filename?: string; file_data?: string; file_id?: string };
}

interface ToolCall {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
}

/** A completion or a chunk; absent, null or invalid members are undefined. */
export interface ChatAnswer {
  readonly id: string | undefined;
  readonly model: string | undefined;
  /** Null if there is no choice, as in the last chunk. */
  readonly choice: ChatChoice | null;
  readonly usage: unknown;
  /** The host that answered for a router. */
  readonly servedBy: string | undefined;
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
export function readAnswer(answer: Fields, place: "message" | "delta"): ChatAnswer {
  const [first] = listIn(answer, "choices");
  return {
    id: textIn(answer, "id"),
    model: textIn(answer, "model"),
    choice: first === undefined ? null : readChoice(fieldsOf(first), place),
    usage: findChatUsage(answer),
    servedBy: textIn(answer, "provider"),
  };
}

/**
 * The usage of a completion or a chunk. Kimi has it in the choice, Groq in a member of its own; llama.cpp says beside it, or
 * instead of it, how much of the prompt it had already, and how long it read the rest.
 */
export function findChatUsage(answer: Fields): unknown {
  const [first] = listIn(answer, "choices");
  const usage =
    answer["usage"] ?? fieldsOf(first)["usage"] ?? fieldsIn(answer, "x_groq")["usage"] ?? undefined;
  const timed = usageOfTimings(fieldsIn(answer, "timings"));
  const whole = timed === undefined ? usage : { ...timed, ...fieldsOf(usage) };
  return withServiceTier(whole, answer);
}

function usageOfTimings(timings: Fields): Fields | undefined {
  const readTokens = countIn(timings, "cache_n");
  const newTokens = countIn(timings, "prompt_n");
  if (readTokens === undefined && newTokens === undefined) return undefined;
  const prompt =
    readTokens === undefined || newTokens === undefined ? undefined : readTokens + newTokens;
  return onlyPresent({
    prompt_tokens: prompt,
    completion_tokens: countIn(timings, "predicted_n"),
    cached_tokens: readTokens,
    prompt_ms: timings["prompt_ms"],
  });
}

function readChoice(choice: Fields, place: "message" | "delta"): ChatChoice {
  const message = fieldsIn(choice, place);
  return {
    finishReason: textIn(choice, "finish_reason"),
    text: textIn(message, "content"),
    refusal: textIn(message, "refusal"),
    thinking: textIn(message, "reasoning_content") ?? textIn(message, "reasoning"),
    calls: listIn(message, "tool_calls").map((call, index) => readCall(fieldsOf(call), index)),
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
