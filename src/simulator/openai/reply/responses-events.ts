// The events of a streamed response, numbered, in the provider's order.
import { piecesOf } from "../../reply-text.ts";
import { statusOf, toBegunResponse, toResponse, type ResponseReply } from "./response-object.ts";
import { toBegun, toTextPart, toWire, type OutputItem } from "./responses-output.ts";

interface Event {
  readonly type: string;
  readonly fields: object;
}

export function* responseEvents(reply: ResponseReply): Iterable<string> {
  let number = 0;
  for (const { type, fields } of eventsOf(reply)) {
    const data = { type, ...fields, sequence_number: number };
    number += 1;
    yield `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
  }
}

function* eventsOf(reply: ResponseReply): Iterable<Event> {
  const begun = { response: toBegunResponse(reply) };
  yield { type: "response.created", fields: begun };
  yield { type: "response.in_progress", fields: begun };
  for (const [index, item] of reply.output.entries()) {
    yield {
      type: "response.output_item.added",
      fields: { output_index: index, item: toBegun(item, reply.shown) },
    };
    const place = { item_id: item.id, output_index: index };
    yield* bodyEvents(item, place, reply);
    yield {
      type: "response.output_item.done",
      fields: { output_index: index, item: toWire(item, reply.shown) },
    };
  }
  yield { type: `response.${statusOf(reply)}`, fields: { response: toResponse(reply) } };
}

function* bodyEvents(item: OutputItem, place: object, reply: ResponseReply): Iterable<Event> {
  const { body } = item;
  switch (item.kind) {
    case "message": {
      const at = { ...place, content_index: 0 };
      yield { type: "response.content_part.added", fields: { ...at, part: toTextPart("") } };
      for (const delta of piecesOf(body)) {
        yield { type: "response.output_text.delta", fields: { ...at, delta, logprobs: [] } };
      }
      yield { type: "response.output_text.done", fields: { ...at, text: body, logprobs: [] } };
      yield { type: "response.content_part.done", fields: { ...at, part: toTextPart(body) } };
      return;
    }
    case "reasoning": {
      if (!reply.shown.summary || body === "") return;
      const at = { ...place, summary_index: 0 };
      const part = (text: string): object => ({ ...at, part: { type: "summary_text", text } });
      yield { type: "response.reasoning_summary_part.added", fields: part("") };
      for (const delta of piecesOf(body)) {
        yield { type: "response.reasoning_summary_text.delta", fields: { ...at, delta } };
      }
      yield { type: "response.reasoning_summary_text.done", fields: { ...at, text: body } };
      yield { type: "response.reasoning_summary_part.done", fields: part(body) };
      return;
    }
    case "function_call":
    case "custom_tool_call": {
      const isFunction = item.kind === "function_call";
      const name = `response.${isFunction ? "function_call_arguments" : "custom_tool_call_input"}`;
      for (const delta of piecesOf(body)) {
        yield { type: `${name}.delta`, fields: { ...place, delta } };
      }
      const whole = isFunction ? { arguments: body } : { input: body };
      yield { type: `${name}.done`, fields: { ...place, ...whole } };
      return;
    }
  }
}
