// Strata's own tools for files.
import { ofStrata } from "../../core/tools/tool.ts";
import type { ScopedFiles } from "../files/guard/scoped-files.ts";
import { bashTool, type BashOptions } from "./bash/bash-tool.ts";
import { grepTool } from "./files/grep-tool.ts";
import { listTools } from "./files/list-tools.ts";
import { readTool } from "./files/read-tool.ts";
import type { ScopedTool } from "./scoped-tool.ts";
import { writeTools } from "./files/write-tools.ts";

export interface BuiltInOptions {
  /** Whether commands may run. A command can do everything its user can, also outside the workspace. */
  readonly allowBash?: boolean;
  readonly bash?: BashOptions;
}

/** Create them per session: read, write, edit, list, glob, grep, and bash if allowed. */
export function builtInTools(
  workspace: ScopedFiles,
  { allowBash = false, bash = {} }: BuiltInOptions = {},
): readonly ScopedTool[] {
  return [
    readTool(workspace),
    ...writeTools(workspace),
    ...listTools(workspace),
    grepTool(workspace),
    ...(allowBash ? [bashTool(workspace, bash)] : []),
  ].map(ofStrata);
}
