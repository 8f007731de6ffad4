// Every tool use gets exactly one answer: whatever a tool does, the conversation can go on.
import type { Message, ToolUseBlock } from "../core/message/message.ts";
import type { DispatchContext } from "../edge/tools/dispatch-options.ts";

/** Whose tools run. A dispatcher's `runAll` is one of these. */
export type RunTools = (
  uses: readonly ToolUseBlock[],
  call: DispatchContext,
) => Promise<readonly Message[]>;

/** One tool message for each use, in their order. What failed or was forgotten is said to the model. */
export async function answerTools(
  uses: readonly ToolUseBlock[],
  runTools: RunTools,
  call: DispatchContext,
): Promise<readonly Message[]> {
  const answers = new Map<string, Message>();
  let problem = "The tool gave no result.";
  try {
    for (const message of await runTools(uses, call)) {
      for (const block of message.content) {
        if (block.type !== "tool_result" || answers.has(block.toolUseId)) continue;
        answers.set(block.toolUseId, { role: "tool", content: [block] });
      }
    }
  } catch (error) {
    problem = `The tool failed: ${error instanceof Error ? error.message : String(error)}`;
  }
  return uses.map((use) => answers.get(use.id) ?? toFailed(use, problem));
}

function toFailed({ id }: ToolUseBlock, problem: string): Message {
  const content = [{ type: "text" as const, text: problem }];
  return {
    role: "tool",
    content: [{ type: "tool_result", toolUseId: id, content, isError: true }],
  };
}
