// Writes a reply as Converse's message, or as the frames of ConverseStream.
import type { Lifetime } from "../billing/billable-request.ts";
import { deltas, type Outcome } from "../anthropic/reply/write-message.ts";
import type { ReplyBlock } from "../anthropic/reply/reply-blocks.ts";
import { eventFrame } from "./frames.ts";
import type { ReadConverse } from "./read-converse.ts";

export interface Conversed extends Pick<ReadConverse, "replyPaths" | "tier" | "latency"> {
  readonly outcome: Outcome;
}

type Fields = Readonly<Record<string, unknown>>;

export function converseText(conversed: Conversed): string {
  const { blocks, stopReason } = conversed.outcome;
  const tail = {
    stopReason,
    ...metadata(conversed),
    ...additionalFields(conversed),
  };
  const message = `{"role":"assistant","content":[${blocks.map(blockText).join(",")}]}`;
  return `{"output":{"message":${message}},${JSON.stringify(tail).slice(1)}`;
}

/** Each piece is one frame. Only tool uses have a start. */
export function* converseEvents(conversed: Conversed): Generator<Uint8Array> {
  const { blocks, stopReason } = conversed.outcome;
  yield event("messageStart", { role: "assistant" });
  for (const [contentBlockIndex, block] of blocks.entries()) {
    if (block.type === "tool_use") {
      const start = { toolUse: { toolUseId: block.id, name: block.name } };
      yield event("contentBlockStart", { start, contentBlockIndex });
    }
    for (const delta of deltas(block).map(toDelta))
      yield event("contentBlockDelta", { delta, contentBlockIndex });
    yield event("contentBlockStop", { contentBlockIndex });
  }
  yield event("messageStop", { stopReason, ...additionalFields(conversed) });
  yield event("metadata", metadata(conversed));
}

function event(name: string, value: Fields): Uint8Array {
  return eventFrame(name, JSON.stringify(value));
}

/** A tool's input stays the text that was generated. */
function blockText(block: ReplyBlock): string {
  switch (block.type) {
    case "text":
      return JSON.stringify({ text: block.text });
    case "thinking": {
      const { thinking: text, signature } = block;
      return JSON.stringify({ reasoningContent: { reasoningText: { text, signature } } });
    }
    case "tool_use": {
      const head = JSON.stringify({ toolUseId: block.id, name: block.name });
      return `{"toolUse":${head.slice(0, -1)},"input":${block.input}}}`;
    }
    case "compaction":
      return JSON.stringify({ text: block.content });
  }
}

/** From the names of the model's own API. */
function toDelta(delta: Readonly<Record<string, string>>): Fields {
  const { type, text, thinking, signature, partial_json: input } = delta;
  if (type === "thinking_delta") return { reasoningContent: { text: thinking } };
  if (type === "signature_delta") return { reasoningContent: { signature } };
  return type === "input_json_delta" ? { toolUse: { input } } : { text };
}

/** Longest lifetime first. */
const lifetimes: readonly Lifetime[] = ["1h", "5m"];

/** Input tokens are those that are neither read nor written; the total has all. */
function usageOf({ bill, outputTokens }: Outcome): Fields {
  const { uncachedTokens, readTokens, writeTokens } = bill;
  const cacheDetails = lifetimes.flatMap((ttl) => {
    const inputTokens = writeTokens[ttl] ?? 0;
    return inputTokens === 0 ? [] : [{ ttl, inputTokens }];
  });
  const written = cacheDetails.reduce((sum, { inputTokens }) => sum + inputTokens, 0);
  return {
    inputTokens: uncachedTokens,
    outputTokens,
    totalTokens: uncachedTokens + readTokens + written + outputTokens,
    cacheReadInputTokens: readTokens,
    cacheWriteInputTokens: written,
    cacheDetails,
  };
}

/** A simulated reply takes no time of its own. */
function metadata({ outcome, tier, latency }: Conversed): Fields {
  return {
    usage: usageOf(outcome),
    metrics: { latencyMs: 0 },
    ...(latency === null ? {} : { performanceConfig: { latency } }),
    ...(tier === null ? {} : { serviceTier: { type: tier } }),
  };
}

/** The fields of the model's own reply that the client named. */
function additionalFields({ outcome, replyPaths }: Conversed): Fields {
  const { stopReason: stop_reason, stopSequence: stop_sequence } = outcome;
  const own: Fields = { stop_reason, stop_sequence, delta: { stop_reason, stop_sequence } };
  const found: Record<string, unknown> = {};
  for (const path of replyPaths) {
    const [first = "", second, ...more] = path.slice(1).split("/");
    const outer = own[first];
    if (outer === undefined || outer === null || more.length > 0) continue;
    if (second === undefined) found[first] = outer;
    else if (typeof outer === "object" && Object.hasOwn(outer, second))
      found[first] = { ...asFields(found[first]), [second]: asFields(outer)[second] };
  }
  return replyPaths.length === 0 ? {} : { additionalModelResponseFields: found };
}

function asFields(value: unknown): Fields {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
