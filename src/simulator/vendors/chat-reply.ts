// A vendor's chat completion, as one object or as chunks.
import { piecesOf } from "../reply-text.ts";
import type { Call } from "../openai/run-call.ts";
import type { SurfaceContext } from "../surface.ts";

/** How a vendor writes what the model said. */
export interface ReplyForm {
  readonly thinking: string | null;
  readonly callIds: "call_" | "nine letters and digits" | "chatcmpl-tool-" | "short";
}

export interface VendorReply {
  readonly head: object;
  readonly text: string | null;
  /** In its own member; null if there is none, or none is shown. */
  readonly thinking: { readonly member: string; readonly text: string } | null;
  readonly calls: readonly ReplyCall[];
  readonly finishReason: "stop" | "length" | "tool_calls";
}

interface ReplyCall {
  readonly id: string;
  readonly name: string;
  readonly input: string;
}

export function toVendorReply(call: Call, form: ReplyForm, context: SurfaceContext): VendorReply {
  const { request, produced } = call;
  const textOf = (kind: "text" | "thinking"): readonly string[] =>
    produced.parts.flatMap((part) => (part.kind === kind ? [part.text] : []));
  const calls = produced.parts.flatMap((part): ReplyCall[] =>
    part.kind === "tool use"
      ? [{ id: callId(form, context), name: part.name, input: part.input }]
      : [],
  );
  const texts = textOf("text");
  const thoughts = textOf("thinking");
  const { thinking: member } = form;
  return {
    head: { id: call.id, created: Math.floor(context.nowMs / 1000), model: request.model },
    text: texts.length === 0 && calls.length > 0 ? null : texts.join(""),
    thinking:
      member === null || thoughts.length === 0 ? null : { member, text: thoughts.join("\n") },
    calls,
    finishReason: produced.isCut ? "length" : calls.length > 0 ? "tool_calls" : "stop",
  };
}

function callId({ callIds }: ReplyForm, { newId }: SurfaceContext): string {
  switch (callIds) {
    case "nine letters and digits":
      return newId("").slice(-9);
    case "short":
      return newId("");
    case "call_":
    case "chatcmpl-tool-":
      return newId(callIds);
  }
}

/** `more`: members of the whole, such as its usage. */
export function toCompletion(reply: VendorReply, more: object): object {
  const { head, text, thinking, calls, finishReason } = reply;
  const message = {
    role: "assistant",
    content: text,
    ...(thinking === null ? {} : { [thinking.member]: thinking.text }),
    ...(calls.length === 0 ? {} : { tool_calls: calls.map(toWire) }),
  };
  const choices = [{ index: 0, message, logprobs: null, finish_reason: finishReason }];
  return { ...head, object: "chat.completion", choices, ...more };
}

/** What stands at the end of a stream. */
export interface StreamEnd {
  /** Members of the chunk that says why the model stopped. */
  readonly withStop: object;
  /** Members of its choice. */
  readonly inChoice: object;
  /** Members of a last chunk without a choice; null for no such chunk. */
  readonly after: object | null;
}

export function* vendorChunks(reply: VendorReply, end: StreamEnd): Iterable<string> {
  const head = { ...reply.head, object: "chat.completion.chunk" };
  const chunk = (members: object): string => `data: ${JSON.stringify({ ...head, ...members })}\n\n`;
  yield chunk(choice({ role: "assistant", content: "" }));
  if (reply.thinking !== null) {
    const { member, text } = reply.thinking;
    for (const piece of piecesOf(text)) yield chunk(choice({ [member]: piece }));
  }
  for (const piece of piecesOf(reply.text ?? "")) yield chunk(choice({ content: piece }));
  for (const [index, call] of reply.calls.entries()) {
    yield chunk(choice({ tool_calls: [{ index, ...toWire({ ...call, input: "" }) }] }));
    for (const piece of piecesOf(call.input)) {
      yield chunk(choice({ tool_calls: [{ index, function: { arguments: piece } }] }));
    }
  }
  yield chunk({ ...choice({}, reply.finishReason, end.inChoice), ...end.withStop });
  if (end.after !== null) yield chunk({ choices: [], ...end.after });
  yield "data: [DONE]\n\n";
}

function choice(delta: object, reason: string | null = null, more: object = {}): object {
  return {
    choices: [{ index: 0, delta, logprobs: null, finish_reason: reason, ...more }],
  };
}

function toWire({ id, name, input }: ReplyCall): object {
  return { id, type: "function", function: { name, arguments: input } };
}
