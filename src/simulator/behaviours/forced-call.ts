// A client may insist on a tool: any one, or one by name.
import type { Prompt, PromptTool, ReplyPart } from "../prompt.ts";
import { sampleInput } from "./sample-input.ts";

/** A call of the tool the client insists on; null where it leaves the choice. */
export function forcedCall(prompt: Prompt): ReplyPart | null {
  const { toolChoice } = prompt;
  if (toolChoice === "auto" || toolChoice === "none") return null;
  const { tools } = prompt;
  const tool = toolChoice === "any" ? tools[0] : tools.find(({ name }) => name === toolChoice.name);
  return tool === undefined ? null : toCall(tool);
}

/** A call with an input its schema accepts, made of what is wished for where a property has that name. */
export function toCall(
  tool: PromptTool,
  wishes: Readonly<Record<string, unknown>> = {},
): ReplyPart {
  const input = tool.inputSchema === null ? "sample" : sampleInput(tool.inputSchema, wishes);
  return { kind: "tool use", name: tool.name, inputJson: JSON.stringify(input) };
}
