// Which span is a call of a model, and what it says about it: its counts, and its prompt where content is recorded.
import { textIn, type Fields } from "../../../core/message/fields.ts";
import { findProtocolCalled } from "../../../core/wire/foreign/recognise-protocol.ts";
import { usageOf } from "./otel-usage.ts";
import type { BlockDraft, Drafting } from "../block-draft.ts";
import { draftOther } from "../forms/other-messages.ts";
import type { Span } from "./otel-spans.ts";
import type { TracedCall } from "../traced-calls.ts";

/** The call, why it cannot be used, or null for a span of something else. */
export function readCall(span: Span, line: number, drafting: Drafting): TracedCall | string | null {
  const { attributes } = span;
  const kind = kindOf(attributes);
  if (kind === "other") return null;
  const provider = firstText(attributes, providerNames);
  const protocol = findProtocolCalled(provider ?? "");
  const usage = usageOf(attributes, protocol?.foreign.cacheDefaults.lifetime ?? "30m");
  if (kind === "sum") return usage === null ? null : "its usage is the sum of other spans";
  if (kind === "embedding") return "it makes embeddings, which no cache serves";
  if (usage === null) {
    const error = textIn(attributes, "error.type");
    if (!span.hasFailed && error === undefined) return "the span has no usage";
    return `the call failed: ${error ?? "error"}`;
  }
  const { traceId, spanId, parentSpanId, startMs, endMs } = span;
  return {
    line,
    place: `${traceId}/${spanId}`,
    parent: parentSpanId === null ? null : `${traceId}/${parentSpanId}`,
    startMs,
    endMs,
    prompt: draftPrompt(attributes, drafting),
    id: firstText(attributes, ["gen_ai.response.id"]) ?? `${traceId}/${spanId}`,
    conversation: firstText(attributes, conversationNames) ?? traceId,
    agent: firstText(attributes, ["gen_ai.agent.id", "gen_ai.agent.name", "agent.name"]),
    program: firstText(attributes, ["service.name"]),
    wire: protocol?.name ?? null,
    model: firstText(attributes, modelNames),
    usage,
  };
}

const providerNames = ["gen_ai.provider.name", "gen_ai.system", "llm.provider", "llm.system"];
const modelNames = ["gen_ai.response.model", "gen_ai.request.model", "llm.model_name"];
const conversationNames = [
  "gen_ai.conversation.id",
  "session.id",
  "langfuse.session.id",
  "ai.telemetry.metadata.sessionId",
];
const inference = ["chat", "generate_content", "text_completion", "completion"];

/** Spans of agents and workflows repeat the counts of the calls below them. */
function kindOf(attributes: Fields): "call" | "sum" | "embedding" | "other" {
  const operation = textIn(attributes, "gen_ai.operation.name");
  if (operation === undefined) {
    const inferred = textIn(attributes, "openinference.span.kind");
    if (inferred !== undefined) return inferred === "LLM" ? "call" : "other";
    const isModelCall =
      firstText(attributes, modelNames) !== null && firstText(attributes, providerNames) !== null;
    return isModelCall ? "call" : "other";
  }
  if (inference.includes(operation)) return "call";
  return operation === "embeddings" ? "embedding" : "sum";
}

function firstText(attributes: Fields, names: readonly string[]): string | null {
  for (const name of names) {
    const text = textIn(attributes, name);
    if (text !== undefined && text !== "") return text;
  }
  return null;
}

/** Null if the span has no messages. */
function draftPrompt(attributes: Fields, drafting: Drafting): readonly BlockDraft[] | null {
  const messages = listAt(attributes, ["gen_ai.input.messages", "ai.prompt.messages"]);
  if (messages === null) return null;
  const system = listAt(attributes, ["gen_ai.system_instructions"]);
  const tools = listAt(attributes, ["gen_ai.tool.definitions", "ai.prompt.tools"]);
  return draftOther(
    { messages, ...(system === null ? {} : { system }), ...(tools === null ? {} : { tools }) },
    drafting,
  );
}

/** Lists are written as such or as JSON. */
function listAt(attributes: Fields, names: readonly string[]): readonly unknown[] | null {
  for (const name of names) {
    const value = attributes[name];
    const list: unknown = typeof value === "string" ? parsed(value) : value;
    if (Array.isArray(list) && list.length > 0) return list;
  }
  return null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
