// Every tool use gets exactly one answer, so that the conversation can always go on.
import type { Message, ToolResultBlock, ToolUseBlock } from "../../core/message/message.ts";
import { validateMessage } from "../../core/message/validate-message.ts";
import type { Violation } from "../../core/message/violation.ts";
import type { DispatchContext } from "../../edge/tools/dispatch/dispatch-options.ts";

/** Runs tools. A dispatcher's `runAll` is one of these. */
export type RunTools = (
  uses: readonly ToolUseBlock[],
  call: DispatchContext,
) => Promise<readonly Message[]>;

/** One tool message for each use, in order. A failed or missing result becomes an error message for the model. */
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
        answers.set(block.toolUseId, toAnswer(block));
      }
    }
  } catch (error) {
    problem = `The tool failed: ${error instanceof Error ? error.message : String(error)}`;
  }
  return uses.map(({ id }) => answers.get(id) ?? toFailed(id, problem));
}

/** An invalid result becomes an error message for the model. */
function toAnswer(block: ToolResultBlock): Message {
  // It may be missing in spite of its type.
  const isError = block.isError ?? false;
  const message: Message = { role: "tool", content: [{ ...block, isError }] };
  const flaw = findFlaw(message);
  if (flaw === null) return message;
  return toFailed(block.toolUseId, `The tool gave no result: ${describeFlaw(flaw)}`);
}

/** Why a message cannot be sent, in spite of its type. */
export function findFlaw(message: Message): Violation | null {
  const flaws = validateMessage(message, "result");
  return flaws.find(({ rule }) => rule === "shape" || rule === "block-not-allowed") ?? null;
}

export function describeFlaw({ path, message }: Violation): string {
  return `${path.replace("result.content.0", "its result")} ${message}`;
}

function toFailed(id: string, problem: string): Message {
  const content = [{ type: "text" as const, text: problem }];
  return {
    role: "tool",
    content: [{ type: "tool_result", toolUseId: id, content, isError: true }],
  };
}
