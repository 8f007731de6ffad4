import { EventEmitter } from "node:events";
import { watch } from "node:fs";
import { mkdir, rename, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { makeWorkspace, pause, put, until } from "./test-kit.ts";
import { openFolderWatch, type FolderWatch, type WatchDeps } from "./watch-folders.ts";

describe("watching folders", () => {
  test("reports changes at any depth, and in folders that came later", async () => {
    const root = await makeWorkspace({ "a/b/c/x.md": "1" });
    const { changes } = await openWatch(root);
    expect(await isSeenWriting(root, "a/b/c/x.md", changes)).toBe(true);
    await put(root, "new/deep/y.md", "1");
    expect(await until(() => changes.includes("new/deep/y.md"))).toBe(true);
    changes.length = 0;
    expect(await isSeenWriting(root, "new/deep/y.md", changes)).toBe(true);
  });

  test("a folder that moves is watched where it is now", async () => {
    const root = await makeWorkspace({ "old/sub/x.md": "1" });
    const { changes } = await openWatch(root);
    await rename(join(root, "old"), join(root, "now"));
    expect(await until(() => changes.includes("now/sub/x.md"))).toBe(true);
    changes.length = 0;
    expect(await isSeenWriting(root, "now/sub/x.md", changes)).toBe(true);
    expect(changes.some((path) => path?.startsWith("old/") === true)).toBe(false);
  });

  test("a folder that is removed and made again is watched again", async () => {
    const root = await makeWorkspace({ "docs/x.md": "1" });
    const { changes } = await openWatch(root);
    for (const version of ["2", "3"]) {
      await rm(join(root, "docs"), { recursive: true });
      await put(root, "docs/x.md", version);
      await pause(50);
      changes.length = 0;
      expect(await isSeenWriting(root, "docs/x.md", changes)).toBe(true);
    }
  });

  test("symlinks are not followed", async () => {
    const outside = await makeWorkspace({ "sub/x.md": "1" });
    const root = await makeWorkspace({});
    await symlink(outside, join(root, "linked"));
    const { changes, folders } = await openWatch(root);
    folders.cover(["linked/sub/x.md"]);
    await pause(50);
    await put(outside, "sub/x.md", "2");
    await pause(100);
    expect(changes).toEqual([]);
  });

  test("folders that programs write are left alone, unless a covered document is in them", async () => {
    const root = await makeWorkspace({
      "node_modules/kit/x.md": "1",
      "node_modules/other/y.md": "1",
      ".git/z.md": "1",
    });
    const { changes, folders } = await openWatch(root);
    folders.cover(["node_modules/kit/x.md"]);
    for (const path of [".git/z.md", "node_modules/other/y.md", "node_modules/kit/x.md"]) {
      await put(root, path, "2");
    }
    expect(await until(() => changes.includes("node_modules/kit/x.md"))).toBe(true);
    expect(changes.filter((path) => path !== "node_modules/kit/x.md")).toEqual([]);
  });

  test("more folders than allowed are reported once, and covered ones are watched all the same", async () => {
    const root = await makeWorkspace({
      "a/x.md": "1",
      "b/x.md": "1",
      "c/x.md": "1",
      "d/x.md": "1",
    });
    const { changes, limits, folders } = await openWatch(root, { foldersMax: 2 });
    folders.cover(["a/x.md", "b/x.md", "c/x.md", "d/x.md"]);
    for (const folder of ["a", "b", "c", "d"]) await put(root, `${folder}/x.md`, "2");
    expect(await until(() => new Set(changes).size === 4)).toBe(true);
    expect(limits).toHaveLength(1);
  });

  test("a root that goes away is reported once", async () => {
    const root = await makeWorkspace({ "docs/x.md": "1" });
    const { gone } = await openWatch(root);
    await rename(root, `${root}-away`);
    onTestFinished(() => rm(`${root}-away`, { recursive: true }));
    expect(await until(() => gone.length > 0)).toBe(true);
    await pause(50);
    expect(gone).toEqual(["gone"]);
  });

  test("a covered folder whose watch breaks is a failure, another is only left out", async () => {
    const root = await makeWorkspace({ "docs/x.md": "1", "src/y.md": "1" });
    const fakes = new Map<string, EventEmitter>();
    const { failures, limits, folders } = await openWatch(root, {
      watch: (path) => {
        const fake = Object.assign(new EventEmitter(), { close: () => {} });
        fakes.set(path, fake);
        return fake;
      },
    });
    folders.cover(["docs/x.md"]);
    const error = new Error("no more of it");
    fakes.get(join(root, "src"))?.emit("error", error);
    expect([limits, failures]).toEqual([["src"], []]);
    fakes.get(join(root, "docs"))?.emit("error", error);
    fakes.get(root)?.emit("error", error);
    expect(failures).toEqual([error]);
  });

  test("where the platform watches recursively, one watch is enough", async () => {
    const root = await makeWorkspace({ "docs/x.md": "1" });
    const watched: string[] = [];
    const { changes, folders } = await openWatch(root, {
      isRecursive: true,
      watch: (path, options, listener) => {
        watched.push(path);
        return watch(path, options, listener);
      },
    });
    folders.cover(["docs/x.md"]);
    await put(root, "docs/x.md", "2");
    expect(await until(() => changes.includes("docs/x.md"))).toBe(true);
    expect(watched).toEqual([root]);
  });

  test("a closed watch is silent", async () => {
    const root = await makeWorkspace({ "x.md": "1" });
    const { changes, folders } = await openWatch(root);
    await mkdir(join(root, "late"));
    folders.close();
    changes.length = 0;
    await put(root, "x.md", "2");
    await put(root, "late/y.md", "2");
    await pause(100);
    expect(changes).toEqual([]);
  });
});

/** Folders without a covered document are watched later, so this writes until the change is seen. */
function isSeenWriting(
  root: string,
  path: string,
  changes: readonly (string | null)[],
): Promise<boolean> {
  return until(async () => {
    await put(root, path, "again");
    return changes.includes(path);
  });
}

interface OpenedWatch {
  readonly folders: FolderWatch;
  readonly changes: (string | null)[];
  readonly gone: string[];
  readonly failures: unknown[];
  readonly limits: string[];
}

/** Waits until it has found the existing folders. */
async function openWatch(root: string, deps: Partial<WatchDeps> = {}): Promise<OpenedWatch> {
  const opened = { changes: [], gone: [], failures: [], limits: [] } as Omit<
    OpenedWatch,
    "folders"
  >;
  const folders = openFolderWatch(root, {
    onChange: (path) => opened.changes.push(path),
    onGone: () => opened.gone.push("gone"),
    onFailure: (error) => opened.failures.push(error),
    onLimit: (folder) => opened.limits.push(folder),
    foldersMax: 1000,
    ...deps,
  });
  onTestFinished(() => folders.close());
  await pause(50);
  return { folders, ...opened };
}
