// For `--guard naive`: a guard with the usual mistake of checking a resolved path and then opening it by name.
import { mkdir, readdir, readFile, realpath, rm, stat, writeFile } from "node:fs/promises";
import { dirname, relative, resolve } from "node:path";
import { ToolError } from "../../src/core/tools/tool.ts";
import type { ScopedFiles } from "../../src/edge/files/guard/scoped-files.ts";

export function openNaively(root: string): ScopedFiles {
  const inside = async (path: string): Promise<string> => {
    const place = resolve(root, path);
    const real = await realpath(place).catch(async () =>
      realpath(dirname(place)).catch(() => place),
    );
    if (real !== root && !real.startsWith(`${root}/`)) refuse();
    // The race: the path can change between the check and the use.
    return place;
  };
  const naive: ScopedFiles = {
    root,
    lookup: "by path",
    nameOf: (path) => relative(root, resolve(root, path)) || ".",
    readFile: async (path, { bytesMax }) => {
      const place = await inside(path);
      if (!(await stat(place)).isFile()) refuse();
      const bytes = await readFile(place);
      return { bytes: bytes.subarray(0, bytesMax), size: bytes.length };
    },
    writeFile: async (path, content) => {
      const place = await inside(path);
      // Opening a pipe would block.
      if ((await stat(place).catch(() => null))?.isFIFO() === true) refuse();
      await mkdir(dirname(place), { recursive: true });
      await writeFile(place, content);
    },
    createFile: async (path, content) => {
      await writeFile(await inside(path), content, { flag: "wx" });
      return true;
    },
    list: async (path) => {
      const names = await readdir(await inside(path));
      return names.map((name) => ({ name, kind: "file", size: 0 }));
    },
    stat: async (path) => {
      const stats = await stat(await inside(path)).catch(() => null);
      if (stats === null) return null;
      const { size, mtimeMs } = stats;
      return { kind: stats.isFile() ? "file" : "folder", size, mtimeMs };
    },
    remove: async (path) => rm(await inside(path)),
    readPieces: async (path, { take }) => take(await readFile(await inside(path))),
  };
  return {
    ...naive,
    readFile: (path, options) => withToolErrors(naive.readFile(path, options)),
    writeFile: (path, content) => withToolErrors(naive.writeFile(path, content)),
    createFile: (path, content) => withToolErrors(naive.createFile(path, content)),
    list: (path) => withToolErrors(naive.list(path)),
    stat: (path) => withToolErrors(naive.stat(path)),
    remove: (path) => withToolErrors(naive.remove(path)),
    readPieces: (path, options) => withToolErrors(naive.readPieces(path, options)),
  };
}

/** Turns errors into tool errors, so that only real escapes count. */
async function withToolErrors<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof ToolError ? error : new ToolError("execution_error", "refused");
  }
}

function refuse(): never {
  throw new ToolError("permission_denied", "outside");
}
