// For tests: a client of the OpenAI surface, and an echoing model.
import type { Prompt, Reply } from "../prompt.ts";
import type { SimResponse } from "../surface.ts";
import { createSurfaceKit, readToEnd, type Any as Body, type SurfaceKit } from "../test-kit.ts";
import { createOpenaiSurface, type OpenaiSurfaceOptions } from "./index.ts";

export { startMs, type Any as Body } from "../test-kit.ts";

export interface Kit extends SurfaceKit {
  /** Sends a request and reads the response to its end. */
  post(path: string, body: unknown): Answered;
  get(path: string): Answered;
}

export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** The body, if it is JSON. */
  readonly json: Body;
  /** The data of each event, if it is a stream. */
  readonly events: readonly Body[];
}

export function createKit(options: OpenaiSurfaceOptions = {}): Kit {
  const kit: Kit = Object.assign(createSurfaceKit(createOpenaiSurface(options), echo), {
    post: (path: string, body: unknown) => {
      const bodyText = typeof body === "string" ? body : JSON.stringify(body);
      return toAnswered(kit.handle({ path, bodyText }), kit.nowMs);
    },
    get: (path: string) => toAnswered(kit.handle({ method: "GET", path }), kit.nowMs),
  });
  return kit;
}

function toAnswered(response: SimResponse, nowMs: number): Answered {
  const { status, headers, body } = response;
  const text = readToEnd(response, nowMs);
  const events = [...text.matchAll(/^data: (.*)$/gm)].map((match): Body => {
    const data = match[1] ?? "";
    return data === "[DONE]" ? data : JSON.parse(data);
  });
  return {
    status,
    headers,
    text,
    json: typeof body === "string" ? JSON.parse(text) : null,
    events,
  };
}

export function echo({ turns }: Prompt): Reply {
  return { parts: [{ kind: "text", text: `You said: ${turns.at(-1)?.text ?? ""}` }], stop: "end" };
}

/** Text of about that many tokens, different for every name. */
export function words(name: string, tokens: number): string {
  return Array.from({ length: tokens }, (_, index) => (index === 0 ? name : " word")).join("");
}

export const markedModel = "gpt-6.1-sol";
export const minuteMs = 60_000;
/** These tokens open the reply and are never cached. */
export const openingTokens = 3;

export interface Tokens {
  readonly total: number;
  readonly read: number;
  /** Absent if the API does not report it. */
  readonly written: number | undefined;
}

export function sendResponses(kit: Kit, input: Body, more: object = {}): Tokens {
  return tokensOf(kit.post("/v1/responses", { model: markedModel, input, ...more }), "input");
}

export function sendChat(kit: Kit, messages: Body, more: object = {}): Tokens {
  const body = { model: markedModel, messages, ...more };
  return tokensOf(kit.post("/v1/chat/completions", body), "prompt");
}

function tokensOf({ status, text, json }: Answered, word: "input" | "prompt"): Tokens {
  if (status !== 200) throw new Error(text);
  const details = json.usage[`${word}_tokens_details`];
  const { cached_tokens: read, cache_write_tokens: written } = details;
  return { total: json.usage[`${word}_tokens`], read, written };
}

export function countInput(kit: Kit, input: Body): number {
  return kit.post("/v1/responses/input_tokens", { model: markedModel, input }).json.input_tokens;
}

export function user(text: string): Body {
  return { role: "user", content: text };
}

export function developer(text: string): Body {
  return { role: "developer", content: text };
}

export function assistant(text: string): Body {
  return { role: "assistant", content: text };
}

/** A message of the Responses API with a breakpoint at its end. */
export function marked(role: string, text: string, ttl?: string): Body {
  const breakpoint = { mode: "explicit", ...(ttl === undefined ? {} : { ttl }) };
  const content = [{ type: "input_text", text, prompt_cache_breakpoint: breakpoint }];
  return { role, content };
}

export function functionCall(id: string): Body {
  return { type: "function_call", call_id: id, name: "read", arguments: "{}" };
}

export function functionOutput(id: string, text: string): Body {
  return { type: "function_call_output", call_id: id, output: text };
}
