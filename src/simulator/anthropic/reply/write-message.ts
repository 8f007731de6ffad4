// Writes a reply as one JSON message or as a stream of events.
import type { Bill } from "../../billing/bill.ts";
import type { Diagnostics } from "../diagnostics.ts";
import type { MadeReply } from "./generate-reply.ts";
import type { MessagesRequest } from "../request/read-request.ts";
import { bindingBeta } from "../request/read-options.ts";
import { blockText, type ReplyBlock } from "./reply-blocks.ts";
import type { InputTransformation } from "../render/thinking-binding.ts";
import { piecesOf } from "../../reply-text.ts";
import { usageOf } from "./usage.ts";

export interface Outcome extends MadeReply {
  readonly id: string;
  readonly request: MessagesRequest;
  readonly bill: Bill;
  readonly diagnostics: Diagnostics;
  readonly transformations: readonly InputTransformation[];
  /** What the first event of a stream says, where a vendor has the true split only in the last. */
  readonly begunBill?: Bill;
  /** Members of the usage that a vendor adds. */
  readonly usageMembers?: object;
  /** For servers that say nothing of their cache. */
  readonly hidesCache?: boolean;
}

export function messageText(outcome: Outcome): string {
  const { bill, request, blocks, stopReason, stopSequence } = outcome;
  return message(outcome, `[${blocks.map(blockText).join(",")}]`, {
    stop_reason: stopReason,
    stop_sequence: stopSequence,
    usage: shown(usageOf(bill, outcome, request), outcome),
    ...contextManagement(request),
  });
}

type Fields = Readonly<Record<string, unknown>>;

/** Each string is one event. */
export function* messageEvents(outcome: Outcome): Generator<string> {
  for (const { name, data } of messageEventData(outcome)) yield event(name, data);
}

export interface MessageEvent {
  readonly name: string;
  readonly data: string;
}

/** The events of a streamed message, before a transport frames them. */
export function* messageEventData(outcome: Outcome): Generator<MessageEvent> {
  const { bill, request, blocks, stopReason, stopSequence } = outcome;
  const nearlyNothing = { outputTokens: Math.min(1, outcome.outputTokens), thinkingTokens: 0 };
  const begun = message(outcome, "[]", {
    stop_reason: null,
    stop_sequence: null,
    usage: shown(usageOf(outcome.begunBill ?? bill, nearlyNothing, request), begunOf(outcome)),
  });
  yield { name: "message_start", data: `{"type":"message_start","message":${begun}}` };
  if (blocks.length === 0) yield ping;
  for (const [index, block] of blocks.entries()) {
    const start = `{"type":"content_block_start","index":${index},"content_block":${opened(block)}}`;
    yield { name: "content_block_start", data: start };
    if (index === 0) yield ping;
    for (const delta of deltas(block)) yield toEvent({ type: "content_block_delta", index, delta });
    yield toEvent({ type: "content_block_stop", index });
  }
  const last = {
    type: "message_delta",
    delta: { stop_reason: stopReason, stop_sequence: stopSequence },
    usage: shown(usageOf(bill, outcome, request, "last event"), outcome),
    ...contextManagement(request),
  };
  yield toEvent(last);
  yield toEvent({ type: "message_stop" });
}

/** As the vendor shows it. */
function shown(
  usage: Readonly<Record<string, unknown>>,
  {
    bill,
    hidesCache = false,
    usageMembers = {},
  }: Pick<Outcome, "bill" | "hidesCache" | "usageMembers">,
): object {
  if (!hidesCache) return { ...usage, ...usageMembers };
  return { input_tokens: bill.totalTokens, output_tokens: usage["output_tokens"] };
}

/** The first event says nothing of what the call costs. */
function begunOf({ bill, hidesCache = false }: Outcome): Parameters<typeof shown>[1] {
  return { bill, hidesCache };
}

/** Takes the content as JSON text, because tool inputs keep the spelling they were generated with. */
function message(outcome: Outcome, content: string, ending: Fields): string {
  const { id, request, diagnostics, transformations } = outcome;
  const head = { id, type: "message", role: "assistant", model: request.requestedModel };
  const isReported = request.betas.has(bindingBeta) && request.facts.capabilities.thinking;
  const tail = {
    ...ending,
    container: null,
    stop_details: null,
    ...(diagnostics === undefined ? {} : { diagnostics }),
    ...(isReported ? { input_transformations: transformations } : {}),
  };
  return `${JSON.stringify(head).slice(0, -1)},"content":${content},${JSON.stringify(tail).slice(1)}`;
}

function contextManagement({ options }: MessagesRequest): Fields {
  return options.hasContextManagement ? { context_management: { applied_edits: [] } } : {};
}

function event(name: string, data: string): string {
  return `event: ${name}\ndata: ${data}\n\n`;
}

const ping: MessageEvent = toEvent({ type: "ping" });

function toEvent(value: Fields & { readonly type: string }): MessageEvent {
  return { name: value.type, data: JSON.stringify(value) };
}

/** The provider may find itself overloaded while it streams. */
export function overloadedEvent(): string {
  const error = { type: "overloaded_error", message: "Overloaded" };
  return event("error", JSON.stringify({ type: "error", error }));
}

/** A block before its content; a summary is sent in one piece. */
function opened(block: ReplyBlock): string {
  switch (block.type) {
    case "text":
      return '{"type":"text","text":""}';
    case "thinking":
      return '{"type":"thinking","thinking":"","signature":""}';
    case "tool_use":
      return JSON.stringify({ type: "tool_use", id: block.id, name: block.name, input: {} });
    case "compaction":
      return blockText(block);
  }
}

export function deltas(block: ReplyBlock): readonly Readonly<Record<string, string>>[] {
  switch (block.type) {
    case "text":
      return pieces(block.text).map((text) => ({ type: "text_delta", text }));
    case "thinking":
      return [
        ...pieces(block.thinking).map((thinking) => ({ type: "thinking_delta", thinking })),
        { type: "signature_delta", signature: block.signature },
      ];
    case "tool_use":
      return ["", ...pieces(block.input)].map((text) => ({
        type: "input_json_delta",
        partial_json: text,
      }));
    case "compaction":
      return [];
  }
}

/** A few pieces for text of any length. */
function pieces(text: string): readonly string[] {
  return piecesOf(text, Math.max(24, Math.ceil(text.length / 8)));
}
