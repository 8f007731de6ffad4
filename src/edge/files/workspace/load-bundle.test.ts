import { link, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { hashContent } from "../../../core/hash.ts";
import type { WorkspaceBundle } from "../../../core/layers/workspace-bundle.ts";
import { ToolError } from "../../../core/tools/tool.ts";
import { openMemoryStore } from "../memory/memory-store.ts";
import { openScope } from "../guard/scoped-files.ts";
import { loadBundle } from "./load-bundle.ts";
import { makeWorkspace, put } from "./test-kit.ts";
import { spellExtras, toExtras } from "./workspace-paths.ts";

const limits = { fileBytesMax: 200_000, totalBytesMax: 300_000 };

describe("the documents of a workspace", () => {
  test("are those at the root, and further ones that were asked for", async () => {
    const root = await makeWorkspace({
      "AGENTS.md": "rules",
      "CLAUDE.md": "more rules",
      "IDENTITY.md": "- Name: Ada",
      "SOUL.md": "kind",
      "USER.md": "likes tea",
      "MEMORY.md": "port 8080",
      "docs/api.md": "GET /",
      "README.md": "not asked for",
    });
    const bundle = await load(root, { extras: ["docs/api.md"] });
    expect(bundle.files.map(({ kind, path, text }) => [kind, path, text])).toEqual([
      ["agents", "AGENTS.md", "rules"],
      ["claude", "CLAUDE.md", "more rules"],
      ["identity", "IDENTITY.md", "- Name: Ada"],
      ["soul", "SOUL.md", "kind"],
      ["document", "docs/api.md", "GET /"],
      ["user", "USER.md", "likes tea"],
      ["memory", "MEMORY.md", "port 8080"],
    ]);
    expect(bundle.identity.name).toBe("Ada");
    expect(bundle.notices).toEqual([]);
  });

  test("have the hash and the size of what is on the disk", async () => {
    const root = await makeWorkspace({ "SOUL.md": "\u{FEFF}kind\r\n" });
    const [soul] = (await load(root)).files;
    expect(soul).toEqual({
      kind: "soul",
      path: "SOUL.md",
      text: "kind\r\n",
      hash: hashContent("\u{FEFF}kind\r\n"),
      bytes: 9,
      bytesLeftOut: 0,
    });
  });

  test("an extra that is part of the bundle anyway is there once", async () => {
    const root = await makeWorkspace({ "AGENTS.md": "rules", ".strata/USER.md": "Ada" });
    const bundle = await load(root, { extras: ["AGENTS.md", ".strata/USER.md"] });
    expect(bundle.files.map(({ path }) => path)).toEqual(["AGENTS.md", ".strata/USER.md"]);
  });
});

describe("memory", () => {
  test("is read from .strata, else from .metis, never from both", async () => {
    const metis = await makeWorkspace({ ".metis/MEMORY.md": "old", ".metis/USER.md": "Ada" });
    expect(pathsOf(await load(metis))).toEqual([".metis/USER.md", ".metis/MEMORY.md"]);
    await put(metis, ".strata/MEMORY.md", "new");
    expect(pathsOf(await load(metis))).toEqual([".strata/MEMORY.md"]);
  });

  test("is read from where it was while it moves, as the memory tools do", async () => {
    const root = await makeWorkspace({
      ".metis/MEMORY.md": "old",
      ".metis/USER.md": "Ada",
      ".strata/MEMORY.md": "old",
      ".strata/memory-journal/move.json": move("moving"),
    });
    const store = await openMemoryStore(root);
    expect((await store.place()).folder).toBe(".metis");
    expect(pathsOf(await load(root))).toEqual([".metis/USER.md", ".metis/MEMORY.md"]);
    await put(root, ".strata/memory-journal/move.json", move("moved"));
    expect((await store.place()).folder).toBe(".strata");
    expect(pathsOf(await load(root))).toEqual([".strata/MEMORY.md"]);
  });

  test("that the tools write comes before one at the root, which is reported", async () => {
    const root = await makeWorkspace({ "MEMORY.md": "root", ".strata/MEMORY.md": "kept" });
    const bundle = await load(root);
    expect(pathsOf(bundle)).toEqual([".strata/MEMORY.md"]);
    expect(bundle.notices).toEqual([
      { kind: "shadowed", path: "MEMORY.md", detail: ".strata/MEMORY.md is shown in its place" },
    ]);
  });

  test("C-16: a shared scope never shows it, under whatever name it is asked for", async () => {
    const root = await makeWorkspace({
      "MEMORY.md": "secret",
      "docs/a.md": "fine",
      ".strata/MEMORY.md": "secret",
      ".strata/memory-journal/1": "secret",
    });
    const bundle = await load(root, {
      scope: "shared",
      extras: [
        "MEMORY.md",
        "docs/../MEMORY.md",
        "memory.MD",
        join(root, ".strata/MEMORY.md"),
        ".strata/memory-journal/1",
        "docs/a.md",
      ],
    });
    expect(pathsOf(bundle)).toEqual(["docs/a.md"]);
    expect(bundle.notices.map(({ kind, path }) => [kind, path])).toEqual([
      ["hidden", ".strata/MEMORY.md"],
      ["hidden", ".strata/memory-journal/1"],
      ["hidden", "MEMORY.md"],
      ["hidden", "memory.MD"],
    ]);
    expect(JSON.stringify(bundle)).not.toContain("secret");
  });
});

describe("what cannot be shown is reported", () => {
  test("symlinks, paths outside, folders and what is missing", async () => {
    const outside = await makeWorkspace({ "secret.md": "secret", "AGENTS.md": "secret" });
    const root = await makeWorkspace({ "SOUL.md/x": "a folder", "real.md": "fine" });
    await symlink(join(outside, "AGENTS.md"), join(root, "AGENTS.md"));
    await symlink(outside, join(root, "linked"));
    await link(join(root, "real.md"), join(root, "hard.md"));
    const extras = [
      "linked/secret.md",
      join(outside, "secret.md"),
      "../x.md",
      "gone.md",
      "hard.md",
    ];
    const bundle = await load(root, { extras });
    expect(pathsOf(bundle)).toEqual(["hard.md"]);
    expect(bundle.notices.map(({ kind, path }) => [kind, path])).toEqual(
      [
        ["unread", "../x.md"],
        ["unread", join(outside, "secret.md")],
        ["unread", "AGENTS.md"],
        ["unread", "SOUL.md"],
        ["missing", "gone.md"],
        ["unread", "linked/secret.md"],
      ].toSorted(([, left = ""], [, right = ""]) => (left < right ? -1 : 1)),
    );
    expect(bundle.notices.find(({ path }) => path === "AGENTS.md")?.detail).toBe(
      '"AGENTS.md" is, or leads through, a symbolic link; links are not followed',
    );
    expect(JSON.stringify(bundle)).not.toContain('"secret"');
  });

  test("a document that could be read before keeps its last good text; one that is removed does not", async () => {
    const root = await makeWorkspace({ "AGENTS.md": "rules", "SOUL.md": "kind" });
    const lastGood = new Map();
    const files = await openScope(root);
    const request = { root, scope: "main", extras: [], limits } as const;
    const textsOf = async (): Promise<readonly string[]> =>
      (await loadBundle(files, request, lastGood)).files.map(({ text }) => text);
    expect(await textsOf()).toEqual(["rules", "kind"]);
    await rm(join(root, "AGENTS.md"));
    await symlink(join(root, "SOUL.md"), join(root, "AGENTS.md"));
    await put(root, "SOUL.md", Uint8Array.of(107, 0, 105));
    const { files: shown, notices } = await loadBundle(files, request, lastGood);
    expect(shown.map(({ text }) => text)).toEqual(["rules", "kind"]);
    expect(notices.map(({ path, detail }) => `${path}: ${detail}`)).toContain(
      "AGENTS.md: its last good text is shown",
    );
    await rm(join(root, "AGENTS.md"));
    expect(await textsOf()).toEqual(["kind"]);
  });

  test("a memory folder that is a symlink", async () => {
    const outside = await makeWorkspace({ "MEMORY.md": "secret" });
    const root = await makeWorkspace({ ".metis/MEMORY.md": "fine" });
    await symlink(outside, join(root, ".strata"));
    const bundle = await load(root);
    expect(bundle.files.map(({ text }) => text)).toEqual(["fine"]);
    expect(bundle.notices).toMatchObject([{ kind: "unread", path: ".strata" }]);
  });

  test("a file that the system does not give out, while the others are shown", async () => {
    const root = await makeWorkspace({ "AGENTS.md": "rules", "SOUL.md": "kind" });
    const files = await openScope(root);
    const bundle = await loadBundle(
      {
        stat: (path) => files.stat(path),
        readFile: async (path, options) => {
          if (path === "SOUL.md") throw new ToolError("permission_denied", "may not be touched");
          return files.readFile(path, options);
        },
      },
      { root, scope: "main", extras: [], limits },
    );
    expect(pathsOf(bundle)).toEqual(["AGENTS.md"]);
    expect(bundle.notices).toEqual([
      { kind: "unread", path: "SOUL.md", detail: "may not be touched" },
    ]);
  });

  test("a shortage is no refusal: nothing is shown as if there were no more", async () => {
    const root = await makeWorkspace({ "AGENTS.md": "rules", "a.md": "A", ".strata/USER.md": "u" });
    const files = await openScope(root);
    const short = new ToolError("execution_error", "cannot be used (EMFILE)");
    for (const failing of ["AGENTS.md", "a.md", ".strata", "USER.md"]) {
      const fail = <T>(path: string, work: () => Promise<T>): Promise<T> =>
        path === failing ? Promise.reject(short) : work();
      const loading = loadBundle(
        {
          stat: (path) => fail(path, () => files.stat(path)),
          readFile: (path, options) => fail(path, () => files.readFile(path, options)),
        },
        { root, scope: "main", extras: ["a.md"], limits },
      );
      await expect(loading).rejects.toMatchObject({ code: "environment-unfit", cause: short });
    }
  });

  test("bytes that are no text, and text that is no UTF-8", async () => {
    const root = await makeWorkspace({
      "AGENTS.md": Uint8Array.of(0x41, 0x00, 0x42),
      "SOUL.md": Uint8Array.of(0x63, 0x61, 0x66, 0xe9),
    });
    const bundle = await load(root);
    expect(bundle.files.map(({ text }) => text)).toEqual(["caf\u{FFFD}"]);
    expect(bundle.notices.map(({ kind, path }) => [kind, path])).toEqual([
      ["not-text", "AGENTS.md"],
      ["not-utf8", "SOUL.md"],
    ]);
  });

  test("a huge file is cut where reading ended, and nothing of it is called broken", async () => {
    // Three bytes each, so that the read limit falls inside a character.
    const root = await makeWorkspace({ "AGENTS.md": "€".repeat(2_000_000) });
    const bundle = await load(root);
    expect(bundle.notices).toMatchObject([{ kind: "cut", path: "AGENTS.md" }]);
    const [rules] = bundle.files;
    expect(Buffer.byteLength(rules?.text ?? "")).toBeLessThanOrEqual(200_000);
    expect(rules?.bytes).toBe(6_000_000);
    expect(rules?.text).toMatch(/^€+\n\n\[\d+ of \d+ bytes of AGENTS\.md are left out here: .*\]$/);
  });
});

function move(stage: string): string {
  return JSON.stringify({ stage, files: [], entries: [] });
}

interface LoadOptions {
  readonly scope?: "main" | "shared";
  readonly extras?: readonly string[];
}

async function load(
  root: string,
  { scope = "main", extras = [] }: LoadOptions = {},
): Promise<WorkspaceBundle> {
  const files = await openScope(root);
  const spelled = spellExtras(files, toExtras(root, extras));
  return loadBundle(files, { root, scope, extras: spelled, limits });
}

function pathsOf(bundle: WorkspaceBundle): readonly string[] {
  return bundle.files.map(({ path }) => path);
}
