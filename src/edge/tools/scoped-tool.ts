// A tool that names files. The dispatcher checks the paths before it asks for confirmation.
import { toToolDefinition } from "../../core/message/tool-definition.ts";
import { ToolError, type Tool, type ToolInput } from "../../core/tools/tool.ts";
import type { ScopedFiles } from "../files/guard/scoped-files.ts";

export interface ScopedTool extends Tool {
  /** Paths in the input. A path outside the workspace or through a symlink is refused before the tool runs. */
  readonly pathsOf?: (input: ToolInput) => readonly string[];
}

/** Throws the guard's `ToolError` for the first path that is not inside. A missing file is fine. */
export async function requireInside(
  workspace: ScopedFiles,
  paths: readonly string[],
): Promise<void> {
  for (const path of paths) await workspace.stat(path);
}

/** The input's path, for `pathsOf`. */
export function pathOf({ path }: ToolInput): readonly string[] {
  return typeof path === "string" ? [path] : [];
}

/** The dispatcher already checked the schema; this is for other callers. */
export function textOf(input: ToolInput, field: string): string {
  const value = input[field];
  if (typeof value === "string") return value;
  throw new ToolError("validation_error", `\`${field}\` must be a text`);
}

/** A definition with an object schema that allows only its properties. */
export function toObjectDefinition(
  name: string,
  description: string,
  properties: Readonly<Record<string, unknown>>,
  required: readonly string[],
): Tool["definition"] {
  const inputSchema = { type: "object", properties, required, additionalProperties: false };
  return toToolDefinition({ name, description, inputSchema });
}
