// Messages of Chat Completions, as drafts.
import { fieldsIn, fieldsOf, listIn, textIn, type Fields } from "../../core/message/fields.ts";
import type { BlockDraft, Drafting } from "./block-draft.ts";
import { toolResult, toolUse } from "./counted-block.ts";
import { draftParts, draftWhole, type PartPlace } from "./openai-parts.ts";
import { joinMessages } from "./thread-history.ts";

export function isSystemMessage(message: Fields): boolean {
  return message["role"] === "system" || message["role"] === "developer";
}

/** One message: its parts, and a block for each call it asks for. */
export function draftChatMessage(
  message: Fields,
  place: Omit<PartPlace, "role">,
  drafting: Drafting,
): BlockDraft[] {
  const { role, content } = message;
  if (role === "tool" || role === "function") {
    const fields = { call: message["tool_call_id"], content };
    const result = toolResult(content);
    return [
      draftWhole(
        { fields, content: result, kind: "tool_result", role: "user", opensReply: false },
        drafting,
      ),
    ];
  }
  if (isSystemMessage(message)) return draftParts(content, { ...place, role: "system" }, drafting);
  if (role !== "assistant") return draftParts(content, { ...place, role: "user" }, drafting);
  // A message that only asks for calls may say an empty text, which is nothing.
  const said = content === "" ? [] : draftParts(content, { ...place, role: "assistant" }, drafting);
  const calls = listIn(message, "tool_calls").map((call, index) =>
    draftCall(fieldsOf(call), said.length === 0 && index === 0, drafting),
  );
  return joinMessages([...said, ...calls]);
}

function draftCall(call: Fields, opensReply: boolean, drafting: Drafting): BlockDraft {
  const asked = fieldsIn(call, "function");
  const input = textIn(asked, "arguments") ?? textIn(fieldsIn(call, "custom"), "input") ?? "{}";
  const content = toolUse(textIn(asked, "name"), input);
  const role = "assistant";
  return draftWhole({ fields: call, content, kind: "tool_use", role, opensReply }, drafting);
}
