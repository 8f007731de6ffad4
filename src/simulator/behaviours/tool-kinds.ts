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
  if (has(shellWords) && takes(shellProperties)) {
    return has("output kill stop stdin poll wait write") ? "unsafe" : "shell";
  }
  const isOddShell = words.length === 1 && has(shellWords);
  if (isOddShell || has(unsafeVerbs) || (has(unsafeNouns) && !looksUp.includes(first)))
    return "unsafe";
  if (has("grep ripgrep rg search") && takes(patternProperties)) {
    if (words.length === 1 || has("file files code codebase content grep ripgrep rg"))
      return "search";
    return has("tool") ? "unsafe" : "other";
  }
  const isPlainList = words.join(" ") === "list" && takes(folderProperties);
  if (isPlainList || has("ls glob tree")) return "list";
  if (has("list find") && has("dir directory file files folder")) return "list";
  if (["read", "view", "cat", "open"].includes(first) && takes(pathProperties)) {
    return has("image resource notebook media") ? "unsafe" : "read";
  }
  return requiredOf(tool).some((name) => wordsOf(name).some((word) => payloads.includes(word)))
    ? "unsafe"
    : "other";
}

/** What a tool must be given if it changes something, whatever its name is. */
const payloads: readonly string[] =
  "content contents body message patch diff edits old new replacement url recipient amount".split(
    " ",
  );
const looksUp: readonly string[] = "get list show describe count lookup find query".split(" ");

export const pathProperties: readonly string[] =
  "file_path filePath path absolute_path target_file filename file".split(" ");
export const folderProperties: readonly string[] =
  "path dir_path directory dir folder target_directory relative_workspace_path".split(" ");
export const patternProperties: readonly string[] = "pattern query regex".split(" ");
export const shellProperties: readonly string[] = "command cmd script commandLine".split(" ");

const shellWords = "bash shell exec command terminal cmd";
const unsafeVerbs =
  "write edit create update delete remove rm patch apply move rename replace insert append upload " +
  "kill stop cancel push commit deploy publish send post submit install save set put reset " +
  "web fetch http url browser navigate click type spawn ask exit enter notify sleep wait " +
  "forget clear drop purge archive grant revoke pay buy transfer refund restart";
/** What a client keeps for itself: called only where the name begins with a word for looking up. */
const unsafeNouns =
  "task agent agents question plan todo schedule cron skill monitor history memory";

function wordsOf(name: string): readonly string[] {
  const own = name.slice(name.lastIndexOf("__") + 1).replace(/^_/, "");
  return own
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "");
}

function requiredOf({ inputSchema }: PromptTool): readonly string[] {
  const required = isFields(inputSchema) ? inputSchema["required"] : undefined;
  return Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
}

function propertiesOf({ inputSchema }: PromptTool): readonly string[] {
  const properties = isFields(inputSchema) ? inputSchema["properties"] : undefined;
  return isFields(properties) ? Object.keys(properties) : [];
}
