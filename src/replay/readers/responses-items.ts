// Input and output items of the Responses API, as drafts. Its own agent keeps its transcripts in them.
import { fieldsIn, listIn, textIn, type Fields } from "../../core/message/fields.ts";
import type { BlockDraft, Drafting } from "./block-draft.ts";
import { toolResult, toolUse } from "./counted-block.ts";
import { draftFunctions, draftParts, draftWhole, type PartPlace } from "./openai-parts.ts";

/** Whether the model made the item. */
export function isOutputItem(item: Fields): boolean {
  const type = textIn(item, "type") ?? "message";
  if (type === "message") return item["role"] === "assistant";
  return type === "reasoning" || type.endsWith("_call");
}

/** Instructions stand before all items and carry no markers. */
export function draftInstructions(text: unknown, drafting: Drafting): BlockDraft[] {
  const place = { role: "system", tier: "T1", lifetime: "30m" } as const;
  return draftParts(text, place, drafting).map((draft) => ({ ...draft, mayCarryMarker: false }));
}

/** Ids and states are left out of what is compared: they change where nothing is said differently. */
export function draftItem(
  { id: _id, status: _status, ...item }: Fields,
  place: Omit<PartPlace, "role">,
  drafting: Drafting,
): BlockDraft[] {
  const type = textIn(item, "type") ?? "message";
  const whole = { fields: item, role: "assistant", opensReply: false } as const;
  switch (type) {
    case "message":
      return draftParts(item["content"], { ...place, role: roleOf(item) }, drafting);
    case "reasoning": {
      const signature = textIn(item, "encrypted_content") ?? "";
      const summary = listIn(item, "summary").map((part) => JSON.stringify(part));
      const content = { type: "thinking", text: summary.join("\n"), signature } as const;
      return [draftWhole({ ...whole, content, kind: "thinking" }, drafting)];
    }
    case "additional_tools":
      return draftFunctions(item["tools"], drafting);
    case "compaction": {
      const content = { type: "opaque", json: textIn(item, "encrypted_content") ?? "" } as const;
      return [draftWhole({ ...whole, content, kind: "compaction" }, drafting)];
    }
    default:
      return [draftTool(type, whole, drafting)];
  }
}

function draftTool(
  type: string,
  whole: { readonly fields: Fields; readonly role: "assistant"; readonly opensReply: boolean },
  drafting: Drafting,
): BlockDraft {
  const { fields } = whole;
  if (type.endsWith("_output")) {
    const content = toolResult(outputOf(fields["output"]));
    return draftWhole({ ...whole, role: "user", content, kind: "tool_result" }, drafting);
  }
  const input = textIn(fields, "arguments") ?? textIn(fields, "input");
  if (type.endsWith("_call")) {
    const name = textIn(fields, "name") ?? type;
    const content = toolUse(name, input ?? JSON.stringify(fieldsIn(fields, "action")));
    return draftWhole({ ...whole, content, kind: "tool_use" }, drafting);
  }
  const content = { type: "opaque", json: JSON.stringify(fields) } as const;
  return draftWhole({ ...whole, role: "user", content, kind: "other" }, drafting);
}

/** Text, parts, or an object with its text inside. */
function outputOf(output: unknown): unknown {
  if (typeof output !== "object" || output === null || Array.isArray(output)) {
    return Array.isArray(output) ? output.map(toTextBlock) : output;
  }
  return "content" in output ? outputOf(output.content) : output;
}

function toTextBlock(part: unknown): unknown {
  if (typeof part !== "object" || part === null || !("text" in part)) return part;
  return { type: "text", text: part.text };
}

function roleOf(item: Fields): PartPlace["role"] {
  const role = item["role"];
  if (role === "assistant") return role;
  return role === "developer" || role === "system" ? "system" : "user";
}
