// The names of a workspace: where its documents may be, which of them are private, which changes concern a bundle.
import { isAbsolute, relative, resolve, sep } from "node:path";
import type { WorkspaceScope } from "../../../core/layers/workspace-bundle.ts";
import { ToolError } from "../../../core/tools/tool.ts";
import type { ScopedFiles } from "../scoped-files.ts";
import { isStateFolder, toPlainName } from "../workspace-folders.ts";

/** Only `main` is the owner's alone. Whatever else somebody says, others may be there. */
export function toScope(said: string | undefined): WorkspaceScope {
  return said === "main" ? "main" : "shared";
}

/** Sorted, each once, from the root; blank ones fall out. What lies outside stays as it was given, to be refused. */
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
 * As the workspace itself spells them, sorted, each once. Where the root is a symlink, a file in it has two absolute
 * paths. What lies outside stays as it was given, to be refused.
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

/** What only the owner may see: MEMORY.md wherever it is, and all that is kept beside it. */
export function isPrivate(path: string): boolean {
  const names = path.split(/[\\/]/);
  return toPlainName(names.at(-1) ?? "") === "memory.md" || names.some(isStateFolder);
}

/** A document's folders, from the root down; the root is the empty path. */
export function foldersOf(path: string): readonly string[] {
  const names = withSlashes(path).split("/").slice(0, -1);
  return ["", ...names.map((_, index) => names.slice(0, index + 1).join("/"))];
}

/** Whether a change at a path can change a bundle with these extras; null for a change somewhere. */
export function concerns(path: string | null, extras: readonly string[]): boolean {
  if (path === null || /\.md$/i.test(path) || isStateFolder(path)) return true;
  return extras.some((extra) => extra === path || extra.startsWith(`${path}/`));
}

export function withSlashes(path: string): string {
  return sep === "/" ? path : path.replaceAll(sep, "/");
}
