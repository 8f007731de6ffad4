// A chat completion, as one object or as chunks.
import type { SurfaceContext } from "../../surface.ts";
import { piecesOf } from "../../reply-text.ts";
import type { Call } from "../run-call.ts";
import { toChatUsage } from "./usage.ts";

export interface ChatReply {
  readonly head: object;
  readonly text: string | null;
  readonly calls: readonly ChatCall[];
  readonly finishReason: "stop" | "length" | "tool_calls";
  readonly usage: object;
  readonly completion: object;
}

interface ChatCall {
  readonly id: string;
  readonly name: string;
  readonly input: string;
  readonly isCustom: boolean;
}

/** Chat does not show reasoning; only its tokens count. */
export function toChatCompletion(call: Call, context: SurfaceContext): ChatReply {
  const { request, produced, open, rendering } = call;
  const texts = produced.parts.flatMap((part) => (part.kind === "text" ? [part.text] : []));
  const calls = produced.parts.flatMap((part): ChatCall[] =>
    part.kind === "tool use" ? [{ ...part, id: context.newId("call_") }] : [],
  );
  const text = texts.length === 0 && calls.length > 0 ? null : texts.join("");
  const finishReason = produced.isCut ? "length" : calls.length > 0 ? "tool_calls" : "stop";
  const usage = toChatUsage(open.bill, produced, request.facts, rendering);
  const head = {
    id: call.id,
    created: Math.floor(context.nowMs / 1000),
    model: request.model,
    service_tier: request.settings.serviceTier,
    system_fingerprint: null,
  };
  const message = {
    role: "assistant",
    content: text,
    refusal: null,
    annotations: [],
    ...(calls.length === 0 ? {} : { tool_calls: calls.map(toWire) }),
  };
  const choice = { index: 0, message, logprobs: null, finish_reason: finishReason };
  const completion = { ...head, object: "chat.completion", choices: [choice], usage };
  return { head, text, calls, finishReason, usage, completion };
}

function toWire({ id, name, input, isCustom }: ChatCall): object {
  return isCustom
    ? { id, type: "custom", custom: { name, input } }
    : { id, type: "function", function: { name, arguments: input } };
}

export function* chatEvents(reply: ChatReply, includesUsage: boolean): Iterable<string> {
  const nulls = includesUsage ? { usage: null } : {};
  const head = { ...reply.head, object: "chat.completion.chunk" };
  const chunk = (delta: object, finishReason: string | null = null): string => {
    const choice = { index: 0, delta, logprobs: null, finish_reason: finishReason };
    return toEvent({ ...head, choices: [choice], ...nulls });
  };
  const content = reply.text === null ? null : "";
  yield chunk({ role: "assistant", content, refusal: null });
  for (const piece of piecesOf(reply.text ?? "")) yield chunk({ content: piece });
  for (const [index, call] of reply.calls.entries()) {
    yield chunk({ tool_calls: [{ index, ...toWire({ ...call, input: "" }) }] });
    for (const piece of piecesOf(call.input)) {
      const more = call.isCustom
        ? { custom: { input: piece } }
        : { function: { arguments: piece } };
      yield chunk({ tool_calls: [{ index, ...more }] });
    }
  }
  yield chunk({}, reply.finishReason);
  if (includesUsage) yield toEvent({ ...head, choices: [], usage: reply.usage });
  yield "data: [DONE]\n\n";
}

function toEvent(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}
