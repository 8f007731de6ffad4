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

/**
 * Whether some file system may take the two for one name: HFS+ and NTFS ignore case and invisible characters, NTFS also
 * dots and spaces at the end and what follows a colon, and it knows `.git` as `git~1`, too.
 */
export function isSameName(name: string, known: string): boolean {
  const plain = toPlainName(name);
  const short = known
    .replaceAll(/[^a-z0-9]/gi, "")
    .slice(0, 6)
    .toLowerCase();
  return plain === toPlainName(known) || (/~\d+$/.test(plain) && plain.startsWith(`${short}~`));
}

function toPlainName(name: string): string {
  const visible = name
    .normalize("NFKC")
    .replaceAll(/[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cc}]/gu, "");
  // To upper case and back, for letters such as ſ that share a capital with another letter.
  const [beforeColon = ""] = visible.toUpperCase().toLowerCase().split(":");
  return beforeColon.replace(/[.\s]+$/u, "");
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
