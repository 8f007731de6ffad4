// Asks a user whether a tool may run.
import { hashContent } from "../../../core/hash.ts";
import { ToolError, type SideEffects, type ToolInput } from "../../../core/tools/tool.ts";
import { toDelayMs } from "../delay.ts";
import type { ToolTrace } from "./tool-trace.ts";

export interface ConfirmationRequest {
  readonly sessionId: string;
  readonly toolUseId: string;
  readonly toolName: string;
  readonly input: ToolInput;
  readonly sideEffects: SideEffects;
  /** Aborted when the answer is no longer needed. */
  readonly signal: AbortSignal;
}

/** True: it may run. */
export type Confirm = (request: ConfirmationRequest) => Promise<boolean>;

/** Resolves if it may run. Otherwise throws a `ToolError` with the reason. */
export async function requireConfirmation(
  confirm: Confirm,
  request: ConfirmationRequest,
  { trace, inputJson, timeoutMs }: HowToAsk,
): Promise<void> {
  const { toolUseId, toolName, sideEffects } = request;
  const startMs = performance.now();
  trace.emit(toolUseId, {
    type: "tool.confirmation_requested",
    payload: {
      tool_use_id: toolUseId,
      tool_name: toolName,
      input_hash: hashContent(inputJson),
      side_effects: sideEffects,
    },
  });
  const decision = await ask(confirm, request, timeoutMs);
  trace.emit(toolUseId, {
    type: "tool.confirmation_resolved",
    payload: {
      tool_use_id: toolUseId,
      decision: decision === "cancelled" ? "denied" : decision,
      latency_ms: performance.now() - startMs,
    },
  });
  switch (decision) {
    case "allowed":
      return;
    case "denied":
      throw new ToolError("user_denied", "the user did not allow this");
    case "timed_out":
      throw new ToolError("confirmation_timeout", "no answer came in time whether this may run", {
        isUserVisible: true,
      });
    case "cancelled":
      throw new ToolError("cancelled", "cancelled before it was allowed");
  }
}

export interface HowToAsk {
  readonly trace: ToolTrace;
  readonly inputJson: string;
  readonly timeoutMs: number;
}

type Decision = "allowed" | "denied" | "timed_out" | "cancelled";

async function ask(
  confirm: Confirm,
  request: ConfirmationRequest,
  timeoutMs: number,
): Promise<Decision> {
  const inner = new AbortController();
  const ended = Promise.withResolvers<Decision>();
  const cancel = (): void => ended.resolve("cancelled");
  const timer = setTimeout(() => ended.resolve("timed_out"), toDelayMs(timeoutMs));
  request.signal.addEventListener("abort", cancel, { once: true });
  if (request.signal.aborted) cancel();
  try {
    return await Promise.race([
      decide(confirm, { ...request, signal: inner.signal }),
      ended.promise,
    ]);
  } finally {
    clearTimeout(timer);
    request.signal.removeEventListener("abort", cancel);
    inner.abort();
  }
}

/** A failed question counts as a refusal. */
async function decide(confirm: Confirm, request: ConfirmationRequest): Promise<Decision> {
  try {
    return (await confirm(request)) ? "allowed" : "denied";
  } catch {
    return "denied";
  }
}
