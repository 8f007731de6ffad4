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
  const before: ToolItem =
    found?.kind === "tool"
      ? found
      : {
          kind: "tool",
          toolUseId: part.toolUseId,
          name: toPlainLine(part.name),
          about: "",
          status: "asked",
          bytes: null,
          problem: null,
        };
  const { use, result } = part;
  const after: ToolItem = {
    ...before,
    status: part.status,
    ...(use === undefined ? {} : { about: aboutUse(use.inputJson) }),
    ...(result === undefined ? {} : describeResult(result)),
  };
  const items = at === -1 ? [...state.items, after] : state.items.with(at, after);
  return { ...state, items };
}

function describeResult({
  content,
  isError,
}: ToolResultBlock): Pick<ToolItem, "bytes" | "problem"> {
  const text = content.map((block) => (block.type === "text" ? block.text : "")).join("");
  const bytes = countBytes(text);
  return { bytes, problem: isError ? toPlainLine(text.slice(0, 2000)) : null };
}
