// Guesses what a client's tool does from its name and schema.
import { isFields } from "../../core/models/read-fields.ts";
import type { PromptTool } from "../prompt.ts";

export type ToolKind =
  | "read"
  | "list"
  | "search"
  | "shell"
  /** Runs JavaScript that calls further tools, like Codex's `exec`. */
  | "script"
  /** Changes things, uses the network, or talks to people. The agent calls it only if forced to. */
  | "unsafe"
  | "other";

export function kindOf(tool: PromptTool): ToolKind {
  const words = wordsOf(tool.name);
  const has = (list: string): boolean => list.split(" ").some((word) => words.includes(word));
  const takes = (names: readonly string[]): boolean =>
    names.some((name) => propertiesOf(tool).includes(name));
  if (tool.inputSchema === null) {
    const isScript = words.join(" ") === "exec" || /javascript/i.test(tool.description);
    return isScript && has("exec execute run code script") ? "script" : "unsafe";
  }
  const [first = ""] = words;
  if (has("bash shell exec command terminal cmd") && takes(shellProperties)) {
    return has("output kill stop stdin poll wait write") ? "unsafe" : "shell";
  }
  if (has(unsafeWords)) return "unsafe";
  if (has("grep ripgrep rg search") && takes(patternProperties)) {
    return has("file files code codebase content grep ripgrep rg") || words.length === 1
      ? "search"
      : "unsafe";
  }
  if (has("ls glob tree") || (has("list find") && has("dir directory file files folder"))) {
    return "list";
  }
  if (["read", "view", "cat", "open"].includes(first) && takes(pathProperties)) {
    return has("image resource notebook media") ? "unsafe" : "read";
  }
  return "other";
}

export const pathProperties: readonly string[] =
  "file_path filePath path absolute_path target_file filename file".split(" ");
export const folderProperties: readonly string[] =
  "path dir_path directory dir folder target_directory relative_workspace_path".split(" ");
export const patternProperties: readonly string[] = "pattern query regex".split(" ");
export const shellProperties: readonly string[] = "command cmd script commandLine".split(" ");

const unsafeWords =
  "write edit create update delete remove rm patch apply move rename replace insert append upload " +
  "kill stop cancel push commit deploy publish send post submit install save set put reset " +
  "web fetch http url browser navigate click type " +
  "task agent agents spawn ask question plan exit enter todo notify schedule cron sleep wait skill monitor";

function wordsOf(name: string): readonly string[] {
  const own = name.slice(name.lastIndexOf("__") + 1).replace(/^_/, "");
  return own
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "");
}

function propertiesOf({ inputSchema }: PromptTool): readonly string[] {
  const properties = isFields(inputSchema) ? inputSchema["properties"] : undefined;
  return isFields(properties) ? Object.keys(properties) : [];
}
