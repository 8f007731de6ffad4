// What an application's tools gave, checked before anything is changed by it.
import type { Block, Message, ToolUseBlock } from "../core/message/message.ts";
import type { Violation } from "../core/message/violation.ts";
import { StrataError } from "../core/strata-error.ts";
import { describeFlaw, findFlaw } from "./answer-tools.ts";
import type { OwnTurn } from "./own-loop-turn.ts";

/** What a tool gave for one use. Uses without an answer are said to have given none. */
export interface ToolAnswer {
  readonly toolUseId: string;
  readonly content: string | readonly Block[];
  readonly isError?: boolean;
}

/** Throws where they are not for what the turn waits for, and goes on with it otherwise. */
export async function giveAnswers(turn: OwnTurn, answers: readonly ToolAnswer[]): Promise<void> {
  const stop = await turn.stop();
  checkAnswers(answers, stop.kind === "tools" ? stop.uses : []);
  if (stop.kind === "tools") turn.answerTools(answers.map(toMessage));
}

function checkAnswers(answers: readonly ToolAnswer[], uses: readonly ToolUseBlock[]): void {
  const open = new Set(uses.map(({ id }) => id));
  for (const answer of answers) {
    const { toolUseId } = answer;
    const flaw = findFlaw(toMessage(answer));
    if (flaw !== null) throw noAnswer(answer, flaw);
    if (open.delete(toolUseId)) continue;
    throw new StrataError(
      "input-invalid",
      `there is no open tool use ${toolUseId}`,
      "answer each use of the last reply once, by its id",
    );
  }
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
