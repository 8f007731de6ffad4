// Bodies in a few words for the tests of this folder.
import { noUsage, type Usage } from "../message/usage.ts";
import type { ModelFacts } from "../models/model-facts.ts";
import { resolveModel } from "../models/resolve-model.ts";
import { readRequest } from "../wire/foreign/read-request.ts";
import type { ForeignRequest } from "../wire/foreign/foreign-request.ts";

/** Four markers, 20 positions, 5m and 1h, minimum 1024 tokens. */
export const sonnet: ModelFacts = resolveModel("claude-sonnet-4-6").facts;
/** Drops earlier thinking when the user speaks; minimum 4096 tokens. */
export const haiku: ModelFacts = resolveModel("claude-haiku-4-5").facts;
/** Ends prefixes by itself and takes markers; 30m, minimum 1024 tokens. */
export const gpt: ModelFacts = resolveModel("gpt-6.1-sol").facts;

/** When every test's last call is sent. */
export const startMs = 1_794_744_000_000;

/** Text of so many tokens when counted by length. */
export function textOf(tokens: number, seed = "word"): string {
  const length = Math.floor(tokens * 3.6);
  return `${seed} `.repeat(Math.ceil(length / (seed.length + 1))).slice(0, length);
}

export const marker = { cache_control: { type: "ephemeral" } } as const;

export function tool(name: string, extra: object = {}): Record<string, unknown> {
  return {
    name,
    description: `The tool ${name}.`,
    input_schema: { type: "object", properties: { path: { type: "string" } } },
    ...extra,
  };
}

export interface MessagesBody {
  [key: string]: unknown;
  model: string;
  max_tokens: number;
  tools: Record<string, unknown>[];
  system: Record<string, unknown>[];
  messages: { role: string; content: unknown }[];
}

function unchanged(): void {}

/** Two tools, 2,000 tokens of system text, three messages of 500; marked on the system and at the end. */
export function messagesBody(change: (body: MessagesBody) => unknown = unchanged): ForeignRequest {
  const body: MessagesBody = {
    model: "claude-sonnet-4-6",
    max_tokens: 100,
    tools: [tool("Bash"), tool("Read")],
    system: [{ type: "text", text: textOf(2000, "rule"), ...marker }],
    messages: [
      { role: "user", content: textOf(500, "ask") },
      { role: "assistant", content: textOf(500, "say") },
      { role: "user", content: [{ type: "text", text: textOf(500, "go"), ...marker }] },
    ],
  };
  change(body);
  return readRequest(JSON.stringify(body));
}

/** The reply and the next question, with the marker moved to the end. */
export function goOn(body: MessagesBody, text: string = textOf(500, "more")): void {
  const last = body.messages.at(-1);
  if (last !== undefined) last.content = textOf(500, "go");
  body.messages.push({ role: "assistant", content: textOf(500, "done") });
  body.messages.push({ role: "user", content: [{ type: "text", text, ...marker }] });
}

export function usageOf(read: number, written: number, uncached = 10): Usage {
  return {
    ...noUsage,
    cacheReadTokens: read,
    cacheWriteTokens: written === 0 ? {} : { "5m": written },
    uncachedTokens: uncached,
  };
}

/** Tokens up to the block at a path, inclusive. */
export function tokensAt({ blocks }: ForeignRequest, path: string): number {
  return blocks.find((block) => block.path === path)?.endTokens ?? -1;
}
