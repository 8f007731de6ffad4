// The outcome of a use as the model's message and as the event's payload.
import { messageOf } from "../../../core/strata-error.ts";
import { redact } from "../../../core/events/redact.ts";
import type { Redact } from "../../../core/events/redact-secrets.ts";
import type { PayloadOf } from "../../../core/events/event.ts";
import { isName, listLengthMax } from "../../../core/events/field-kinds.ts";
import type { Message, ToolUseBlock } from "../../../core/message/message.ts";
import { ToolError, type ToolOutput } from "../../../core/tools/tool.ts";
import type { ToolFailure } from "./dispatch-options.ts";

/** Providers refuse a text block that is empty or only white space. */
export function toMessage(toolUseId: string, text: string, isError: boolean): Message {
  const shown = text.trim() === "" ? "(no output)" : text.toWellFormed();
  const content = [{ type: "text" as const, text: shown }];
  return { role: "tool", content: [{ type: "tool_result", toolUseId, content, isError }] };
}

/** An error not thrown on purpose is for the model and the log, not for people. */
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

/** The thrown value stays only if it says nothing more than the message. */
export function redactFailure(failure: ToolFailure, secrets: Redact | undefined): ToolFailure {
  if (secrets === undefined) return failure;
  const { errorClass, isUserVisible, cause } = failure;
  const clean = { errorClass, isUserVisible, message: secrets(failure.message) };
  const isKept = cause !== undefined && isClean(describeThrown(cause), secrets);
  return isKept ? { ...clean, cause } : clean;
}

/** Tools may come from plain JavaScript: what is no text is left to the checks after this. */
export function redactOutput(output: ToolOutput, secrets: Redact | undefined): ToolOutput {
  if (secrets === undefined || typeof output?.text !== "string") return output;
  const { text, ...more } = output;
  return { ...redactValue(more, secrets), text: secrets(text) };
}

/** Every text in a JSON-like value. */
function redactValue<Value>(value: Value, secrets: Redact): Value {
  const spelled = JSON.stringify(value) ?? "";
  return isClean(spelled, secrets)
    ? value
    : JSON.parse(spelled, (_key, each: unknown) =>
        typeof each === "string" ? secrets(each) : each,
      );
}

function isClean(text: string, secrets: Redact): boolean {
  return secrets(text) === text;
}

function describeThrown(thrown: unknown): string {
  return thrown instanceof Error ? `${thrown.message} ${thrown.stack ?? ""}` : wordsOf(thrown);
}

export function toFailureMessage({ errorClass, message }: ToolFailure): string {
  return `${errorClass}: ${message}`;
}

export function toFailedPayload(
  { id, name }: ToolUseBlock,
  { errorClass, message }: ToolFailure,
  latencyMs: number,
): PayloadOf<"tool.failed"> {
  return {
    tool_use_id: id,
    tool_name: toEventName(name),
    error_class: errorClass,
    error_message: message,
    latency_ms: latencyMs,
  };
}

/** The effects of a use for its event. What does not fit is reported as a problem; `onSettled` gets everything. */
export function describeEffects(
  toolName: string,
  { filesModified, metadata }: ToolOutput,
  onProblem: (problem: unknown) => void,
): { readonly files_modified?: readonly string[]; readonly command_executed?: string } {
  const command = metadata?.["commandExecuted"];
  // Tools may come from plain JavaScript.
  const paths: readonly unknown[] | undefined = Array.isArray(filesModified)
    ? filesModified
    : undefined;
  const fitting = paths?.filter(isEventPath).slice(0, listLengthMax);
  const leftCount = (paths?.length ?? 0) - (fitting?.length ?? 0);
  if (leftCount > 0) {
    const what = `${leftCount} of the ${paths?.length} files it changed`;
    onProblem(new ToolError("execution_error", `${toolName}: its event does not name ${what}`));
  }
  return {
    ...(fitting === undefined ? {} : { files_modified: fitting }),
    ...(typeof command === "string" ? { command_executed: command } : {}),
  };
}

function isEventPath(path: unknown): path is string {
  return typeof path === "string" && path !== "" && path.length <= 4096;
}

/** A name that the model made up may be unprintable. */
export function toEventName(name: string): string {
  return isName(name) ? name : "(unprintable)";
}

/** Anything can be thrown, even values that cannot become text. */
function wordsOf(error: unknown): string {
  try {
    return messageOf(error);
  } catch {
    return "for a reason that cannot be shown";
  }
}
