// Tool events → the next state.
import { countBytes } from "../../../core/layers/cut-middle.ts";
import type { ToolResultBlock } from "../../../core/message/message.ts";
import type { TurnPart } from "../../../engine/turn/turn-handle.ts";
import { toPlainLine } from "../words/plain-text.ts";
import { isOpen, type ChatState, type ToolItem } from "./state.ts";
import { aboutUse } from "../words/tool-words.ts";

type ToolStatus = Extract<TurnPart, { readonly type: "tool" }>;

/** A tool use is one item from its request to its result. */
export function updateTool(state: ChatState, part: ToolStatus): ChatState {
  const at = state.items.findLastIndex(
    (item) => item.kind === "tool" && item.toolUseId === part.toolUseId && isOpen(item),
  );
  const found = state.items[at];
  const { toolUseId, name, status, use, result } = part;
  const after: ToolItem = {
    kind: "tool",
    toolUseId,
    name: toPlainLine(name),
    ...(found?.kind === "tool" ? found : { about: "", bytes: null, problem: null }),
    status,
    ...(use === undefined ? {} : { about: aboutUse(use.inputJson) }),
    ...(result === undefined ? {} : describeResult(result)),
  };
  const items = at === -1 ? [...state.items, after] : state.items.with(at, after);
  return { ...state, items };
}

function describeResult(result: ToolResultBlock): Pick<ToolItem, "bytes" | "problem"> {
  const text = result.content.map((block) => (block.type === "text" ? block.text : "")).join("");
  const problem = result.isError ? toPlainLine(text.slice(0, 2000)) : null;
  return { bytes: countBytes(text), problem };
}
