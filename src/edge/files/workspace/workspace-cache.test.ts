import { spawnSync } from "node:child_process";
import { watch } from "node:fs";
import { mkdir, rename, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import type { WorkspaceBundle } from "../../../core/layers/workspace-bundle.ts";
import { ToolError } from "../../../core/tools/tool.ts";
import { openScope } from "../guard/scoped-files.ts";
import type { WatchProblem } from "./root-watch.ts";
import { countReads, makeWorkspace, openCache, pause, put, replace, until } from "./test-kit.ts";
import { createWorkspaceCache, type WorkspaceCache } from "./workspace-cache.ts";
import { toCounters } from "./workspace-root.ts";

describe("CF-G: the workspace cache", () => {
  test("CF-G: gives the same object when nothing changed", async () => {
    const root = await makeWorkspace({ "AGENTS.md": "Be brief." });
    const cache = openCache();
    const cold = await cache.load({ root, scope: "main" });
    expect(await cache.load({ root, scope: "main" })).toBe(cold);
    expect(textOf(cold, "AGENTS.md")).toBe("Be brief.");
    expect(cache.metrics()).toEqual([
      { path: root, hits: 1, misses: 1, invalidations: 0, loads: 1, isWatched: true },
    ]);
  });

  test("N-42: what it counts has the names that monitoring knows", async () => {
    const root = await makeWorkspace({ "AGENTS.md": "Be brief." });
    const cache = openCache();
    await cache.load({ root, scope: "main" });
    await cache.load({ root, scope: "main" });
    cache.invalidate(root);
    await cache.load({ root, scope: "main" });
    const labels = { path: root };
    expect(toCounters(cache.metrics())).toEqual([
      { name: "workspace_cache_hits_total", labels, value: 1 },
      { name: "workspace_cache_misses_total", labels, value: 2 },
      { name: "workspace_cache_invalidations_total", labels, value: 1 },
    ]);
  });

  test("CF-G: keeps scopes apart, and a shared one has no MEMORY.md", async () => {
    const root = await makeWorkspace({ "MEMORY.md": "secret", "USER.md": "Ada" });
    const cache = openCache();
    const main = await cache.load({ root, scope: "main" });
    const shared = await cache.load({ root, scope: "shared" });
    expect(main.files.map(({ path }) => path)).toEqual(["USER.md", "MEMORY.md"]);
    expect(shared.files.map(({ path }) => path)).toEqual(["USER.md"]);
    expect(await cache.load({ root, scope: "main" })).toBe(main);
  });

  test("C-16: a shared scope shows nothing private where the root is a symlink, nor one by another word", async () => {
    const root = await makeWorkspace({
      "AGENTS.md": "rules",
      ".strata/MEMORY.md": "secret",
      ".strata/log.md": "secret",
    });
    const alias = `${root}-alias`;
    await symlink(root, alias);
    onTestFinished(() => rm(alias));
    const cache = openCache();
    const extras = [join(root, ".strata/log.md"), join(alias, ".strata/log.md")];
    const scopes = ["shared", "group", undefined] as const;
    for (const scope of scopes) {
      // Plain JavaScript may pass any word.
      const request = { root: alias, scope, extras } as { root: string; scope: "shared" };
      const { files, notices, scope: taken } = await cache.load(request);
      expect([taken, files.map(({ path }) => path)]).toEqual(["shared", ["AGENTS.md"]]);
      expect(notices.map(({ kind, path }) => [kind, path])).toEqual([["hidden", ".strata/log.md"]]);
    }
    const main = await cache.load({ root: alias, scope: "main", extras });
    expect(main.files.map(({ path }) => path)).toEqual([
      "AGENTS.md",
      ".strata/log.md",
      ".strata/MEMORY.md",
    ]);
    // An extra by its other path is watched like any other.
    await put(root, ".strata/log.md", "more");
    expect(await until(() => invalidationsOf(cache, alias) === 1)).toBe(true);
  });

  test("CF-G: the order and the spelling of extras mean nothing", async () => {
    const root = await makeWorkspace({ "a.md": "A", "docs/b.md": "B" });
    const cache = openCache();
    const first = await cache.load({ root, scope: "main", extras: ["docs/b.md", "a.md"] });
    const extras = [" a.md", "./docs/../docs/b.md ", "a.md", "", join(root, "a.md")];
    expect(await cache.load({ root: `${root}/.`, scope: "main", extras })).toBe(first);
    expect(first.files.map(({ path }) => path)).toEqual(["a.md", "docs/b.md"]);
  });

  test("CF-G: what the host drops is read again", async () => {
    const root = await makeWorkspace({ "AGENTS.md": "one" });
    const cache = openCache();
    const first = await cache.load({ root, scope: "main" });
    cache.invalidate(root);
    const second = await cache.load({ root, scope: "main" });
    expect(second).not.toBe(first);
    cache.invalidate();
    expect(await cache.load({ root, scope: "main" })).not.toBe(second);
    expect(cache.metrics()).toMatchObject([{ misses: 3, invalidations: 2, loads: 3 }]);
  });

  test("CF-G: a change of any Markdown file drops what is kept of its root, and of no other", async () => {
    const root = await makeWorkspace({ "AGENTS.md": "one", "deep/er/notes.md": "x" });
    const other = await makeWorkspace({ "AGENTS.md": "other" });
    const cache = openCache();
    const [main, elsewhere] = await loadBoth(cache, root, other);
    await put(root, "AGENTS.md", "two");
    expect(await until(() => invalidationsOf(cache, root) === 1)).toBe(true);
    const later = await cache.load({ root, scope: "main" });
    expect(later).not.toBe(main);
    expect(textOf(later, "AGENTS.md")).toBe("two");
    // Folders without a document of the bundle are watched later.
    const isSeen = await until(async () => {
      await put(root, "deep/er/notes.md", "y");
      return invalidationsOf(cache, root) === 2;
    });
    expect(isSeen).toBe(true);
    expect(await cache.load({ root: other, scope: "main" })).toBe(elsewhere);
  });

  test("CF-G: what is older than the limit is read again, which counts as a drop", async () => {
    const root = await makeWorkspace({ "AGENTS.md": "one" });
    let nowMs = 1000;
    const cache = openCache({ maxAgeMs: 60_000, nowMs: () => nowMs });
    const first = await cache.load({ root, scope: "main" });
    nowMs += 59_999;
    expect(await cache.load({ root, scope: "main" })).toBe(first);
    nowMs += 1;
    expect(await cache.load({ root, scope: "main" })).not.toBe(first);
    expect(cache.metrics()).toMatchObject([{ hits: 1, misses: 2, invalidations: 1, loads: 2 }]);
  });

  test("N-06: a limit that changes holds immediately", async () => {
    const root = await makeWorkspace({ "AGENTS.md": "one" });
    let [nowMs, maxAgeMs] = [1000, 0];
    const times = () => ({ watchDebounceMs: 50, maxAgeMs });
    const cache = openCache({ times, nowMs: () => nowMs });
    const first = await cache.load({ root, scope: "main" });
    nowMs += 3_600_000;
    expect(await cache.load({ root, scope: "main" })).toBe(first);
    maxAgeMs = 60_000;
    expect(await cache.load({ root, scope: "main" })).not.toBe(first);
  });

  test("CF-G: a change of any other file drops nothing", async () => {
    const root = await makeWorkspace({ "AGENTS.md": "one", "src/main.ts": "x" });
    const cache = openCache();
    const first = await cache.load({ root, scope: "main" });
    await put(root, "src/main.ts", "y");
    await put(root, "AGENTS.md.bak", "y");
    await put(root, "new/folder/file.txt", "y");
    await pause(200);
    expect(await cache.load({ root, scope: "main" })).toBe(first);
    expect(invalidationsOf(cache, root)).toBe(0);
  });
});

describe("requests that meet", () => {
  test("a thousand that ask while it is loaded are one load, and all get the same object", async () => {
    const root = await makeWorkspace({ "AGENTS.md": "one", "USER.md": "Ada" });
    const { reads, openFiles } = countReads();
    const cache = openCache({ openFiles });
    const bundles = await Promise.all(
      Array.from({ length: 1000 }, () => cache.load({ root, scope: "main" })),
    );
    expect(new Set(bundles).size).toBe(1);
    expect(reads.toSorted()).toEqual([
      "AGENTS.md",
      "CLAUDE.md",
      "IDENTITY.md",
      "MEMORY.md",
      "SOUL.md",
      "USER.md",
    ]);
    expect(cache.metrics()).toMatchObject([{ hits: 0, misses: 1000, loads: 1 }]);
  });

  test("what was read before a drop is not kept after it", async () => {
    const root = await makeWorkspace({ "AGENTS.md": "one" });
    const cache = openCache();
    const early = cache.load({ root, scope: "main" });
    cache.invalidate(root);
    const late = await cache.load({ root, scope: "main" });
    expect(await early).not.toBe(late);
    expect(await cache.load({ root, scope: "main" })).toBe(late);
  });

  test("a workspace that cannot be opened is an error for all who wait, and the next one tries again", async () => {
    const root = await makeWorkspace({ "AGENTS.md": "one" });
    await rename(root, `${root}-away`);
    const cache = openCache();
    const requests = [cache.load({ root, scope: "main" }), cache.load({ root, scope: "main" })];
    for (const result of await Promise.allSettled(requests)) {
      expect(result).toMatchObject({ status: "rejected", reason: { code: "not-found" } });
    }
    await rename(`${root}-away`, root);
    expect(textOf(await cache.load({ root, scope: "main" }), "AGENTS.md")).toBe("one");
  });

  test("a passing shortage is an error for those who wait, and is not kept as a workspace without rules", async () => {
    const root = await makeWorkspace({ "AGENTS.md": "one" });
    let isShort = true;
    const cache = openCache({
      openFiles: async (path) => {
        const files = await openScope(path);
        return {
          nameOf: (each) => files.nameOf(each),
          stat: (each) => files.stat(each),
          readFile: async (each, options) => {
            if (isShort) throw new ToolError("execution_error", "cannot be used (EMFILE)");
            return files.readFile(each, options);
          },
        };
      },
    });
    await expect(cache.load({ root, scope: "main" })).rejects.toMatchObject({
      code: "environment-unfit",
    });
    isShort = false;
    expect(textOf(await cache.load({ root, scope: "main" }), "AGENTS.md")).toBe("one");
  });

  test.skipIf(process.platform === "win32")(
    "three hundred extras are read with few descriptors, and a lack of any is an error",
    async () => {
      const names = Array.from({ length: 300 }, (_, index) => `d${index}.md`);
      const root = await makeWorkspace({ "AGENTS.md": "one" });
      for (const name of names) await put(root, name, "x");
      const module = fileURLToPath(new URL("./workspace-cache.ts", import.meta.url));
      const program = [
        `import { openSync, closeSync } from "node:fs";`,
        `const { createWorkspaceCache } = await import(${JSON.stringify(module)});`,
        `const cache = createWorkspaceCache();`,
        `const extras = Array.from({ length: 300 }, (_, index) => "d" + index + ".md");`,
        `const load = () => cache.load({ root: ${JSON.stringify(root)}, scope: "main", extras });`,
        `const { files, notices } = await load();`,
        `console.log(files.length, notices.length);`,
        `cache.invalidate();`,
        `const taken = [];`,
        `try { for (;;) taken.push(openSync("/dev/null")); } catch {}`,
        `closeSync(taken.pop());`,
        `console.log(await load().then(() => "kept", ({ code }) => code));`,
        `for (const each of taken) closeSync(each);`,
        `console.log((await load()).files.length);`,
      ].join("\n");
      const command = 'ulimit -n 64; exec "$0" --input-type=module -e "$1"';
      const args = ["-c", command, process.execPath, program];
      const { status, stdout, stderr } = spawnSync("bash", args, { timeout: 30_000 });
      expect([status, String(stdout), String(stderr)]).toEqual([
        0,
        "301 0\nenvironment-unfit\n301\n",
        "",
      ]);
    },
  );

  test("what was not asked for the longest goes first", async () => {
    const roots = await Promise.all([1, 2, 3].map(() => makeWorkspace({ "AGENTS.md": "x" })));
    const cache = openCache({ keptMax: 2 });
    for (const root of roots) await cache.load({ root, scope: "main" });
    expect(cache.metrics().map(({ path }) => path)).toEqual(roots.slice(1));
  });
});

describe("watching", () => {
  test("a file that is replaced by a rename is seen every time", async () => {
    const root = await makeWorkspace({ ".strata/MEMORY.md": "0", "docs/a.md": "0" });
    const cache = openCache();
    const extras = ["docs/a.md"];
    await cache.load({ root, scope: "main", extras });
    for (const version of ["1", "2", "3"]) {
      for (const path of [".strata/MEMORY.md", "docs/a.md"]) {
        await replace(root, path, version);
        const isSeen = await until(
          async () => textOf(await cache.load({ root, scope: "main", extras }), path) === version,
        );
        expect([path, version, isSeen]).toEqual([path, version, true]);
      }
    }
  });

  test("documents that come to be after the first request are seen", async () => {
    const root = await makeWorkspace({ "AGENTS.md": "x" });
    const cache = openCache();
    const extras = ["node_modules/kit/GUIDE.txt"];
    const load = (): Promise<WorkspaceBundle> => cache.load({ root, scope: "main", extras });
    expect((await load()).notices).toEqual([
      { kind: "missing", path: "node_modules/kit/GUIDE.txt", detail: "is not there" },
    ]);
    await put(root, ".strata/USER.md", "Ada");
    expect(await until(async () => textOf(await load(), ".strata/USER.md") === "Ada")).toBe(true);
    await put(root, "node_modules/kit/GUIDE.txt", "read me");
    const isSeen = await until(async () => textOf(await load(), extras[0]) === "read me");
    expect(isSeen).toBe(true);
    await rename(join(root, "node_modules/kit"), join(root, "node_modules/kit-2"));
    expect(await until(async () => textOf(await load(), extras[0]) === undefined)).toBe(true);
  });

  test("a file that is written all the time is read all the same", async () => {
    const root = await makeWorkspace({ "AGENTS.md": "0" });
    const cache = openCache({ watchDebounceMs: 100 });
    await cache.load({ root, scope: "main" });
    for (let turn = 1; turn <= 20; turn += 1) {
      await put(root, "AGENTS.md", String(turn));
      await pause(20);
    }
    const seen = textOf(await cache.load({ root, scope: "main" }), "AGENTS.md");
    expect(Number(seen)).toBeGreaterThan(1);
  });

  test("a root that another folder takes the place of is watched again", async () => {
    const root = await makeWorkspace({ "AGENTS.md": "one" });
    const cache = openCache();
    const load = async (): Promise<string | undefined> =>
      cache.load({ root, scope: "main" }).then(
        (bundle) => textOf(bundle, "AGENTS.md"),
        () => "no workspace",
      );
    expect(await load()).toBe("one");
    await rm(root, { recursive: true });
    expect(await until(async () => (await load()) === "no workspace")).toBe(true);
    await mkdir(root);
    expect(await until(async () => (await load()) === undefined)).toBe(true);
    await put(root, "AGENTS.md", "two");
    expect(await until(async () => (await load()) === "two")).toBe(true);
    expect(cache.metrics()[0]?.isWatched).toBe(true);
  });

  test("where watching fails, it is reported once and ages decide, until it works again", async () => {
    const root = await makeWorkspace({ "AGENTS.md": "one" });
    const problems: WatchProblem[] = [];
    let nowMs = 1000;
    let isFailing = true;
    const error = Object.assign(new Error("no more watches"), { code: "ENOSPC" });
    const cache = openCache({
      report: (problem) => {
        problems.push(problem);
        throw new Error("a reporter that fails");
      },
      unwatchedMaxAgeMs: 2000,
      nowMs: () => nowMs,
      watch: (...args) => {
        if (isFailing) throw error;
        return watch(...args);
      },
    });
    const first = await cache.load({ root, scope: "main" });
    expect(await cache.load({ root, scope: "main" })).toBe(first);
    await put(root, "AGENTS.md", "two");
    nowMs += 2000;
    expect(textOf(await cache.load({ root, scope: "main" }), "AGENTS.md")).toBe("two");
    nowMs += 60_000;
    await cache.load({ root, scope: "main" });
    expect(problems).toEqual([{ kind: "watch-failed", root, error }]);
    expect(cache.metrics()).toMatchObject([{ isWatched: false, invalidations: 2 }]);
    isFailing = false;
    nowMs += 60_000;
    const watched = await cache.load({ root, scope: "main" });
    expect(cache.metrics()).toMatchObject([{ isWatched: true, invalidations: 3 }]);
    nowMs += 60_000;
    expect(await cache.load({ root, scope: "main" })).toBe(watched);
  });

  test("without watching, ages decide from the beginning", async () => {
    const root = await makeWorkspace({ "AGENTS.md": "one" });
    let nowMs = 0;
    const cache = openCache({ isWatching: false, nowMs: () => nowMs });
    const first = await cache.load({ root, scope: "main" });
    nowMs = 1999;
    expect(await cache.load({ root, scope: "main" })).toBe(first);
    nowMs = 2000;
    expect(await cache.load({ root, scope: "main" })).not.toBe(first);
  });
});

describe("the end", () => {
  test("a closed cache refuses requests", async () => {
    const root = await makeWorkspace({});
    const cache = openCache();
    await cache.load({ root, scope: "main" });
    cache.close();
    await expect(cache.load({ root, scope: "main" })).rejects.toMatchObject({ code: "usage" });
    expect(cache.metrics()).toEqual([]);
  });

  test("a program that loaded a workspace, and has seen a change, ends by itself", async () => {
    const root = await makeWorkspace({ "AGENTS.md": "one", "docs/a.md": "x" });
    const module = fileURLToPath(new URL("./workspace-cache.ts", import.meta.url));
    const program = [
      `import { writeFileSync } from "node:fs";`,
      `const { createWorkspaceCache } = await import(${JSON.stringify(module)});`,
      `const cache = createWorkspaceCache({ watchDebounceMs: 3600000 });`,
      `await cache.load({ root: ${JSON.stringify(root)}, scope: "main" });`,
      `writeFileSync(${JSON.stringify(join(root, "AGENTS.md"))}, "two");`,
      `await new Promise((resolve) => setTimeout(resolve, 100));`,
      `console.log("done");`,
    ].join("\n");
    const args = ["--input-type=module", "-e", program];
    const { status, stdout } = spawnSync(process.execPath, args, { timeout: 20_000 });
    expect([status, String(stdout)]).toEqual([0, "done\n"]);
  });

  test("settings that make no sense are refused with what would", () => {
    expect(() => createWorkspaceCache({ watchDebounceMs: 10 })).toThrow(
      "watchDebounceMs of the workspace cache is 10, but must be at least 50",
    );
    expect(() => createWorkspaceCache({ limits: { fileBytesMax: Number.NaN } })).toThrow(
      "fileBytesMax of the workspace cache is NaN, but must be at least 1000",
    );
  });
});

function loadBoth(
  cache: WorkspaceCache,
  ...roots: readonly string[]
): Promise<readonly WorkspaceBundle[]> {
  return Promise.all(roots.map((root) => cache.load({ root, scope: "main" })));
}

function textOf(bundle: WorkspaceBundle, path: string | undefined): string | undefined {
  return bundle.files.find((file) => file.path === path)?.text;
}

function invalidationsOf(cache: WorkspaceCache, root: string): number | undefined {
  return cache.metrics().find(({ path }) => path === root)?.invalidations;
}
