// Finds the tool a model asked for and checks its input, or says why not.
import type { ToolUseBlock } from "../../../core/message/message.ts";
import { didYouMean } from "../../../core/nearest-names.ts";
import { checkInput, describeViolation, parseInput } from "../../../core/tools/check-input.ts";
import type { RegisteredTool } from "../../../core/tools/check-tools.ts";
import { ToolError, type ToolInput } from "../../../core/tools/tool.ts";
import type { RoleTools } from "../../../core/tools/toolsets.ts";
import type { ScopedFiles } from "../../files/guard/scoped-files.ts";
import { requireInside, type ScopedTool } from "../scoped-tool.ts";
import type { ToolTrace } from "./tool-trace.ts";
import { toEventName } from "./tool-result.ts";

/** The tool of that name, if the role may use it. */
export function findTool(
  registered: ReadonlyMap<string, RegisteredTool<ScopedTool>>,
  { tools, toolsLeft }: RoleTools,
  { name }: ToolUseBlock,
  isRepeated: boolean,
): RegisteredTool<ScopedTool> {
  if (isRepeated) throw new ToolError("validation_error", "another use has the same id");
  const found = registered.get(name);
  const names = tools.map(({ definition }) => definition.name);
  if (found !== undefined && names.includes(name)) return found;
  const reason = toolsLeft.find((each) => each.name === name)?.reason;
  if (found !== undefined && reason !== undefined) {
    throw new ToolError("permission_denied", `the tool ${name} may not be used here: ${reason}`);
  }
  const hint = didYouMean(name, names, `there are: ${names.join(", ")}`, 1);
  const wanted = JSON.stringify(name.slice(0, 64).toWellFormed());
  throw new ToolError("not_found", `there is no tool called ${wanted}; ${hint}`);
}

/** Reports every broken rule, so that one retry can fix all. */
export function readToolInput(
  { schema }: RegisteredTool,
  use: ToolUseBlock,
  charactersMax: number,
  trace: ToolTrace,
): ToolInput {
  const { input, problem } = parseInput(use.inputJson, charactersMax);
  const problems =
    input === null ? [`the input ${problem}`] : checkInput(schema, input).map(describeViolation);
  if (input !== null && problems.length === 0) return input;
  trace.emit(use.id, {
    type: "tool.input_invalid",
    payload: { tool_name: toEventName(use.name), validation_errors: problems },
  });
  throw new ToolError(
    "validation_error",
    `the input does not fit the tool's schema:\n${problems.map((each) => `- ${each}`).join("\n")}`,
  );
}

export async function requireWorkspace(
  tool: ScopedTool,
  input: ToolInput,
  workspace: ScopedFiles | undefined,
): Promise<void> {
  if (workspace === undefined) {
    if (tool.requiresWorkspace !== true) return;
    throw new ToolError("permission_denied", "this session has no workspace");
  }
  await requireInside(workspace, tool.pathsOf?.(input) ?? []);
}
