// grep: matching lines over the files of the workspace.
import { matchesGlob, type Glob } from "../../../core/tools/glob.ts";
import { ToolError, type ToolInput, type ToolOutput } from "../../../core/tools/tool.ts";
import type { ScopedFiles } from "../../files/guard/scoped-files.ts";
import { toObjectDefinition, pathOf, type ScopedTool } from "../scoped-tool.ts";
import { searchFiles, type Findings } from "./search-files.ts";
import { createSearchThreads, type SearchThreads } from "./search-thread.ts";
import { showPath } from "./show-path.ts";
import {
  describeNotes,
  foldersToSkip,
  openNotes,
  requireGlob,
  walkFiles,
  type FoundFile,
} from "./walk-files.ts";

export interface GrepLimits {
  /** For reading and searching together. */
  readonly timeoutMs: number;
  /** Larger files are searched in pieces of this size, whatever their length. */
  readonly pieceBytes: number;
  /** The longest line in such a file. After a longer one, the rest is not searched. */
  readonly lineBytesMax: number;
  readonly entriesMax: number;
}

const grepLimits: GrepLimits = {
  timeoutMs: 20_000,
  pieceBytes: 4_000_000,
  lineBytesMax: 16_000_000,
  entriesMax: 200_000,
};

const linesDefault = 200;

export function grepTool(workspace: ScopedFiles, limits: Partial<GrepLimits> = {}): ScopedTool {
  const threads = createSearchThreads();
  const all = { ...grepLimits, ...limits };
  return {
    definition: toObjectDefinition(
      "grep",
      "Finds lines in the text files of the workspace by a regular expression (JavaScript), line by line. Results are path:line:text.",
      {
        pattern: { type: "string", minLength: 1, maxLength: 10_000 },
        literal: { type: "boolean", description: "The pattern is plain text." },
        ignore_case: { type: "boolean" },
        path: { type: "string", minLength: 1, description: "A folder or a file to search." },
        glob: {
          type: "string",
          minLength: 1,
          description: "Which files, as *.ts or src/**; without a slash at any depth.",
        },
        limit: {
          type: "integer",
          minimum: 1,
          maximum: 1000,
          description: `How many lines; ${linesDefault}.`,
        },
      },
      ["pattern"],
    ),
    needs: ["files.read"],
    sideEffects: "read",
    requiresWorkspace: true,
    pathsOf: pathOf,
    run: (input, { signal }) => grep({ workspace, threads, limits: all, input, signal }),
  };
}

interface Grep {
  readonly workspace: ScopedFiles;
  readonly threads: SearchThreads;
  readonly limits: GrepLimits;
  readonly input: ToolInput;
  readonly signal: AbortSignal;
}

async function grep({ workspace, threads, limits, input, signal }: Grep): Promise<ToolOutput> {
  const path = typeof input["path"] === "string" ? input["path"] : ".";
  const pattern = String(input["pattern"]);
  const globText = typeof input["glob"] === "string" ? input["glob"] : "**";
  const linesMax = typeof input["limit"] === "number" ? input["limit"] : linesDefault;
  const glob = requireGlob(globText, true);
  const there = await workspace.stat(path);
  if (there === null) {
    throw new ToolError("not_found", `there is no ${showPath(workspace.nameOf(path))}`);
  }
  const notes = openNotes();
  const { entriesMax, timeoutMs } = limits;
  const foldersSkipped = foldersToSkip(globText, path);
  const walk = { folder: path, glob, foldersSkipped, entriesMax, signal };
  const files =
    there.kind === "folder"
      ? walkFiles(workspace, walk, notes)
      : [requireMatch(glob, globText, workspace.nameOf(path), there.size)];
  const thread = await threads.open({
    source: input["literal"] === true ? toLiteral(pattern) : pattern,
    flags: input["ignore_case"] === true ? "i" : "",
    timeoutMs,
    signal,
  });
  try {
    const findings = await searchFiles({ workspace, thread, linesMax, limits }, files);
    return { text: render(findings, linesMax, describeNotes(notes)) };
  } finally {
    thread.close();
  }
}

/** For a file named by path. A glob that excludes it is a mistake. */
function requireMatch(glob: Glob, globText: string, path: string, size: number): FoundFile {
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (matchesGlob(glob, path) || matchesGlob(glob, name)) return { path, size };
  throw new ToolError(
    "validation_error",
    `${showPath(path)} is a file and does not match the glob ${JSON.stringify(globText)}: leave one of them out`,
  );
}

function toLiteral(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}

function render(findings: Findings, linesMax: number, notes: readonly string[]): string {
  const { lines, fileCount, binaryCount, longLineCount, unreadableCount } = findings;
  const missed = [
    ...(longLineCount === 0
      ? []
      : [`${longLineCount} files with too long a line, from that line on`]),
    ...(unreadableCount === 0 ? [] : [`${unreadableCount} files that could not be read`]),
  ];
  const remarks = [
    ...(lines.length > linesMax ? [`more than ${linesMax} lines match: be more exact`] : []),
    ...(binaryCount === 0 ? [] : [`${binaryCount} files are not text`]),
    ...notes,
  ];
  const opening = missed.length === 0 ? [] : [`[not searched: ${missed.join("; ")}]`];
  const closing = remarks.length === 0 ? [] : [`[${remarks.join("; ")}]`];
  const none = `No line matches in ${fileCount} files.`;
  const shown = lines.length === 0 ? [none] : lines.slice(0, linesMax);
  return [...opening, ...shown, ...closing].join("\n");
}
