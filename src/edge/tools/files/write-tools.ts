// write and edit: whole files and exact replacements. Each change is on disk before it is reported.
import { ToolError, type ToolInput, type ToolOutput } from "../../../core/tools/tool.ts";
import type { ScopedFiles } from "../../files/guard/scoped-files.ts";
import { isSameName } from "../../files/guard/scoped-path.ts";
import { isStateFolder } from "../../files/workspace-folders.ts";
import { toObjectDefinition, pathOf, textOf, type ScopedTool } from "../scoped-tool.ts";
import { showPath } from "./show-path.ts";
import { fileBytesMax, readText } from "./text-file.ts";

export function writeTools(workspace: ScopedFiles): readonly ScopedTool[] {
  const queue = createFileQueue();
  return [writeTool(workspace, queue), editTool(workspace, queue)];
}

const common = {
  needs: ["files.write"],
  sideEffects: "write",
  requiresWorkspace: true,
  pathsOf: pathOf,
} as const;

function writeTool(workspace: ScopedFiles, queue: FileQueue): ScopedTool {
  return {
    ...common,
    definition: toObjectDefinition(
      "write",
      "Writes a whole file of the workspace, new or in place of what is there. Folders are made as needed. Use edit to change a part.",
      {
        path: { type: "string", minLength: 1, description: "Relative to the workspace." },
        content: { type: "string", description: "The whole text of the file." },
      },
      ["path", "content"],
    ),
    run: (input) => {
      const { path, name } = toTarget(workspace, input);
      const content = textOf(input, "content");
      return queue.run(name, async () => {
        const before = await workspace.stat(path);
        await write(workspace, path, content);
        const what = before === null ? "Made" : `Replaced ${before.size} bytes of`;
        return done(name, `${what} ${showPath(name)}: ${Buffer.byteLength(content)} bytes.`);
      });
    },
  };
}

function editTool(workspace: ScopedFiles, queue: FileQueue): ScopedTool {
  return {
    ...common,
    definition: toObjectDefinition(
      "edit",
      "Replaces an exact text in a file of the workspace. The text must occur exactly once, unless all occurrences are to be replaced.",
      {
        path: { type: "string", minLength: 1, description: "Relative to the workspace." },
        old: { type: "string", minLength: 1, description: "As in the file, white space too." },
        new: { type: "string", description: "What stands there afterwards." },
        all: { type: "boolean", description: "Replace every occurrence." },
      },
      ["path", "old", "new"],
    ),
    run: (input) => {
      const { path, name } = toTarget(workspace, input);
      return queue.run(name, async () => {
        const before = await readText(workspace, path);
        const { text, count } = replaceIn(before, input, showPath(name));
        await write(workspace, path, text, async () => {
          if ((await readText(workspace, path)) === before) return;
          throw new ToolError(
            "execution_error",
            `${showPath(name)} was changed meanwhile; read it again`,
          );
        });
        return done(
          name,
          `Replaced ${count === 1 ? "1 occurrence" : `${count} occurrences`} in ${showPath(name)}.`,
        );
      });
    },
  };
}

function toTarget(
  workspace: ScopedFiles,
  input: ToolInput,
): { readonly path: string; readonly name: string } {
  const path = textOf(input, "path");
  const name = workspace.nameOf(path);
  const folder = name.split("/").find(isProtected);
  if (folder === undefined) return { path, name };
  throw new ToolError(
    "permission_denied",
    `${showPath(name)} is not for this tool: nothing in ${folder} is`,
  );
}

/** What git executes, and what has its own tools. */
function isProtected(name: string): boolean {
  return isSameName(name, ".git") || isStateFolder(name);
}

async function write(
  workspace: ScopedFiles,
  path: string,
  content: string,
  beforeRename: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  requireSize(Buffer.byteLength(content));
  await workspace.writeFile(path, content, { mode: 0o644, beforeRename });
}

function requireSize(bytes: number): void {
  if (bytes <= fileBytesMax) return;
  throw new ToolError("validation_error", `${bytes} bytes; at most ${fileBytesMax} are written`);
}

function done(name: string, text: string): ToolOutput {
  return { text, filesModified: [name] };
}

function replaceIn(
  text: string,
  input: ToolInput,
  name: string,
): { readonly text: string; readonly count: number } {
  const [old, replacement] = [textOf(input, "old"), textOf(input, "new")];
  if (old === replacement) throw new ToolError("validation_error", "old and new are the same");
  const count = countIn(text, old);
  if (count === 0) {
    throw new ToolError("validation_error", `old does not occur in ${name}${hintFor(text, old)}`);
  }
  if (count > 1 && input["all"] !== true) {
    throw new ToolError(
      "validation_error",
      `old occurs ${count} times in ${name}: take more of the text around it, or set all`,
    );
  }
  // Checked before: a million long replacements would not fit into memory.
  const growth = Buffer.byteLength(replacement) - Buffer.byteLength(old);
  requireSize(Buffer.byteLength(text) + count * growth);
  return { text: text.replaceAll(old, () => replacement), count };
}

function countIn(text: string, old: string): number {
  let count = 0;
  for (let at = text.indexOf(old); at !== -1; at = text.indexOf(old, at + old.length)) count += 1;
  return count;
}

/** The usual reason, if it is recognizable. */
function hintFor(text: string, old: string): string {
  if (withLf(text).includes(withLf(old))) return ", but does with other line ends (CRLF)";
  return withOneSpace(text).includes(withOneSpace(old).trim())
    ? ", but does with other white space"
    : "";
}

function withLf(text: string): string {
  return text.replaceAll("\r\n", "\n");
}

function withOneSpace(text: string): string {
  return text.replaceAll(/\s+/g, " ");
}

/** Serializes changes of one file: the second edit sees what the first one wrote. */
interface FileQueue {
  run<T>(name: string, work: () => Promise<T>): Promise<T>;
}

function createFileQueue(): FileQueue {
  const last = new Map<string, Promise<unknown>>();
  return {
    run: async (name, work) => {
      const before = last.get(name);
      const current = (async () => {
        // The caller of the one before gets its error.
        await before?.catch(() => {});
        return work();
      })();
      last.set(name, current);
      try {
        return await current;
      } finally {
        if (last.get(name) === current) last.delete(name);
      }
    },
  };
}
