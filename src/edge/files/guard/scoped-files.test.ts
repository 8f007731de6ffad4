import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { execFileSync } from "node:child_process";
import { open } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ToolError } from "../../../core/tools/tool.ts";
import { openScope, type ScopedFiles } from "./scoped-files.ts";
import { openRoot } from "./open-root.ts";
import { hasDescriptorPaths, openFolder } from "./scoped-folder.ts";
import { namesInside } from "./scoped-path.ts";
import { isLeftover } from "./scoped-write.ts";

const makePipe = "mkfifo";

let base: string;
let root: string;

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "strata-scope-"));
  root = join(base, "workspace");
  mkdirSync(join(root, "a/b"), { recursive: true });
  mkdirSync(join(base, "outside"));
  writeFileSync(join(base, "outside/secret.txt"), "secret");
  writeFileSync(join(root, "a/b/c.txt"), "hello");
});

afterEach(() => rmSync(base, { recursive: true, force: true }));

async function refusal(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  return error instanceof ToolError ? `${error.errorClass}: ${error.message}` : String(error);
}

async function take(): Promise<boolean> {
  return true;
}

/** Every operation on a path. */
function allOn(files: ScopedFiles, path: string): (() => Promise<unknown>)[] {
  return [
    () => files.readFile(path, { bytesMax: 100 }),
    () => files.writeFile(path, "x"),
    () => files.createFile(path, "x"),
    () => files.list(path),
    () => files.stat(path),
    () => files.remove(path),
    () => files.readPieces(path, { bytesMax: 100, take }),
  ];
}

async function textAt(files: ScopedFiles, path: string): Promise<string | null> {
  const file = await files.readFile(path, { bytesMax: 1000 });
  return file === null ? null : Buffer.from(file.bytes).toString();
}

describe.each([
  ["by descriptor", true],
  ["by path", false],
])("files of a scope, %s", (_name, byDescriptor) => {
  let files: ScopedFiles;

  beforeEach(async () => {
    files = await openScope(root, { byDescriptor });
  });

  test("what is written can be read, listed and removed", async () => {
    await files.writeFile("new/deep/file.txt", "one");
    expect(await textAt(files, "new/deep/file.txt")).toBe("one");
    expect(await files.list("new/deep")).toEqual([{ name: "file.txt", kind: "file", size: 3 }]);
    expect(await files.stat("new")).toMatchObject({ kind: "folder" });
    expect(await files.stat("new/deep/file.txt")).toMatchObject({ kind: "file", size: 3 });
    expect(lstatSync(join(root, "new/deep")).mode & 0o777).toBe(0o700);
    await files.remove("new/deep/file.txt");
    await files.remove("new/deep");
    expect(await files.stat("new/deep")).toBeNull();
    expect(readdirSync(join(root, "new"))).toEqual([]);
  });

  test("bytes end at the limit, and the size shows the rest", async () => {
    const file = await files.readFile("a/b/c.txt", { bytesMax: 3 });
    expect(Buffer.from(file?.bytes ?? []).toString()).toBe("hel");
    expect(file?.size).toBe(5);
  });

  test("a file is read in pieces to its end, or until the caller stops", async () => {
    const piecesOf = async (wanted: number): Promise<string[]> => {
      const pieces: string[] = [];
      const takeSome = async (piece: Uint8Array): Promise<boolean> =>
        pieces.push(Buffer.from(piece).toString()) < wanted;
      const options = { bytesMax: 2, take: takeSome };
      expect(await files.readPieces("a/b/c.txt", options)).toBe(true);
      return pieces;
    };
    expect(await piecesOf(9)).toEqual(["he", "ll", "o"]);
    expect(await piecesOf(2)).toEqual(["he", "ll"]);
    expect(await files.readPieces("nothing", { bytesMax: 2, take })).toBe(false);
    expect(await files.readPieces("no/thing", { bytesMax: 2, take })).toBe(false);
    expect(await refusal(files.readPieces("a", { bytesMax: 2, take }))).toContain("is a folder");
  });

  test("a folder that is swapped for a link while its file is written is not left for the link", async () => {
    const write = files.writeFile("a/b/c.txt", "new", {
      beforeRename: () => {
        renameSync(join(root, "a/b"), join(root, "a/real"));
        symlinkSync(join(base, "outside"), join(root, "a/b"));
      },
    });
    // By descriptor the folder is still the same; by path it is no longer where it was.
    expect(await refusal(write)).toBe(
      byDescriptor ? "null" : 'permission_denied: "a/b/c.txt" was moved or replaced meanwhile',
    );
    const text = readFileSync(join(root, "a/real/c.txt"), "utf8");
    expect(text).toBe(byDescriptor ? "new" : "hello");
    expect(readdirSync(join(base, "outside"))).toEqual(["secret.txt"]);
  });

  test("what is missing is null, also below a file", async () => {
    expect(await files.readFile("nothing", { bytesMax: 1 })).toBeNull();
    expect(await files.readFile("no/thing", { bytesMax: 1 })).toBeNull();
    expect(await files.readFile("a/b/c.txt/d", { bytesMax: 1 })).toBeNull();
    expect(await files.stat("a/b/c.txt/d")).toBeNull();
    await files.remove("nothing");
    expect(await refusal(files.list("nothing"))).toBe('not_found: there is no folder "nothing"');
    expect(await refusal(files.writeFile("a/b/c.txt/d", ""))).toBe(
      'validation_error: "a/b/c.txt/d" leads through a file',
    );
  });

  test("paths that lead outside are refused by every operation", async () => {
    const outside = join(base, "outside/secret.txt");
    for (const path of ["../outside/secret.txt", "a/../../outside", outside, "..", `${root}-x`]) {
      for (const work of allOn(files, path)) {
        expect(await refusal(work())).toBe(
          `permission_denied: ${JSON.stringify(path)} is outside the workspace`,
        );
      }
    }
    expect(readFileSync(outside, "utf8")).toBe("secret");
    expect(readdirSync(join(base, "outside"))).toEqual(["secret.txt"]);
  });

  test("a way back inside and an absolute path inside are the same file", async () => {
    expect(await textAt(files, "a/x/../b/./c.txt")).toBe("hello");
    expect(await textAt(files, join(root, "a/b/c.txt"))).toBe("hello");
    expect(files.nameOf(join(root, "a/x/../b//c.txt"))).toBe("a/b/c.txt");
    expect(files.nameOf("")).toBe(".");
  });

  test("a symlink is refused on the way and at the end, wherever it leads", async () => {
    symlinkSync(join(base, "outside"), join(root, "out"));
    symlinkSync("b", join(root, "a/in"));
    symlinkSync(join(base, "outside/made.txt"), join(root, "dangling"));
    for (const path of ["out/secret.txt", "a/in/c.txt", "dangling", "out/new/file.txt"]) {
      for (const work of allOn(files, path)) {
        expect(await refusal(work())).toContain(
          `permission_denied: ${JSON.stringify(path)} is, or leads through, a symbolic link`,
        );
      }
    }
    expect(readdirSync(join(base, "outside"))).toEqual(["secret.txt"]);
    expect(await files.list(".")).toEqual([
      { name: "a", kind: "folder", size: expect.any(Number) },
      { name: "dangling", kind: "symlink", size: expect.any(Number) },
      { name: "out", kind: "symlink", size: expect.any(Number) },
    ]);
  });

  test("a pipe or a socket is refused and never waited for", async () => {
    execFileSync(makePipe, [join(root, "pipe")]);
    const server = createServer().listen(join(root, "socket"));
    await new Promise((resolve) => server.once("listening", resolve));
    for (const path of ["pipe", "socket"]) {
      expect(await refusal(files.readFile(path, { bytesMax: 1 }))).toBe(
        `permission_denied: "${path}" is neither a file nor a folder`,
      );
      expect(await refusal(files.writeFile(path, ""))).toContain("permission_denied");
    }
    server.close();
  });

  test("names that no file has are refused", async () => {
    for (const path of ["a\0b", "\ud800", "x".repeat(256), "a/".repeat(3000)]) {
      for (const work of allOn(files, path)) {
        expect(await refusal(work())).toContain("validation_error");
      }
    }
  });

  test("a file is replaced as a whole: another name for the old one keeps the old text", async () => {
    linkSync(join(root, "a/b/c.txt"), join(base, "outside/other-name.txt"));
    await files.writeFile("a/b/c.txt", "new");
    expect(readFileSync(join(base, "outside/other-name.txt"), "utf8")).toBe("hello");
    expect(await textAt(files, "a/b/c.txt")).toBe("new");
  });

  test("a replaced file keeps its mode, a new one is for its user alone unless a mode is given", async () => {
    chmodSync(join(root, "a/b/c.txt"), 0o755);
    await files.writeFile("a/b/c.txt", "new", { mode: 0o600 });
    await files.writeFile("private", "");
    await files.writeFile("shared", "", { mode: 0o644 });
    const modes = ["a/b/c.txt", "private", "shared"].map(
      (name) => lstatSync(join(root, name)).mode & 0o777,
    );
    expect(modes).toEqual([0o755, 0o600, 0o644]);
  });

  test.runIf(process.getuid?.() === 0)("a replaced file keeps its owner", async () => {
    chmodSync(join(root, "a/b/c.txt"), 0o444);
    chownSync(join(root, "a/b/c.txt"), 1234, 1235);
    await files.writeFile("a/b/c.txt", "new", { mode: 0o644 });
    const { uid, gid, mode } = lstatSync(join(root, "a/b/c.txt"));
    expect([uid, gid, mode & 0o777]).toEqual([1234, 1235, 0o444]);
  });

  test("what is thrown before the rename passes and leaves all as it was", async () => {
    const lost = new RangeError("the lock is lost");
    const write = files.writeFile("a/b/c.txt", "new", {
      beforeRename: () => {
        expect(readdirSync(join(root, "a/b")).filter(isLeftover)).toHaveLength(1);
        throw lost;
      },
    });
    await expect(write).rejects.toBe(lost);
    expect(readdirSync(join(root, "a/b"))).toEqual(["c.txt"]);
    expect(await textAt(files, "a/b/c.txt")).toBe("hello");
  });

  test("of many who create a file one succeeds, and the file is theirs", async () => {
    const tries = Array.from({ length: 20 }, (_, index) => files.createFile("lock", String(index)));
    const results = await Promise.all(tries);
    expect(results.filter(Boolean)).toHaveLength(1);
    expect(await textAt(files, "lock")).toBe(String(results.indexOf(true)));
    expect(readdirSync(root)).toEqual(["a", "lock"]);
  });

  test("a reader gets one whole version while others write", async () => {
    const versions = ["a", "b", "c"].map((letter) => letter.repeat(50_000));
    await files.writeFile("busy", versions[0] ?? "");
    const writes = Promise.all(
      Array.from({ length: 30 }, (_, index) => files.writeFile("busy", versions[index % 3] ?? "")),
    );
    const seen = await Promise.all(
      Array.from({ length: 60 }, () => files.readFile("busy", { bytesMax: 100_000 })),
    );
    await writes;
    for (const file of seen) {
      expect(versions).toContain(Buffer.from(file?.bytes ?? []).toString());
    }
  });

  test("a folder that is not empty and the root itself are not removed", async () => {
    expect(await refusal(files.remove("a"))).toBe('validation_error: the folder "a" is not empty');
    expect(await refusal(files.remove("."))).toContain("permission_denied");
    expect(await refusal(files.writeFile("a", ""))).toBe('validation_error: "a" is a folder');
  });

  test("another folder in the place of the root is refused", async () => {
    renameSync(root, join(base, "old"));
    symlinkSync(join(base, "outside"), root);
    expect(await refusal(files.readFile("secret.txt", { bytesMax: 10 }))).not.toBe("null");
    rmSync(root);
    mkdirSync(root);
    expect(await refusal(files.writeFile("x", ""))).toContain("was moved or replaced meanwhile");
    expect(readdirSync(root)).toEqual([]);
  });

  test("another folder with the number of the root, which was used again, is refused", async () => {
    const known = await openRoot(root, { byDescriptor });
    const earlier = { ...known, birthtimeNs: (known.birthtimeNs ?? 1n) - 1n };
    const folder = { names: ["a"], create: false, path: "a/x" };
    expect(await refusal(openFolder(earlier, folder))).toBe(
      'permission_denied: "a/x" was moved or replaced meanwhile',
    );
    // Changes inside a folder do not make it another one.
    await files.writeFile("more", "");
    await (await openFolder(known, folder))?.close();
  });

  test("a list is sorted by code units, however many entries there are", async () => {
    mkdirSync(join(root, "many"));
    for (const name of ["b", "a", "B", "é", "_"]) writeFileSync(join(root, "many", name), "");
    for (let index = 0; index < 80; index += 1)
      writeFileSync(join(root, `many/n${index + 10}`), "");
    const names = (await files.list("many")).map(({ name }) => name);
    expect(names).toHaveLength(85);
    expect(names.slice(0, 5)).toEqual(["B", "_", "a", "b", "n10"]);
    expect(names.at(-1)).toBe("é");
  });
});

test.runIf(existsSync("/proc/self/fd"))(
  "where the system has descriptor paths they are used",
  async () => {
    const handle = await open(root);
    expect(await hasDescriptorPaths(handle)).toBe(true);
    await handle.close();
    expect((await openScope(root)).lookup).toBe("by descriptor");
    expect((await openScope(root, { byDescriptor: false })).lookup).toBe("by path");
  },
);

test("the root must be a folder that is there; a link to it is taken once", async () => {
  expect(await refusal(openScope(join(base, "nothing")))).toContain("not_found");
  expect(await refusal(openScope(join(root, "a/b/c.txt")))).toContain("is a file");
  symlinkSync(root, join(base, "alias"));
  const files = await openScope(join(base, "alias"));
  expect(files.root).toBe(root);
  expect(await textAt(files, join(base, "alias/a/b/c.txt"))).toBe("hello");
});

test("names never lead up, whatever the path", () => {
  const word = fc.constantFrom("..", ".", "", "a", "b", "..a", "workspace", " ", "\\", "c");
  fc.assert(
    fc.property(fc.array(word), fc.boolean(), (words, isAbsolute) => {
      const path = (isAbsolute ? "/r/" : "") + words.join("/");
      const names = namesOrRefusal(path);
      expect(names).not.toContain("..");
      expect(names).not.toContain(".");
      expect(names.every((name) => !name.includes("/") && name !== "")).toBe(true);
    }),
  );
});

function namesOrRefusal(path: string): readonly string[] {
  try {
    return namesInside(["/r"], path);
  } catch (error) {
    if (error instanceof ToolError) return [];
    throw error;
  }
}
