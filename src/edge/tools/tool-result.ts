// How a use ended → the message the model gets and the payload of its event.
import { redact } from "../../core/events/redact.ts";
import type { PayloadOf } from "../../core/events/event.ts";
import { isName } from "../../core/events/field-kinds.ts";
import type { Message, ToolUseBlock } from "../../core/message/message.ts";
import { ToolError } from "../../core/tools/tool.ts";
import type { ToolFailure } from "./dispatch-options.ts";

/** Providers refuse a text block that is empty or nothing but white space. */
export function toMessage(toolUseId: string, text: string, isError: boolean): Message {
  const shown = text.trim() === "" ? "(no output)" : text.toWellFormed();
  const content = [{ type: "text" as const, text: shown }];
  return { role: "tool", content: [{ type: "tool_result", toolUseId, content, isError }] };
}

/** What was not thrown on purpose is for the model and the log, not for people. */
export function toFailure(error: unknown): ToolFailure {
  if (error instanceof ToolError) {
    const { errorClass, message, isUserVisible } = error;
    return { errorClass, message, isUserVisible };
  }
  return {
    errorClass: "execution_error",
    message: `the tool failed: ${redact(wordsOf(error))}`,
    isUserVisible: false,
    cause: error,
  };
}

export function toFailureMessage({ errorClass, message }: ToolFailure): string {
  return `${errorClass}: ${message}`;
}

export function toFailedPayload(
  { id }: ToolUseBlock,
  { errorClass, message }: ToolFailure,
  latencyMs: number,
): PayloadOf<"tool.failed"> {
  return {
    tool_use_id: id,
    error_class: errorClass,
    error_message: message,
    latency_ms: latencyMs,
  };
}

/** A name the model made up may be no name. */
export function toEventName(name: string): string {
  return isName(name) ? name : "(unprintable)";
}

/** Anything can be thrown, also what cannot be made text. */
function wordsOf(error: unknown): string {
  try {
    return error instanceof Error ? error.message : String(error);
  } catch {
    return "for a reason that cannot be told";
  }
}
