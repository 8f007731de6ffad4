// Tool calls for clients that force a tool: any tool, or one by name.
import type { Prompt, PromptTool, ReplyPart } from "../prompt.ts";
import { sampleInput } from "./sample-input.ts";

/** A call of the forced tool; null if the client leaves the choice to the model. */
export function forcedCall(prompt: Prompt): ReplyPart | null {
  const { toolChoice } = prompt;
  if (toolChoice === "auto" || toolChoice === "none") return null;
  const { tools } = prompt;
  const tool = toolChoice === "any" ? tools[0] : tools.find(({ name }) => name === toolChoice.name);
  return tool === undefined ? null : toCall(tool);
}

/** A call whose input is valid by the tool's schema. Properties named in `wishes` get those values. */
export function toCall(
  tool: PromptTool,
  wishes: Readonly<Record<string, unknown>> = {},
): ReplyPart {
  const input = tool.inputSchema === null ? "sample" : sampleInput(tool.inputSchema, wishes);
  return { kind: "tool use", name: tool.name, inputJson: JSON.stringify(input) };
}
