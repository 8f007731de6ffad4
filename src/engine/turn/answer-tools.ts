// Every tool use gets exactly one answer, so that the conversation can always go on.
import { redactMessage, type Redact } from "../../core/events/redact-secrets.ts";
import type { Message, ToolResultBlock, ToolUseBlock } from "../../core/message/message.ts";
import { validateMessage } from "../../core/message/validate-message.ts";
import type { Violation } from "../../core/message/violation.ts";
import { messageOf } from "../../core/strata-error.ts";
import type { DispatchContext, UseProgress } from "../../edge/tools/dispatch/dispatch-options.ts";
import type { RunTools } from "./deps.ts";
import type { TurnPart } from "./turn-handle.ts";

/** One tool message for each use, in order. A failed or missing result becomes an error message for the model. */
export async function answerTools(
  uses: readonly ToolUseBlock[],
  runTools: RunTools,
  call: DispatchContext,
): Promise<readonly Message[]> {
  let problem = "The tool gave no result.";
  let results: ReadonlyMap<string, ToolResultBlock> = new Map();
  try {
    results = resultsIn(await runTools(uses, call));
  } catch (error) {
    problem = `The tool failed: ${messageOf(error)}`;
  }
  return uses.map(({ id }) => {
    const result = results.get(id);
    return result === undefined ? toFailed(id, problem) : toAnswer(result);
  });
}

/** By tool use; the first result of a use counts. */
function resultsIn(messages: readonly Message[]): ReadonlyMap<string, ToolResultBlock> {
  const results = new Map<string, ToolResultBlock>();
  for (const block of messages.flatMap(({ content }) => content)) {
    if (block.type !== "tool_result" || results.has(block.toolUseId)) continue;
    results.set(block.toolUseId, block);
  }
  return results;
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

function toFailed(toolUseId: string, problem: string): Message {
  const content = [{ type: "text" as const, text: problem }];
  return { role: "tool", content: [{ type: "tool_result", toolUseId, content, isError: true }] };
}

/** Takes secrets out of results and errors. */
export function withoutSecrets(runTools: RunTools, redact: Redact | undefined): RunTools {
  if (redact === undefined) return runTools;
  return async (uses, call) => {
    const onUse = (progress: UseProgress): void => {
      const { message } = progress;
      const cleaned = message === undefined ? {} : { message: redactMessage(message, redact) };
      call.onUse?.({ ...progress, ...cleaned });
    };
    try {
      const messages = await runTools(uses, { ...call, onUse });
      return messages.map((message) => redactMessage(message, redact));
    } catch (error) {
      throw new Error(redact(messageOf(error)), { cause: error });
    }
  };
}

/** Emits when each tool begins to run and how it ended, as soon as it did. */
export function watchTools(runTools: RunTools, emit: (part: TurnPart) => void): RunTools {
  return async (uses, call) => {
    const ran = new Set<string>();
    const over = new Set<string>();
    const begin = (use: ToolUseBlock): void => {
      ran.add(use.id);
      emit({ ...aboutUse(use), status: "running", use });
    };
    const onUse = (progress: UseProgress): void => {
      const use = uses.find(({ id }) => id === progress.toolUseId);
      if (use !== undefined && !progress.isOver) begin(use);
      const result = progress.message && resultsIn([progress.message]).get(progress.toolUseId);
      if (use !== undefined && result !== undefined && !over.has(use.id)) {
        if (!ran.has(use.id)) begin(use);
        over.add(use.id);
        emit(settled(use, result));
      }
      call.onUse?.(progress);
    };
    let results: ReadonlyMap<string, ToolResultBlock> = new Map();
    try {
      const messages = await runTools(uses, { ...call, onUse });
      results = resultsIn(messages);
      return messages;
    } finally {
      // Refused uses, and tools of another program, report no start: it is emitted with the end.
      for (const use of uses) if (!ran.has(use.id)) begin(use);
      for (const use of uses) if (!over.has(use.id)) emit(settled(use, results.get(use.id)));
    }
  };
}

type ToolPart = Extract<TurnPart, { readonly type: "tool" }>;

function aboutUse({ id, name }: ToolUseBlock): Pick<ToolPart, "type" | "toolUseId" | "name"> {
  return { type: "tool", toolUseId: id, name };
}

/** A use without a result is answered with an error by the engine. */
function settled(use: ToolUseBlock, result: ToolResultBlock | undefined): ToolPart {
  const isWell = result !== undefined && !result.isError;
  return { ...aboutUse(use), status: isWell ? "succeeded" : "failed", ...(result && { result }) };
}
