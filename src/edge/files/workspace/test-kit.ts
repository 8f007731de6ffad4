// A workspace on disk for tests, and waiting for the system's notifications.
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { openScope } from "../guard/scoped-files.ts";
import {
  createWorkspaceCache,
  type WorkspaceCache,
  type WorkspaceCacheOptions,
} from "./workspace-cache.ts";
import type { WorkspaceFiles } from "./workspace-root.ts";

export async function makeWorkspace(
  files: Readonly<Record<string, string | Uint8Array>>,
): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), "strata-workspace-"));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  for (const [path, content] of Object.entries(files)) await put(root, path, content);
  return root;
}

export async function put(root: string, path: string, content: string | Uint8Array): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), content);
}

/** As editors and our own stores save: a new file replaces the old one. */
export async function replace(root: string, path: string, content: string): Promise<void> {
  await put(root, `${path}.new`, content);
  await rename(join(root, `${path}.new`), join(root, path));
}

/** Closed after the test. The shortest debounce keeps tests fast. */
export function openCache(options: WorkspaceCacheOptions = {}): WorkspaceCache {
  const cache = createWorkspaceCache({ watchDebounceMs: 50, ...options });
  onTestFinished(() => cache.close());
  return cache;
}

/** Records every path that is read, each time. */
export function countReads(): {
  readonly reads: string[];
  readonly openFiles: (root: string) => Promise<WorkspaceFiles>;
} {
  const reads: string[] = [];
  return {
    reads,
    openFiles: async (root) => {
      const files = await openScope(root);
      return {
        nameOf: (path) => files.nameOf(path),
        stat: (path) => files.stat(path),
        readFile: (path, options) => {
          reads.push(path);
          return files.readFile(path, options);
        },
      };
    },
  };
}

/** Polls until it holds. If it never does, the test fails by its own expectation. */
export async function until(
  holds: () => boolean | Promise<boolean>,
  waitMsMax = 5000,
): Promise<boolean> {
  const start = performance.now();
  while (performance.now() - start < waitMsMax) {
    if (await holds()) return true;
    await pause(10);
  }
  return false;
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
