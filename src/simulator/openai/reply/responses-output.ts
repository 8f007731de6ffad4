// Output items of a response: reasoning, messages and tool calls, for the client and for the store.
import type { SurfaceContext } from "../../surface.ts";
import type { Item } from "../request/items.ts";
import { parseJson } from "../request/fields.ts";
import type { Produced, ProducedPart } from "./produce.ts";
import { readItem } from "../request/read-responses-input.ts";
import { seal } from "../render/sealed.ts";

/** One item on the wire; `body` is the text that is streamed. */
export type OutputItem = { readonly id: string; readonly status: "completed" | "incomplete" } & (
  | { readonly kind: "message"; readonly body: string }
  | { readonly kind: "reasoning"; readonly body: string; readonly sealed: string }
  | {
      readonly kind: "function_call" | "custom_tool_call";
      readonly body: string;
      readonly callId: string;
      readonly name: string;
      readonly namespace: string | null;
    }
);

export interface Shown {
  /** Whether the client sees a summary of the reasoning. */
  readonly summary: boolean;
  /** Whether the client gets the sealed reasoning. */
  readonly sealed: boolean;
}

export function toOutputItems({ parts }: Produced, context: SurfaceContext): readonly OutputItem[] {
  return parts.map((part) => toOutputItem(part, context));
}

function toOutputItem(part: ProducedPart, { newId }: SurfaceContext): OutputItem {
  const status = part.isWhole ? "completed" : "incomplete";
  switch (part.kind) {
    case "text":
      return { kind: "message", id: newId("msg_"), status, body: part.text };
    case "thinking":
      return {
        kind: "reasoning",
        id: newId("rs_"),
        status,
        body: part.text,
        sealed: seal(part.text),
      };
    case "tool use": {
      const kind = part.isCustom ? "custom_tool_call" : "function_call";
      const id = newId(part.isCustom ? "ctc_" : "fc_");
      const { name, namespace, input } = part;
      return { kind, id, status, body: input, callId: newId("call_"), name, namespace };
    }
  }
}

export function toBegun(item: OutputItem, shown: Shown): object {
  const wire = { ...toWire({ ...item, body: "" }, shown), status: "in_progress" };
  return item.kind === "message" ? { ...wire, content: [] } : wire;
}

export function toWire(item: OutputItem, shown: Shown): object {
  const { id, status, body } = item;
  switch (item.kind) {
    case "message":
      return { id, type: "message", status, role: "assistant", content: [toTextPart(body)] };
    case "reasoning": {
      const summary = shown.summary && body !== "" ? [{ type: "summary_text", text: body }] : [];
      const sealed = shown.sealed ? { encrypted_content: item.sealed } : {};
      return { id, type: "reasoning", summary, ...sealed };
    }
    case "function_call":
    case "custom_tool_call": {
      const { kind, callId, name, namespace } = item;
      const input = kind === "function_call" ? { arguments: body } : { input: body };
      const within = namespace === null ? {} : { namespace };
      return { id, type: kind, status, ...input, call_id: callId, name, ...within };
    }
  }
}

export function toTextPart(text: string): object {
  return { type: "output_text", annotations: [], logprobs: [], text };
}

/** The item as it is read when the client sends it back, by the same reader. */
export function toItem(output: OutputItem): Item | null {
  const object = parseJson(JSON.stringify(toWire(output, { summary: true, sealed: true })));
  if (object === null || object.kind !== "object") return null;
  return readItem({ object, path: "output" }, () => null);
}
