// Converts messages of the Chat Completions API to items.
import { invalid, missing, notSimulated } from "../api-error.ts";
import { fields, find, pathOf, type Place } from "./fields.ts";
import type { Item, Role } from "./items.ts";
import { ownMarkers, readParts, type MarkerReader, type Spelling } from "./read-parts.ts";

const chatParts: Spelling = {
  text: "text",
  image_url: "image",
  input_audio: "audio",
  refusal: "refusal",
  file: "file",
};
const roles = ["system", "assistant", "user", "function", "tool", "developer"] as const;

/** What servers of others have besides: markers of another form, and thinking that is sent back. */
export interface ChatExtras {
  readonly markers: MarkerReader;
  /** The member with the thinking of an earlier reply; null if the server ignores it. */
  readonly thinking: string | null;
}

const noExtras: ChatExtras = { markers: ownMarkers, thinking: null };

export function readMessages(body: Place, extras: ChatExtras = noExtras): readonly Item[] {
  const messages = fields.findPlaces(body, "messages");
  if (messages === null) throw missing("messages");
  if (messages.length === 0) {
    const message =
      "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.";
    throw invalid(message, "messages", "empty_array");
  }
  checkAnswers(messages);
  return messages.flatMap((message) => readMessage(message, extras));
}

function readMessage(place: Place, extras: ChatExtras): readonly Item[] {
  const role = fields.oneOfAt(place, "role", roles);
  if (role === "function") throw notSimulated("The role 'function'", pathOf(place, "role"));
  if (role === "tool") {
    const callId = fields.textAt(place, "tool_call_id");
    const parts = readParts(place, "content", chatParts, extras.markers);
    return [{ kind: "tool output", callId, parts, isCustom: false }];
  }
  if (role === "assistant")
    return [...readThinking(place, extras), ...readAssistant(place, extras)];
  return [toMessage(place, role, extras)];
}

function readThinking(place: Place, { thinking }: ChatExtras): readonly Item[] {
  const summary = thinking === null ? null : fields.findText(place, thinking);
  return summary === null ? [] : [{ kind: "reasoning", summary, sealed: null }];
}

function readAssistant(place: Place, extras: ChatExtras): readonly Item[] {
  const calls = (fields.findPlaces(place, "tool_calls") ?? []).map(readToolCall);
  const content = find(place, "content");
  const refusal = fields.findText(place, "refusal");
  if (content === null && refusal !== null) {
    const parts = [{ kind: "text", text: refusal, marker: null }] as const;
    return [{ kind: "message", role: "assistant", label: "", parts }, ...calls];
  }
  const isEmpty = content === null || (content.kind === "string" && content.text === "");
  if (isEmpty && calls.length > 0) return calls;
  return [toMessage(place, "assistant", extras), ...calls];
}

function toMessage(place: Place, role: Role, { markers }: ChatExtras): Item {
  const label = fields.findText(place, "name") ?? "";
  const parts = readParts(place, "content", chatParts, markers);
  return { kind: "message", role, label, parts };
}

function readToolCall(place: Place): Item {
  const isCustom = fields.textAt(place, "type") === "custom";
  const call = fields.findPlace(place, isCustom ? "custom" : "function");
  if (call === null) throw missing(pathOf(place, isCustom ? "custom" : "function"));
  return {
    kind: "tool use",
    callId: fields.textAt(place, "id"),
    name: fields.textAt(call, "name"),
    input: fields.textAt(call, isCustom ? "input" : "arguments"),
    isCustom,
  };
}

/** Tool messages must directly follow their calls, in any order, one per call. */
function checkAnswers(messages: readonly Place[]): void {
  const open = new Set<string>();
  let caller = -1;
  messages.forEach((place, index) => {
    const role = fields.oneOfAt(place, "role", roles);
    if (role === "tool") {
      if (caller === -1) throw orphan(index);
      open.delete(fields.textAt(place, "tool_call_id"));
      return;
    }
    if (open.size > 0) throw unanswered(open);
    const calls = role === "assistant" ? (fields.findPlaces(place, "tool_calls") ?? []) : [];
    caller = calls.length > 0 ? index : -1;
    for (const call of calls) open.add(fields.textAt(call, "id"));
  });
  if (open.size > 0) throw unanswered(open);
}

function orphan(index: number): Error {
  const message =
    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.";
  return invalid(message, `messages.[${index}].role`, null);
}

function unanswered(open: ReadonlySet<string>): Error {
  const message = `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${[...open].join(", ")}`;
  return invalid(message, "messages", null);
}
