import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ToolError } from "../../../core/tools/tool.ts";
import type { ScopedFiles } from "../../files/guard/scoped-files.ts";
import { builtInTools } from "../built-in-tools.ts";
import { createDispatcher, type Dispatcher } from "../dispatch/dispatcher.ts";
import { listTools } from "./list-tools.ts";
import { context, makeWorkspace, runOne, textOf, useOf, type TestWorkspace } from "../test-kit.ts";

const makePipe = "mkfifo";

let workspace: TestWorkspace;
let dispatcher: Dispatcher;

beforeEach(async () => {
  workspace = await makeWorkspace();
  const tools = builtInTools(workspace.files);
  dispatcher = createDispatcher({ tools, workspace: workspace.files });
});

afterEach(() => workspace.remove());

function run(name: string, input: unknown): Promise<string> {
  return runOne(dispatcher, name, input);
}

function put(path: string, content: string | Uint8Array): void {
  mkdirSync(join(workspace.root, path, ".."), { recursive: true });
  writeFileSync(join(workspace.root, path), content);
}

function contentOf(path: string): string {
  return readFileSync(join(workspace.root, path), "utf8");
}

function namesOf(allowBash: boolean): string[] {
  return builtInTools(workspace.files, { allowBash }).map(({ definition }) => definition.name);
}

test("bash is there only where it was allowed", () => {
  expect(namesOf(false)).toEqual(["read", "write", "edit", "list", "glob", "grep"]);
  expect(namesOf(true)).toEqual(["read", "write", "edit", "list", "glob", "grep", "bash"]);
});

describe("read", () => {
  test("gives a file exactly as it is", async () => {
    put("a.txt", "\ufeffone\r\ntwo\n\n");
    expect(await run("read", { path: "a.txt" })).toBe("\ufeffone\r\ntwo\n\n");
    expect(await run("read", { path: join(workspace.root, "a.txt") })).toBe("\ufeffone\r\ntwo\n\n");
    put("empty.txt", "");
    expect(await run("read", { path: "empty.txt" })).toBe("[empty.txt is empty]");
  });

  test("gives some lines and says how to go on", async () => {
    put("a.txt", "1\n2\n3\n4\n5\n");
    expect(await run("read", { path: "a.txt", offset: 2, limit: 2 })).toBe(
      "2\n3\n[lines 2 to 3 of 5; go on with offset 4]",
    );
    expect(await run("read", { path: "a.txt", offset: 4 })).toBe("4\n5\n[lines 4 to 5 of 5]");
    expect(await run("read", { path: "a.txt", offset: 6 })).toBe(
      "error: validation_error: a.txt has 5 lines; there is no line 6",
    );
  });

  test("white space is reported, not taken for nothing", async () => {
    put("blank.txt", "  \n\n");
    expect(await run("read", { path: "blank.txt" })).toBe(
      '[blank.txt holds white space and nothing else: "  \\n\\n"]',
    );
    put("blank.txt", " ".repeat(300));
    expect(await run("read", { path: "blank.txt" })).toContain("nothing else: 300 characters]");
  });

  test("a column behind the end of its line is an error, the last one is not", async () => {
    put("a.txt", "abc\n\n");
    expect(await run("read", { path: "a.txt", column: 4 })).toBe(
      "error: validation_error: line 1 of a.txt has 3 characters; there is no column 4",
    );
    expect(await run("read", { path: "a.txt", column: 3, limit: 1 })).toBe(
      "c\n[lines 1 to 1 of 2; go on with offset 2]",
    );
    expect(await run("read", { path: "a.txt", offset: 2, column: 1 })).toBe(
      "\n[lines 2 to 2 of 2]",
    );
  });

  test("a long file is read to its end by doing as the notes say", async () => {
    const lines = Array.from({ length: 9000 }, (_, index) => `${index} ${"é".repeat(index % 50)}`);
    put("long.txt", lines.join("\n"));
    const seen: string[] = [];
    let offset = 1;
    while (offset <= lines.length) {
      const part = (await run("read", { path: "long.txt", offset })).split("\n");
      expect(Buffer.byteLength(part.join("\n"))).toBeLessThan(50_000);
      seen.push(...part.slice(0, -1));
      offset = seen.length + 1;
    }
    expect(seen).toEqual(lines);
  });

  test("a line longer than a result is read to its end by column", async () => {
    const line = "😀é".repeat(20_000);
    put("line.txt", `${line}\nlast\n`);
    let seen = "";
    for (let column = 1; column !== 0;) {
      const part = await run("read", { path: "line.txt", offset: 1, limit: 1, column });
      const end = part.lastIndexOf("\n[");
      seen += part.slice(0, end);
      column = Number(/column (\d+)/.exec(part.slice(end))?.[1] ?? 0);
    }
    expect(seen).toBe(line);
  });

  test("what is no text, too large, missing or a folder is refused with the reason", async () => {
    put("binary", Buffer.from([65, 0, 66]));
    put("latin", Buffer.from([0xe9, 0x20]));
    put("large", Buffer.alloc(10_000_001, "a"));
    mkdirSync(join(workspace.root, "folder"));
    const refusals = {
      binary: "validation_error: binary is not text: 3 bytes with a zero byte at 1",
      latin: "validation_error: latin is not text: 2 bytes that are not UTF-8",
      large:
        "validation_error: large is 10000001 bytes long; at most 10000000 are read: search it with grep",
      nothing: "not_found: there is no file nothing",
      folder: 'validation_error: "folder" is a folder',
    };
    for (const [path, refusal] of Object.entries(refusals)) {
      expect(await run("read", { path })).toBe(`error: ${refusal}`);
    }
  });
});

describe("write", () => {
  test("makes and replaces files, and says so", async () => {
    expect(await run("write", { path: "new/a.txt", content: "é" })).toBe(
      "Made new/a.txt: 2 bytes.",
    );
    expect(await run("write", { path: "./new//a.txt", content: "" })).toBe(
      "Replaced 2 bytes of new/a.txt: 0 bytes.",
    );
    expect(contentOf("new/a.txt")).toBe("");
    expect(lstatSync(join(workspace.root, "new/a.txt")).mode & 0o700).toBe(0o600);
    expect(readdirSync(join(workspace.root, "new"))).toEqual(["a.txt"]);
  });

  test("what git runs and what has tools of its own is not for it", async () => {
    for (const path of [
      ".git/hooks/pre-commit",
      "sub/.GIT/config",
      ".strata/MEMORY.md",
      ".metis/x",
      // What some file system takes for the same name: invisible characters, case, ends, short names, streams.
      ".g\u200bit/config",
      ".gi\u00adt/config",
      "\ufeff.git/config",
      ".git\u2060/config",
      "sub/.GiT\u200d. ./hooks/pre-commit",
      ".git\ufe0f /config",
      ".\u{e0001}git/config",
      "GIT~1/config",
      ".git::$INDEX_ALLOCATION/config",
      ".str\u200cata/MEMORY.md",
    ]) {
      expect(await run("write", { path, content: "x" })).toContain("error: permission_denied");
      expect(await run("edit", { path, old: "a", new: "b" })).toContain("error: permission_denied");
    }
    expect(readdirSync(workspace.root)).toEqual([]);
    expect(await run("write", { path: ".github/x", content: "x" })).toBe(
      "Made .github/x: 1 bytes.",
    );
    for (const path of ["git", ".gitignore", "digit~1", "a.git/x"]) {
      expect(await run("write", { path, content: "x" })).toContain("Made");
    }
  });
});

describe("edit", () => {
  test("replaces the one occurrence, whatever is in the text", async () => {
    put("a.txt", "\ufeffone $& two\r\n");
    expect(await run("edit", { path: "a.txt", old: "$&", new: "$1$$" })).toBe(
      "Replaced 1 occurrence in a.txt.",
    );
    expect(contentOf("a.txt")).toBe("\ufeffone $1$$ two\r\n");
  });

  test("says how often the text occurs when it is not once", async () => {
    put("a.txt", "a b a b a\n");
    expect(await run("edit", { path: "a.txt", old: "a", new: "x" })).toBe(
      "error: validation_error: old occurs 3 times in a.txt: take more of the text around it, or set all",
    );
    expect(await run("edit", { path: "a.txt", old: "c", new: "x" })).toBe(
      "error: validation_error: old does not occur in a.txt",
    );
    expect(contentOf("a.txt")).toBe("a b a b a\n");
    expect(await run("edit", { path: "a.txt", old: "a", new: "x", all: true })).toBe(
      "Replaced 3 occurrences in a.txt.",
    );
    expect(contentOf("a.txt")).toBe("x b x b x\n");
  });

  test("says when only line ends or white space differ", async () => {
    put("a.txt", "one\r\ntwo  three\r\n");
    expect(await run("edit", { path: "a.txt", old: "one\ntwo", new: "" })).toContain(
      "but does with other line ends (CRLF)",
    );
    expect(await run("edit", { path: "a.txt", old: "two three", new: "" })).toContain(
      "but does with other white space",
    );
  });

  test("what another program saves meanwhile is never overwritten", async () => {
    put("a.txt", "one two");
    const { files } = workspace;
    const saving: ScopedFiles = {
      ...files,
      writeFile: (path, content, options = {}) =>
        files.writeFile(path, content, {
          ...options,
          beforeRename: async () => {
            put("a.txt", "one two, and more");
            await options.beforeRename?.();
          },
        }),
    };
    const tools = builtInTools(saving);
    const meanwhile = createDispatcher({ tools, workspace: files });
    expect(await runOne(meanwhile, "edit", { path: "a.txt", old: "one", new: "1" })).toBe(
      "error: execution_error: a.txt was changed meanwhile; read it again",
    );
    expect(contentOf("a.txt")).toBe("one two, and more");
    expect(readdirSync(workspace.root)).toEqual(["a.txt"]);
  });

  test("a result that would be too large is not even made", async () => {
    put("a.txt", "a".repeat(500_000));
    const replacement = "字".repeat(100_000);
    expect(await run("edit", { path: "a.txt", old: "a", new: replacement, all: true })).toBe(
      "error: validation_error: 150000000000 bytes; at most 10000000 are written",
    );
  });

  test("ten concurrent edits of one file all land", async () => {
    const words = Array.from({ length: 10 }, (_, index) => `w${index};`);
    put("a.txt", words.join(""));
    const uses = words.map((old) => useOf("edit", { path: "a.txt", old, new: old.toUpperCase() }));
    const results = await dispatcher.runAll(uses, context);
    expect(new Set(results.map(textOf))).toEqual(new Set(["Replaced 1 occurrence in a.txt."]));
    expect(contentOf("a.txt")).toBe(words.join("").toUpperCase());
  });
});

describe("list and glob", () => {
  beforeEach(() => {
    for (const path of [
      "b.ts",
      "a.md",
      "src/x.ts",
      "src/deep/y.ts",
      ".git/z.ts",
      "node_modules/m.ts",
    ]) {
      put(path, "x");
    }
    symlinkSync("/etc", join(workspace.root, "link"));
  });

  test("a folder is listed with sizes; links are shown and not followed", async () => {
    expect(await run("list", {})).toBe(
      [
        ".git/",
        "a.md (1 bytes)",
        "b.ts (1 bytes)",
        "link (symbolic link, not followed)",
        "node_modules/",
        "src/",
      ].join("\n"),
    );
    expect(await run("list", { path: "b.ts" })).toContain("b.ts is a file");
    expect(await run("list", { path: "nothing" })).toContain("error: not_found");
    mkdirSync(join(workspace.root, "empty"));
    expect(await run("list", { path: "empty" })).toBe("[empty is empty]");
  });

  test("files are found by pattern, from a folder on", async () => {
    const skipped = "[not looked into: .git, node_modules; 1 symbolic links not followed]";
    expect(await run("glob", { pattern: "**/*.ts" })).toBe(
      ["b.ts", "src/deep/y.ts", "src/x.ts", skipped].join("\n"),
    );
    expect(await run("glob", { pattern: "*.ts", path: "src" })).toBe("src/x.ts");
    expect(await run("glob", { pattern: "node_modules/*" })).toContain("node_modules/m.ts");
    expect(await run("glob", { pattern: "*.{md,txt}" })).toContain("a.md");
    expect(await run("glob", { pattern: "*.py", path: "src" })).toBe("No file matches.");
    expect(await run("glob", { pattern: "link/*" })).toContain("No file matches.");
    expect(await run("glob", { pattern: "../*" })).toBe(
      "error: validation_error: the pattern leads outside the folder",
    );
  });

  test("busy folders are looked into only where their name is a word of the pattern or the path", async () => {
    put("sub/.gitignore", "");
    expect(await run("glob", { pattern: "**/.git{ignore,attributes}" })).toBe(
      "sub/.gitignore\n[not looked into: .git, node_modules; 1 symbolic links not followed]",
    );
    expect(await run("glob", { pattern: "{.git,src}/*.ts" })).toContain(".git/z.ts\nsrc/x.ts");
    expect(await run("glob", { pattern: "*.ts", path: ".git" })).toBe(".git/z.ts");
  });

  test("a line end in a name does not make two files", async () => {
    put("odd/a\nb.md", "");
    expect(await run("glob", { pattern: "odd/*" })).toContain('"odd/a\\nb.md"\n');
    expect(await run("list", { path: "odd" })).toBe('"a\\nb.md" (0 bytes)');
  });

  test("pipes, and folders that are too deep, are reported as what they are", async () => {
    execFileSync(makePipe, [join(workspace.root, "src/pipe.ts")]);
    expect(await run("glob", { pattern: "*.ts", path: "src" })).toBe(
      "src/x.ts\n[1 pipes, sockets or devices passed over]",
    );
    put(`deep/${"z/".repeat(70)}x.txt`, "");
    expect(await run("glob", { pattern: "**/*.txt", path: "deep" })).toBe(
      "No file matches.\n[1 folders more than 64 deep not looked into]",
    );
  });

  test("a walk that is cancelled is not a result", async () => {
    const reason = new ToolError("cancelled", "nobody wants it");
    const glob = listTools(workspace.files).find(({ definition }) => definition.name === "glob");
    const call = { sessionId: "s1", turnId: "t1", toolUseId: "tu", role: "unified" } as const;
    const walk = glob?.run({ pattern: "**" }, { ...call, signal: AbortSignal.abort(reason) });
    await expect(walk).rejects.toBe(reason);
  });

  test("of a thousand and more, the rest is counted", async () => {
    for (let index = 0; index < 1005; index += 1) put(`many/f${index}`, "");
    expect(await run("list", { path: "many" })).toContain("[5 more entries; use glob]");
    expect(await run("glob", { pattern: "many/*" })).toContain("[5 more files; 1 symbolic links");
  });
});
