// list and glob: which files exist.
import { ToolError, type ToolInput } from "../../../core/tools/tool.ts";
import type { ScopedEntry, ScopedFiles } from "../../files/guard/scoped-files.ts";
import { toObjectDefinition, pathOf, type ScopedTool } from "../scoped-tool.ts";
import { showPath } from "./show-path.ts";
import { describeNotes, foldersToSkip, openNotes, requireGlob, walkFiles } from "./walk-files.ts";

const entriesShown = 1000;
const entriesMax = 200_000;

export function listTools(workspace: ScopedFiles): readonly ScopedTool[] {
  return [listTool(workspace), globTool(workspace)];
}

const common = {
  needs: ["files.read"],
  sideEffects: "read",
  requiresWorkspace: true,
  pathsOf: pathOf,
} as const;

const folder = {
  type: "string",
  minLength: 1,
  description: "A folder relative to the workspace; the workspace itself where it is missing.",
} as const;

function listTool(workspace: ScopedFiles): ScopedTool {
  return {
    ...common,
    definition: toObjectDefinition(
      "list",
      "Lists a folder of the workspace: its files with their sizes, and its folders with a slash.",
      { path: folder },
      [],
    ),
    run: async (input) => {
      const path = folderOf(input);
      const entries = await requireFolder(workspace, path);
      const shown = entries.slice(0, entriesShown).map(describeEntry);
      const rest = entries.length - shown.length;
      const more = rest === 0 ? [] : [`[${rest} more entries; use glob]`];
      const name = workspace.nameOf(path);
      return {
        text:
          entries.length === 0 ? `[${showPath(name)} is empty]` : [...shown, ...more].join("\n"),
      };
    },
  };
}

function globTool(workspace: ScopedFiles): ScopedTool {
  return {
    ...common,
    definition: toObjectDefinition(
      "glob",
      "Finds files of the workspace by their path: src/**/*.ts, *.{json,yaml}, test/[a-m]*. One star stays within a folder, two go into all folders.",
      { pattern: { type: "string", minLength: 1 }, path: folder },
      ["pattern"],
    ),
    run: async (input, { signal }) => {
      const pattern = String(input["pattern"]);
      const path = folderOf(input);
      const glob = requireGlob(pattern, false);
      const foldersSkipped = foldersToSkip(pattern, path);
      await requireFolder(workspace, path);
      const notes = openNotes();
      const found: string[] = [];
      let count = 0;
      const walk = { folder: path, glob, foldersSkipped, entriesMax, signal };
      for await (const file of walkFiles(workspace, walk, notes)) {
        count += 1;
        if (count <= entriesShown) found.push(showPath(file.path));
      }
      const rest = count - found.length;
      const remarks = [...(rest === 0 ? [] : [`${rest} more files`]), ...describeNotes(notes)];
      const closing = remarks.length === 0 ? [] : [`[${remarks.join("; ")}]`];
      return { text: [...(count === 0 ? ["No file matches."] : found), ...closing].join("\n") };
    },
  };
}

function folderOf({ path }: ToolInput): string {
  return typeof path === "string" ? path : ".";
}

async function requireFolder(
  workspace: ScopedFiles,
  path: string,
): Promise<readonly ScopedEntry[]> {
  const there = await workspace.stat(path);
  if (there?.kind === "file") {
    throw new ToolError(
      "validation_error",
      `${showPath(workspace.nameOf(path))} is a file; read it`,
    );
  }
  return workspace.list(path);
}

function describeEntry({ name, kind, size }: ScopedEntry): string {
  const shown = showPath(name);
  switch (kind) {
    case "folder":
      return `${shown}/`;
    case "file":
      return `${shown} (${size} bytes)`;
    case "symlink":
      return `${shown} (symbolic link, not followed)`;
    case "other":
      return `${shown} (neither file nor folder)`;
  }
}
