// A tool that names files: the dispatcher looks at them before anybody is asked whether it may run.
import { toToolDefinition } from "../../core/message/tool-definition.ts";
import type { Tool, ToolInput } from "../../core/tools/tool.ts";
import type { ScopedFiles } from "../stores/scoped-files.ts";

export interface ScopedTool extends Tool {
  /** Paths in the input. One outside the workspace, or through a symlink, is refused before the tool runs. */
  readonly pathsOf?: (input: ToolInput) => readonly string[];
}

/** Throws the guard's `ToolError` for the first path that is not inside. A path where nothing is, is fine. */
export async function requireInside(
  workspace: ScopedFiles,
  paths: readonly string[],
): Promise<void> {
  for (const path of paths) await workspace.stat(path);
}

/** The path of an input that has one, for `pathsOf`. */
export function pathOf({ path }: ToolInput): readonly string[] {
  return typeof path === "string" ? [path] : [];
}

/** A definition with an object schema that takes nothing but its properties. */
export function toObjectDefinition(
  name: string,
  description: string,
  properties: Readonly<Record<string, unknown>>,
  required: readonly string[],
): Tool["definition"] {
  const inputSchema = { type: "object", properties, required, additionalProperties: false };
  return toToolDefinition({ name, description, inputSchema });
}
