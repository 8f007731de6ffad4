// The tool with which an agent delegates a task to a sub-agent and reads on in a long report. The caller
// supplies the execution.
import {
  ToolError,
  type Tool,
  type ToolCallContext,
  type ToolInput,
  type ToolOutput,
} from "../../core/tools/tool.ts";
import { toObjectDefinition } from "./scoped-tool.ts";

/** `worker`: starts with its task alone. `fork`: knows the whole conversation so far. */
export type SubAgentKind = "worker" | "fork";

export const subAgentKinds: readonly SubAgentKind[] = ["worker", "fork"];

export interface DelegatedTask {
  readonly kind: SubAgentKind;
  readonly task: string;
  /** A toolset's name. Null for a sub-agent's default. */
  readonly toolset: string | null;
  /** Capabilities, or categories of them, that a worker learns about. Null for all. */
  readonly scope: readonly string[] | null;
}

export interface DelegateToolOptions {
  readonly run: (task: DelegatedTask, call: ToolCallContext) => Promise<ToolOutput>;
  /** Reads the report of a session that this one started, from a character on. */
  readonly readReport: (
    sessionId: string,
    offset: number,
    call: ToolCallContext,
  ) => Promise<ToolOutput>;
  /** The allowed values of `toolset`. */
  readonly toolsets: readonly string[];
  /** How many run side by side, for the tool's description. */
  readonly atOnceMax: number;
  readonly timeoutMs: number;
  /** Above the limit of a report, so that its last line is never cut off. */
  readonly outputBytesMax: number;
}

/** For agents that speak with people. Workers never see it. */
export function delegateTool(options: DelegateToolOptions): Tool {
  return toTool("delegate", delegating, ["manager", "unified"], options);
}

/** The same for workers that may delegate part of their task, if the configuration allows it. */
export function delegatePartTool(options: DelegateToolOptions): Tool {
  return toTool("delegate_part", handingOn, ["worker"], options);
}

const delegating =
  "Gives a task to a sub-agent, waits for it and returns its report. A worker knows nothing of this conversation: say all it needs, with paths and names. A fork knows everything said here so far; take it where a task needs that.";

const handingOn =
  "Gives a part of your task to a sub-agent, waits for it and returns its report. A worker knows nothing of your task: say all it needs. A fork knows everything said here so far.";

function toTool(
  name: string,
  description: string,
  roles: NonNullable<Tool["roles"]>,
  options: DelegateToolOptions,
): Tool {
  const { toolsets, atOnceMax, timeoutMs, outputBytesMax } = options;
  const together = `Give independent tasks in one reply: up to ${atOnceMax} run at once.`;
  return {
    definition: toObjectDefinition(
      name,
      `${description} ${together}`,
      {
        task: { type: "string", description: "What is to be done, and what the report must say." },
        kind: { type: "string", enum: subAgentKinds, default: "worker" },
        toolset: {
          type: "string",
          enum: toolsets,
          description: "What it may use of your tools; all that sub-agents may by default.",
        },
        scope: {
          type: "array",
          items: { type: "string" },
          description: "Capabilities of the environment a worker is told of; all by default.",
        },
        session: {
          type: "string",
          description: "Instead of a task: reads on in a report, as its last line says.",
        },
        offset: { type: "integer", minimum: 0, description: "First character to read of it." },
      },
      [],
    ),
    from: "strata",
    needs: [],
    roles,
    sideEffects: "execute",
    runsTogether: true,
    timeoutMs,
    outputBytesMax,
    run: (input, call) => {
      const { session, offset } = input;
      if (typeof session !== "string") return options.run(readTask(input), call);
      if (input["task"] !== undefined) throw invalid("give `task` or `session`, not both");
      return options.readReport(session, typeof offset === "number" ? offset : 0, call);
    },
  };
}

/** The schema was already checked, so present values have the right type. */
function readTask(input: ToolInput): DelegatedTask {
  const { task, toolset, scope } = input;
  if (typeof task !== "string" || task.trim() === "") {
    throw invalid("give a `task`, or the `session` of a report to read on in");
  }
  return {
    kind: subAgentKinds.find((kind) => kind === input["kind"]) ?? "worker",
    task,
    toolset: typeof toolset === "string" ? toolset : null,
    scope: Array.isArray(scope) ? scope.filter((each) => typeof each === "string") : null,
  };
}

function invalid(message: string): ToolError {
  return new ToolError("validation_error", message);
}
