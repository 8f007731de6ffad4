// For tests: a client of the Gemini surface, and an echoing model.
import type { Prompt, Reply } from "../prompt.ts";
import type { SimResponse } from "../surface.ts";
import { createSurfaceKit, readToEnd, type Any as Body, type SurfaceKit } from "../test-kit.ts";
import { createGeminiSurface } from "./index.ts";

export { startMs, type Any as Body } from "../test-kit.ts";

export const flash: string = "gemini-3.8-flash";
export const minuteMs: number = 60_000;
export const hourMs: number = 60 * minuteMs;
/** These tokens open the reply and are part of no prefix that is sent again. */
export const openingTokens = 3;

export interface Kit extends SurfaceKit {
  /** Sends a request and reads the response to its end. */
  send(method: "GET" | "POST" | "PATCH" | "DELETE", path: string, body?: unknown): Answered;
  generate(body: Body, model?: string): Answered;
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

export function createKit(): Kit {
  const base = createSurfaceKit(createGeminiSurface(), echo);
  const send: Kit["send"] = (method, target, body) => {
    const { pathname, searchParams } = new URL(target, "http://localhost");
    const bodyText = typeof body === "string" ? body : JSON.stringify(body ?? {});
    const request = { method, path: pathname, query: searchParams, bodyText };
    return toAnswered(base.handle(request), base.nowMs);
  };
  const kit: Kit = Object.assign(base, {
    send,
    generate: (body: Body, name = flash) =>
      send("POST", `/v1beta/models/${name}:generateContent`, body),
  });
  return kit;
}

function toAnswered(answer: SimResponse, nowMs: number): Answered {
  const { status, headers } = answer;
  const text = readToEnd(answer, nowMs);
  const isStream = headers["content-type"] === "text/event-stream";
  return {
    status,
    headers,
    text,
    json: isStream ? null : JSON.parse(text),
    events: [...text.matchAll(/^data: (.*)$/gm)].map((match): Body => JSON.parse(match[1] ?? "")),
  };
}

export function echo({ turns }: Prompt): Reply {
  return { parts: [{ kind: "text", text: `You said: ${turns.at(-1)?.text ?? ""}` }], stop: "end" };
}

/** Text of about that many tokens, different for every name. */
export function words(name: string, tokens: number): string {
  return Array.from({ length: tokens }, (_, index) => (index === 0 ? name : " word")).join("");
}

export function user(text: string): Body {
  return { role: "user", parts: [{ text }] };
}

export function model(text: string): Body {
  return { role: "model", parts: [{ text }] };
}

export function call(name: string, more: object = {}): Body {
  return { functionCall: { name, args: {} }, ...more };
}

export function response(name: string, output: string): Body {
  return { functionResponse: { name, response: { output } } };
}

/** A reply that calls these functions. */
export function calling(...names: readonly string[]): Reply {
  return {
    parts: names.map((name) => ({ kind: "tool use", name, inputJson: '{"path":"a.ts"}' })),
    stop: "tool use",
  };
}

export const readTool: Body = {
  functionDeclarations: [
    {
      name: "read",
      description: "Reads a file",
      parameters: { type: "OBJECT", properties: { path: { type: "STRING" } } },
    },
  ],
};

export function errorOf({ status, json }: Answered): readonly [number, string, string] {
  return [status, json.error.status, json.error.message];
}
