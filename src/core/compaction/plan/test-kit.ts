// Small histories for the tests of this folder.
import type { Message } from "../../message/message.ts";
import type { HistoryMessage } from "../history.ts";
import { notesMarkers } from "../summary/notes-markers.ts";

export type MessageKind =
  | "notes"
  | "request"
  | "user"
  | "text"
  | `use ${string}`
  | `result ${string}`;

/** "use a b" calls two tools at once, "result a" answers one of them. Each message has the given number of tokens. */
export function toTurn(
  turnId: string,
  said: readonly (readonly [MessageKind, number])[],
): readonly HistoryMessage[] {
  return said.map(([what, tokens], index) => ({
    turnId,
    index,
    tokens,
    message: toMessage(what, `${turnId}.${index}`),
    ...(what === "notes" || what === "request" ? { compactionPart: what } : {}),
  }));
}

export function toMessage(what: MessageKind, name: string): Message {
  const [kind, ...ids] = what.split(" ");
  if (kind === "notes") {
    const text = `${notesMarkers.start}\n${name}\n${notesMarkers.end}`;
    return { role: "user", content: [{ type: "text", text }] };
  }
  if (kind === "user" || kind === "request")
    return { role: "user", content: [{ type: "text", text: `asks ${name}` }] };
  if (kind === "use") {
    const uses = ids.map(
      (id) => ({ type: "tool_use", id, name: "bash", inputJson: "{}" }) as const,
    );
    return { role: "assistant", content: uses };
  }
  if (kind === "result") return toResult(ids[0] ?? "", `result ${name}`);
  return { role: "assistant", content: [{ type: "text", text: `says ${name}` }] };
}

export function toResult(toolUseId: string, text: string): Message {
  const content = [{ type: "text", text }] as const;
  return { role: "tool", content: [{ type: "tool_result", toolUseId, content, isError: false }] };
}

/** A turn of a question and an answer, with this many tokens together. */
export function chatTurn(turnId: string, tokens: number): readonly HistoryMessage[] {
  return toTurn(turnId, [
    ["user", tokens / 2],
    ["text", tokens / 2],
  ]);
}
