// Dispatcher: every tool runs through here, and every use gets exactly one result.
import type { AgentRole } from "../../../core/message/assembled-context.ts";
import type { Message, ToolUseBlock } from "../../../core/message/message.ts";
import { hashContent } from "../../../core/hash.ts";
import { countBytes } from "../../../core/layers/cut-middle.ts";
import { groupUses } from "../../../core/tools/group-uses.ts";
import { registerTools, type RegisteredTool } from "../../../core/tools/check-tools.ts";
import type { OfferedTool } from "../../../core/tools/select-tools.ts";
import type { ToolInput, ToolOutput } from "../../../core/tools/tool.ts";
import { selectFromToolset, type RoleTools, type Toolset } from "../../../core/tools/toolsets.ts";
import { requireConfirmation } from "./confirmation.ts";
import {
  checkDispatchLimits,
  type DispatchContext,
  type DispatcherOptions,
  type DispatchLimits,
} from "./dispatch-options.ts";
import { keepInWorkspace, limitOutput, type KeptUse } from "./keep-output.ts";
import { createPlaces, type Places } from "./places.ts";
import { findTool, readToolInput, requireWorkspace } from "./read-use.ts";
import { runLimited } from "./run-limited.ts";
import type { ScopedTool } from "../scoped-tool.ts";
import * as results from "./tool-result.ts";
import { createToolTrace, type ToolTrace } from "./tool-trace.ts";

export interface Dispatcher {
  /** Every registered tool, independent of the toolset. Open a session with `toolsFor`. */
  offered(): readonly OfferedTool[];
  /** What a session of a role opens with: its tools, and the omitted ones with reasons. */
  toolsFor(role: AgentRole): RoleTools;
  /**
   * One tool message per use, in order. Uses with side effects run, and ask, one after the other; uses that read run
   * together up to the next one with side effects. Never rejects: the model gets every error.
   */
  runAll(uses: readonly ToolUseBlock[], context: DispatchContext): Promise<readonly Message[]>;
}

/**
 * Throws a `StrataError` for a tool name or schema that some provider refuses, a duplicate name, or an invalid
 * limit.
 */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { tools, workspace, toolset } = options;
  const limits = checkDispatchLimits(options);
  const keepOutput =
    options.keepOutput ?? (workspace === undefined ? undefined : keepInWorkspace(workspace));
  const registered = registerTools(tools);
  const setup: Setup = {
    options: {
      ...options,
      onProblem: quietly(options.onProblem),
      ...(keepOutput === undefined ? {} : { keepOutput }),
    },
    limits,
    registered,
    places: createPlaces(limits.atOnceMax),
    toolsFor: (role) =>
      selectFromToolset({ offered: tools, toolset: toolset ?? everything(tools), role }),
  };
  let replies = 0;
  return {
    offered: () => tools,
    toolsFor: setup.toolsFor,
    runAll: (uses, context) => {
      const replyNumber = context.replyNumber ?? (replies += 1);
      return runAll(setup, uses, { ...context, replyNumber });
    },
  };
}

interface Setup {
  readonly options: DispatcherOptions & { readonly onProblem: (problem: unknown) => void };
  readonly limits: DispatchLimits;
  readonly registered: ReadonlyMap<string, RegisteredTool<ScopedTool>>;
  readonly places: Places;
  readonly toolsFor: (role: AgentRole) => RoleTools;
}

/** A failing reporter must not fail the tools. */
function quietly(report: DispatcherOptions["onProblem"]): (problem: unknown) => void {
  return (problem) => {
    try {
      report?.(problem);
    } catch {
      // The reporter itself failed.
    }
  };
}

function everything(tools: readonly ScopedTool[]): Toolset {
  return { name: "everything", granted: tools.flatMap(({ needs }) => needs) };
}

async function runAll(
  setup: Setup,
  uses: readonly ToolUseBlock[],
  context: DispatchContext,
): Promise<readonly Message[]> {
  const { events, onProblem } = setup.options;
  const { sessionId, turnId, role, chain } = context;
  const trace = createToolTrace({ emitter: events, sessionId, turnId, chain, onProblem });
  const signal = context.signal ?? new AbortController().signal;
  const selected = setup.toolsFor(role);
  const seen = new Set<string>();
  const messages: Message[] = [];
  for (const group of groupUses(uses, (name) => setup.registered.get(name)?.tool)) {
    let before: Promise<unknown> = Promise.resolve();
    const running = group.map((use) => {
      const isRepeated = seen.has(use.id);
      seen.add(use.id);
      const asked = Promise.withResolvers<void>();
      const order = { mayAsk: before, hasAsked: asked.resolve };
      before = asked.promise;
      return runUse(setup, { use, isRepeated, context, selected, signal, trace, ...order });
    });
    messages.push(...(await Promise.all(running)));
  }
  return messages;
}

interface UseToRun {
  readonly use: ToolUseBlock;
  readonly isRepeated: boolean;
  readonly context: DispatchContext;
  readonly selected: RoleTools;
  readonly signal: AbortSignal;
  readonly trace: ToolTrace;
  /** Resolves when all uses before it were asked about, or need no question. */
  readonly mayAsk: Promise<unknown>;
  readonly hasAsked: () => void;
}

/** Every failure ends in a result. */
async function runUse(setup: Setup, toRun: UseToRun): Promise<Message> {
  const { use, trace, context } = toRun;
  const { onProblem } = setup.options;
  const startMs = performance.now();
  let spawnedSessionId: string | undefined;
  let message: Message | undefined;
  const settle = (
    output: ToolOutput | null,
    failure: ReturnType<typeof results.toFailure> | null,
  ): void => {
    const latencyMs = performance.now() - startMs;
    const settled = { toolUseId: use.id, toolName: use.name, latencyMs, output, failure };
    try {
      setup.options.onSettled?.(settled);
    } catch (error) {
      onProblem(error);
    }
  };
  try {
    const { output, text } = await perform(setup, toRun);
    settle(output, null);
    ({ spawnedSessionId } = output);
    message = results.toMessage(use.id, text, output.isFailed === true);
    return message;
  } catch (error) {
    const failure = results.redactFailure(results.toFailure(error), setup.options.redact);
    const latencyMs = performance.now() - startMs;
    trace.emit(use.id, {
      type: "tool.failed",
      payload: results.toFailedPayload(use, failure, latencyMs),
    });
    settle(null, failure);
    const { outputBytesMax } = setup.limits;
    const failureOutput = { text: results.toFailureMessage(failure) };
    const { text } = await limitOutput(
      keptUseOf(toRun),
      failureOutput,
      outputBytesMax,
      setup.options,
    );
    message = results.toMessage(use.id, text, true);
    return message;
  } finally {
    toRun.hasAsked();
    const ended = message === undefined ? {} : { message };
    context.onUse?.({ toolUseId: use.id, isOver: true, spawnedSessionId, ...ended });
  }
}

function keptUseOf({ use, context: { sessionId, turnId } }: UseToRun): KeptUse {
  return { sessionId, turnId, toolUseId: use.id };
}

/** Lookup → schema → workspace scope → confirmation → event → execute with a time limit → event. */
async function perform(
  setup: Setup,
  toRun: UseToRun,
): Promise<{ readonly output: ToolOutput; readonly text: string }> {
  const { options, limits, registered, places } = setup;
  const { use, signal, trace, context } = toRun;
  const found = findTool(registered, toRun.selected, use, toRun.isRepeated);
  const input = readToolInput(found, use, limits.inputCharactersMax, trace);
  const { tool } = found;
  await requireWorkspace(tool, input, options.workspace);
  await toRun.mayAsk;
  await confirmIfAsked(setup, toRun, tool, input);
  toRun.hasAsked();
  const release = await places.take(context.sessionId, signal);
  try {
    context.onUse?.({ toolUseId: use.id, isOver: false });
    const calledMs = performance.now();
    const eventId = trace.emit(use.id, toCalled(use, tool));
    const { role, replyNumber = 0 } = context;
    const call = { ...keptUseOf(toRun), role, replyNumber, eventId };
    const given = await runLimited(
      (inner) => tool.run(input, { ...call, signal: inner }),
      {
        timeoutMs: timeoutOf(tool, limits),
        graceMs: limits.graceMs,
        onStop: () => void cancelTool(tool, use.id, options.onProblem),
      },
      signal,
    );
    const output = results.redactOutput(given, options.redact);
    const { text, bytes } = await limitOutput(
      call,
      output,
      tool.outputBytesMax ?? limits.outputBytesMax,
      options,
    );
    trace.emit(use.id, {
      type: "tool.completed",
      payload: {
        tool_use_id: use.id,
        tool_name: use.name,
        success: output.isFailed !== true,
        output_size_bytes: bytes,
        latency_ms: performance.now() - calledMs,
        ...results.describeEffects(use.name, output, options.onProblem),
      },
    });
    return { output, text };
  } finally {
    release();
  }
}

function toCalled({ id, name, inputJson }: UseToRun["use"], { sideEffects }: ScopedTool) {
  const payload = {
    tool_use_id: id,
    tool_name: name,
    input_hash: hashContent(inputJson),
    input_size_bytes: countBytes(inputJson),
    side_effects: sideEffects,
  };
  return { type: "tool.called", payload } as const;
}

async function confirmIfAsked(
  { options, limits }: Setup,
  { use, context, signal, trace }: UseToRun,
  tool: ScopedTool,
  input: ToolInput,
): Promise<void> {
  const { confirm, confirmed = ["execute", "network"] } = options;
  const { sideEffects } = tool;
  if (confirm === undefined || !confirmed.includes(sideEffects)) return;
  const about = { sessionId: context.sessionId, toolUseId: use.id, toolName: use.name };
  await requireConfirmation(
    confirm,
    { ...about, input, sideEffects, signal },
    { trace, inputJson: use.inputJson, timeoutMs: limits.confirmationMs },
  );
}

function timeoutOf(tool: ScopedTool, { timeoutMs, longTimeoutMs }: DispatchLimits): number {
  const isLong = tool.sideEffects === "execute" || tool.sideEffects === "network";
  return tool.timeoutMs ?? (isLong ? longTimeoutMs : timeoutMs);
}

async function cancelTool(
  tool: ScopedTool,
  toolUseId: string,
  onProblem: (problem: unknown) => void,
): Promise<void> {
  try {
    await tool.cancel?.(toolUseId);
  } catch (error) {
    onProblem(error);
  }
}
