// Results of an application's tools, checked before they change anything.
import type { Block, Message, ToolUseBlock } from "../../core/message/message.ts";
import type { Violation } from "../../core/message/violation.ts";
import { isObject } from "../../core/message/fields.ts";
import { StrataError } from "../../core/strata-error.ts";
import { describeFlaw, findFlaw } from "../turn/answer-tools.ts";

/** The result of one tool use. A use without a result gets an error message for the model. */
export interface ToolAnswer {
  readonly toolUseId: string;
  readonly content: string | readonly Block[];
  readonly isError?: boolean;
}

/** Throws if an answer is not for an open tool use. */
export function toToolMessages(
  answers: readonly ToolAnswer[],
  uses: readonly ToolUseBlock[],
): readonly Message[] {
  const open = new Set(uses.map(({ id }) => id));
  return answers.map((answer) => {
    const given: unknown = answer;
    if (!isObject(given) || typeof given["toolUseId"] !== "string") throw notAnAnswer();
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

function notAnAnswer(): StrataError {
  return new StrataError(
    "input-invalid",
    "a tool result names no tool use",
    "give { toolUseId, content } for each use of the last reply",
  );
}

function noAnswer({ toolUseId }: ToolAnswer, flaw: Violation): StrataError {
  return new StrataError(
    "input-invalid",
    `the result of tool use ${toolUseId} cannot be sent: ${describeFlaw(flaw)}`,
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
