// Splits a given path into the names from the root to it. Looks only at the text.
import { sep } from "node:path";
import { ToolError } from "../../../core/tools/tool.ts";

/** No file system takes longer ones. */
const PATH_CHARACTERS_MAX = 4096;
const NAME_BYTES_MAX = 255;

/**
 * Resolves `..` textually: symlinks are never followed, so text and folders agree. An absolute path must begin
 * with one of the roots. The root itself has no names.
 */
export function namesInside(roots: readonly string[], path: string): readonly string[] {
  if (path.length > PATH_CHARACTERS_MAX) throw invalid(path, "is too long");
  if (path.includes("\0") || !path.isWellFormed()) throw invalid(path, "is no file name");
  const names: string[] = [];
  for (const name of toWords(relativeTo(roots, path))) {
    if (name === "" || name === ".") continue;
    if (name !== "..") names.push(name);
    else if (names.pop() === undefined) throw outside(path);
  }
  for (const name of names) {
    if (Buffer.byteLength(name) > NAME_BYTES_MAX)
      throw invalid(path, "has a name that is too long");
    if (sep === "\\" && /[:*?"<>|]/.test(name)) throw invalid(path, "is no file name");
  }
  return names;
}

/** A path in a message: as given, on one line, bounded in length. */
export function spell(path: string): string {
  const short = path.length <= 200 ? path : `${path.slice(0, 200)}…`;
  return JSON.stringify(short.toWellFormed());
}

function outside(path: string): ToolError {
  return new ToolError("permission_denied", `${spell(path)} is outside the workspace`);
}

function invalid(path: string, problem: string): ToolError {
  return new ToolError("validation_error", `${spell(path)} ${problem}`);
}

function relativeTo(roots: readonly string[], path: string): string {
  if (!isAbsolute(path)) return path;
  for (const root of roots) {
    const folder = root.endsWith(sep) ? root : root + sep;
    if (path === root || path.startsWith(folder)) return path.slice(folder.length);
  }
  throw outside(path);
}

/** On Windows, paths relative to a drive or to its current folder also count. */
function isAbsolute(path: string): boolean {
  return path.startsWith("/") || (sep === "\\" && (path.startsWith("\\") || path[1] === ":"));
}

function toWords(path: string): readonly string[] {
  return path.split(sep === "\\" ? /[\\/]/ : "/");
}
