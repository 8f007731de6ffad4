// Paths in a workspace: where documents may be, which are private, and which changes affect a bundle.
import { isAbsolute, relative, resolve, sep } from "node:path";
import type { WorkspaceScope } from "../../../core/layers/workspace-bundle.ts";
import { ToolError } from "../../../core/tools/tool.ts";
import type { ScopedFiles } from "../guard/scoped-files.ts";
import { isSameName } from "../guard/scoped-path.ts";
import { isStateFolder } from "../workspace-folders.ts";

/** Only `main` belongs to the owner alone. With any other word, others may take part. */
export function toScope(given: string | undefined): WorkspaceScope {
  return given === "main" ? "main" : "shared";
}

/** Relative to the root, sorted, each once, without blanks. Paths outside stay as given, to be refused. */
export function toExtras(root: string, extras: readonly string[]): readonly string[] {
  const paths = extras.map((extra) => extra.trim()).filter((extra) => extra !== "");
  return [...new Set(paths.map((path) => toPathInside(root, path)))].toSorted();
}

function toPathInside(root: string, path: string): string {
  const inside = relative(root, resolve(root, path));
  return isOutside(inside) || inside === "" ? path : withSlashes(inside);
}

export function isOutside(path: string): boolean {
  return isAbsolute(path) || /^\.\.(?:[\\/]|$)/.test(path);
}

/**
 * As the workspace itself spells them, sorted, each once. If the root is a symlink, a file in it has two
 * absolute paths. Paths outside stay as given, to be refused.
 */
export function spellExtras(
  files: Pick<ScopedFiles, "nameOf">,
  extras: readonly string[],
): readonly string[] {
  return [...new Set(extras.map((extra) => spellExtra(files, extra)))].toSorted();
}

function spellExtra(files: Pick<ScopedFiles, "nameOf">, extra: string): string {
  try {
    return files.nameOf(extra);
  } catch (error) {
    if (error instanceof ToolError) return extra;
    throw error;
  }
}

/** What only the owner may see: MEMORY.md anywhere, and everything in our own folders. */
export function isPrivate(path: string): boolean {
  const names = path.split(/[\\/]/);
  return isSameName(names.at(-1) ?? "", "MEMORY.md") || names.some(isStateFolder);
}

/** A document's folders, from the root down. The root is the empty path. */
export function foldersOf(path: string): readonly string[] {
  const names = withSlashes(path).split("/").slice(0, -1);
  return ["", ...names.map((_, index) => names.slice(0, index + 1).join("/"))];
}

/** Whether a change at a path can affect a bundle with these extras. Null means a change somewhere. */
export function concerns(path: string | null, extras: readonly string[]): boolean {
  if (path === null || /\.md$/i.test(path) || isStateFolder(path)) return true;
  return extras.some((extra) => extra === path || extra.startsWith(`${path}/`));
}

export function withSlashes(path: string): string {
  return sep === "/" ? path : path.replaceAll(sep, "/");
}
