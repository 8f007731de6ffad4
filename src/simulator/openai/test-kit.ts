// For tests: the OpenAI surface with real billing and counting, an echoing model and a stopped clock.
import { createBilling } from "../billing/billing.ts";
import { createPromptCounter, type PromptCounter } from "../count-tokens.ts";
import type { Prompt, Reply } from "../prompt.ts";
import type { CallRecord, SimResponse, Surface } from "../surface.ts";
import { createOpenaiSurface, type OpenaiSurfaceOptions } from "./index.ts";

export interface Kit {
  readonly surface: Surface;
  readonly records: CallRecord[];
  readonly prompts: Prompt[];
  nowMs: number;
  answer: (prompt: Prompt) => Reply;
  workspace: string;
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

// Tests read replies by field name, without types.
// oxlint-disable-next-line typescript/no-explicit-any
export type Body = any;

/** Shared, because the first counts are slow and counts never change. */
const counter: PromptCounter = createPromptCounter();

export const startMs: number = Date.UTC(2026, 10, 15, 12);

export function createKit(options: OpenaiSurfaceOptions = {}): Kit {
  const billing = createBilling();
  let ids = 0;
  const newId = (prefix: string): string => {
    ids += 1;
    return `${prefix}${ids}`;
  };
  const send = (method: "GET" | "POST", path: string, bodyText: string): Answered => {
    const route = kit.surface.routes.find((each) => each.method === method && each.path === path);
    if (route === undefined) throw new Error(`no route ${method} ${path}`);
    const request = { method, path, query: new URLSearchParams(), headers: new Map(), bodyText };
    const response = route.handle(request, {
      nowMs: kit.nowMs,
      workspace: kit.workspace,
      newId,
      billing,
      counter,
      answer: (prompt) => {
        kit.prompts.push(prompt);
        return kit.answer(prompt);
      },
      record: (entry) => void kit.records.push(entry),
    });
    response.bill?.begin();
    response.bill?.end(kit.nowMs);
    return toAnswered(response);
  };
  const kit: Kit = {
    surface: createOpenaiSurface(options),
    records: [],
    prompts: [],
    nowMs: startMs,
    answer: echo,
    workspace: "workspace",
    post: (path, body) =>
      send("POST", path, typeof body === "string" ? body : JSON.stringify(body)),
    get: (path) => send("GET", path, ""),
  };
  return kit;
}

function toAnswered({ status, headers, body }: SimResponse): Answered {
  const text = typeof body === "string" ? body : [...body].join("");
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
  const reply = kit.post("/v1/responses", { model: markedModel, input, ...more });
  if (reply.status !== 200) throw new Error(reply.text);
  const { input_tokens: total, input_tokens_details: details } = reply.json.usage;
  return { total, read: details.cached_tokens, written: details.cache_write_tokens };
}

export function sendChat(kit: Kit, messages: Body, more: object = {}): Tokens {
  const reply = kit.post("/v1/chat/completions", { model: markedModel, messages, ...more });
  if (reply.status !== 200) throw new Error(reply.text);
  const { prompt_tokens: total, prompt_tokens_details: details } = reply.json.usage;
  return { total, read: details.cached_tokens, written: details.cache_write_tokens };
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
