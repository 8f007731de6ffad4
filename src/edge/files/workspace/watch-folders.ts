// Reports every change under a root, with one watch per folder. Node's own recursive watch does this on macOS
// and Windows; on Linux it watches every single file, blocks the program meanwhile, and loses a file that a
// rename replaces.
import { lstatSync, watch } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { hasCode } from "../guard/scoped-failure.ts";
import { foldersOf, withSlashes } from "./workspace-paths.ts";

export interface FolderWatch {
  /** From now on, reports changes of these documents, at any place and whether or not they exist. */
  cover(documents: readonly string[]): void;
  close(): void;
}

export interface WatchDeps {
  /** A path relative to the root, or null for a change somewhere. */
  readonly onChange: (path: string | null) => void;
  /** The root was moved or removed, or may have been. Called once; the watch is closed. */
  readonly onGone: () => void;
  /** The root or a folder of a covered document is no longer watched. Called once; the watch is closed. */
  readonly onFailure: (error: unknown) => void;
  /** Some other folder is not watched. Called once. */
  readonly onLimit: (folder: string, error: unknown) => void;
  readonly foldersMax: number;
  /** Default: the platform's way. */
  readonly isRecursive?: boolean;
  readonly watch?: WatchFolder;
}

export type WatchFolder = (
  path: string,
  options: { readonly persistent: false; readonly recursive?: boolean },
  listener: (type: string, name: string | null) => void,
) => Watcher;

/** The used part of a watcher. */
export interface Watcher {
  on(event: "error", listener: (error: Error) => void): unknown;
  close(): void;
}

/** Skipped unless they contain a covered document: they have many folders, written by programs. */
const skippedFolders: readonly string[] = ["node_modules", ".git"];

/** Does not keep the process alive. The root is watched on return, folders below it soon after. */
export function openFolderWatch(root: string, deps: WatchDeps): FolderWatch {
  const tree: Tree = {
    root,
    deps,
    isRecursive: deps.isRecursive ?? ["darwin", "win32"].includes(process.platform),
    watchers: new Map(),
    covered: new Set([""]),
    toVisit: [],
    isVisiting: false,
    isLimited: false,
    isClosed: false,
  };
  add(tree, "", false);
  return {
    cover: (documents) => {
      for (const document of documents) cover(tree, document);
    },
    close: () => close(tree),
  };
}

interface Tree {
  readonly root: string;
  readonly deps: WatchDeps;
  readonly isRecursive: boolean;
  /** By folder, relative to the root. The root is the empty path. */
  readonly watchers: Map<string, Watcher>;
  readonly covered: Set<string>;
  readonly toVisit: Visit[];
  isVisiting: boolean;
  isLimited: boolean;
  isClosed: boolean;
}

interface Visit {
  readonly folder: string;
  /** The folder just appeared, and so did its content. */
  readonly isNews: boolean;
}

/** A folder is watched only below a watched one, so that a symlink on the way ends it. */
function cover(tree: Tree, document: string): void {
  const folders = foldersOf(document);
  for (const folder of folders) tree.covered.add(folder);
  if (tree.isRecursive) return;
  for (const folder of folders) {
    add(tree, folder, false);
    if (!tree.watchers.has(folder)) return;
  }
}

/** Watches before it lists, so that nothing goes unseen in between. */
function add(tree: Tree, folder: string, isNews: boolean): void {
  const { root, deps, isRecursive, watchers } = tree;
  if (tree.isClosed || watchers.has(folder) || isSkipped(tree, folder)) return;
  const path = join(root, folder);
  const watchFolder = deps.watch ?? watch;
  try {
    // The root may be a symlink. Below it, none is followed.
    if (folder !== "" && !lstatSync(path).isDirectory()) return;
    if (watchers.size >= deps.foldersMax && !tree.covered.has(folder)) {
      fail(tree, folder, new Error(`there are more than ${deps.foldersMax} folders`));
      return;
    }
    const options = { persistent: false, recursive: isRecursive } as const;
    const watcher = watchFolder(path, options, (type, name) => hear(tree, folder, type, name));
    watchers.set(folder, watcher);
    watcher.on("error", (error) => {
      remove(tree, folder);
      fail(tree, folder, error);
    });
  } catch (error) {
    fail(tree, folder, error);
    return;
  }
  if (isRecursive) return;
  tree.toVisit.push({ folder, isNews });
  void visit(tree);
}

function isSkipped({ covered }: Tree, folder: string): boolean {
  return !covered.has(folder) && folder.split("/").some((name) => skippedFolders.includes(name));
}

function hear(tree: Tree, folder: string, type: string, name: string | null): void {
  const { root, deps, watchers } = tree;
  if (tree.isClosed) return;
  if (name === null) {
    deps.onChange(null);
    return;
  }
  const path = within(folder, withSlashes(name));
  if (type === "rename" && !tree.isRecursive) {
    // A removed folder reports its own name. For the root there is no parent that would report it.
    if (path === basename(root)) {
      close(tree);
      deps.onGone();
      return;
    }
    if (watchers.has(path)) remove(tree, path);
    add(tree, path, true);
  }
  deps.onChange(path);
}

/** One folder at a time: reading the documents is more urgent. */
async function visit(tree: Tree): Promise<void> {
  if (tree.isVisiting) return;
  tree.isVisiting = true;
  for (let next = tree.toVisit.pop(); next !== undefined; next = tree.toVisit.pop()) {
    const { folder, isNews } = next;
    try {
      const entries = await readdir(join(tree.root, folder), { withFileTypes: true });
      if (tree.isClosed) return;
      for (const entry of entries) {
        const path = within(folder, entry.name);
        if (entry.isDirectory()) add(tree, path, isNews);
        else if (isNews) tree.deps.onChange(path);
      }
    } catch (error) {
      fail(tree, folder, error);
    }
  }
  tree.isVisiting = false;
}

function remove({ watchers }: Tree, folder: string): void {
  for (const [path, watcher] of watchers) {
    if (path !== folder && !path.startsWith(`${folder}/`)) continue;
    watcher.close();
    watchers.delete(path);
  }
}

function fail(tree: Tree, folder: string, error: unknown): void {
  // Its parent already reported that this folder is gone.
  if (tree.isClosed || (folder !== "" && hasCode(error, "ENOENT", "ENOTDIR"))) return;
  if (tree.covered.has(folder)) {
    close(tree);
    tree.deps.onFailure(error);
  } else if (!tree.isLimited) {
    tree.isLimited = true;
    tree.deps.onLimit(folder, error);
  }
}

function close(tree: Tree): void {
  tree.isClosed = true;
  for (const watcher of tree.watchers.values()) watcher.close();
  tree.watchers.clear();
}

function within(folder: string, name: string): string {
  return folder === "" ? name : `${folder}/${name}`;
}
