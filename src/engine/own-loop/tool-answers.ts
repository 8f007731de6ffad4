// What an application's tools gave, checked before anything is changed by it.
import type { Block, Message, ToolUseBlock } from "../../core/message/message.ts";
import type { Violation } from "../../core/message/violation.ts";
import { StrataError } from "../../core/strata-error.ts";
import { describeFlaw, findFlaw } from "../turn/answer-tools.ts";

/** What a tool gave for one use. The model is told which uses got no answer. */
export interface ToolAnswer {
  readonly toolUseId: string;
  readonly content: string | readonly Block[];
  readonly isError?: boolean;
}

/** Throws where one of them is not for a use that the turn waits for. */
export function toToolMessages(
  answers: readonly ToolAnswer[],
  uses: readonly ToolUseBlock[],
): readonly Message[] {
  const open = new Set(uses.map(({ id }) => id));
  return answers.map((answer) => {
    const { toolUseId } = answer;
    const message = toMessage(answer);
    const flaw = findFlaw(message);
    if (flaw !== null) throw noAnswer(answer, flaw);
    if (open.delete(toolUseId)) return message;
    throw new StrataError(
      "input-invalid",
      `there is no open tool use ${toolUseId}`,
      "answer each use of the last reply once, by its id",
    );
  });
}

function noAnswer({ toolUseId }: ToolAnswer, flaw: Violation): StrataError {
  return new StrataError(
    "input-invalid",
    `what tool use ${toolUseId} gave cannot be sent: ${describeFlaw(flaw)}`,
    "give its content as text, or as a list of blocks",
  );
}

function toMessage({ toolUseId, content, isError }: ToolAnswer): Message {
  const blocks = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
  return {
    role: "tool",
    content: [{ type: "tool_result", toolUseId, content: blocks, isError: isError === true }],
  };
}
