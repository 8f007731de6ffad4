// grep: lines that match, over the files of the workspace.
import { ToolError, type ToolInput, type ToolOutput } from "../../core/tools/tool.ts";
import type { ScopedFiles } from "../stores/scoped-files.ts";
import { defineTool, pathOf, type ScopedTool } from "./scoped-tool.ts";
import { createSearchThreads, type SearchThread, type SearchThreads } from "./search-thread.ts";
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
  readonly fileBytesMax: number;
  readonly entriesMax: number;
}

const grepLimits: GrepLimits = { timeoutMs: 20_000, fileBytesMax: 4_000_000, entriesMax: 200_000 };

const linesDefault = 200;

export function grepTool(workspace: ScopedFiles, limits: Partial<GrepLimits> = {}): ScopedTool {
  const threads = createSearchThreads();
  const all = { ...grepLimits, ...limits };
  return {
    definition: defineTool(
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
    throw new ToolError("not_found", `there is no ${workspace.nameOf(path)}`);
  }
  const notes = openNotes();
  const { entriesMax, timeoutMs } = limits;
  const foldersSkipped = foldersToSkip(globText, path);
  const walk = { folder: path, glob, foldersSkipped, entriesMax, signal };
  const files =
    there.kind === "folder"
      ? walkFiles(workspace, walk, notes)
      : [{ path: workspace.nameOf(path), size: there.size }];
  const thread = await threads.open({
    source: input["literal"] === true ? toLiteral(pattern) : pattern,
    flags: input["ignore_case"] === true ? "i" : "",
    timeoutMs,
    signal,
  });
  try {
    const findings = await searchFiles({ workspace, thread, files, linesMax, limits });
    return { text: render(findings, linesMax, describeNotes(notes)) };
  } finally {
    thread.close();
  }
}

function toLiteral(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}

interface Findings {
  readonly lines: string[];
  fileCount: number;
  /** Not text. */
  binaryCount: number;
  largeCount: number;
  unreadableCount: number;
}

/** Handed to the thread together, so that small files do not cost a message each. */
const batchBytes = 1_000_000;
const batchFiles = 100;

interface SearchOfFiles {
  readonly workspace: ScopedFiles;
  readonly thread: SearchThread;
  readonly files: AsyncIterable<FoundFile> | Iterable<FoundFile>;
  readonly linesMax: number;
  readonly limits: GrepLimits;
}

async function searchFiles(search: SearchOfFiles): Promise<Findings> {
  const { workspace, thread, files, linesMax, limits } = search;
  const findings: Findings = {
    lines: [],
    fileCount: 0,
    binaryCount: 0,
    largeCount: 0,
    unreadableCount: 0,
  };
  let batch: { readonly path: string; readonly bytes: Uint8Array }[] = [];
  let size = 0;
  // One more than asked for: then it is known that there are more.
  const isFull = (): boolean => findings.lines.length > linesMax;
  const flush = async (): Promise<void> => {
    const texts = batch.map(({ bytes }) => bytes);
    const found = await thread.search(texts, linesMax + 1 - findings.lines.length);
    for (const [index, { path }] of batch.entries()) {
      const lines = found[index];
      if (lines == null) findings.binaryCount += 1;
      else findings.lines.push(...lines.map(({ number, text }) => `${path}:${number}:${text}`));
    }
    findings.fileCount += batch.length;
    batch = [];
    size = 0;
  };
  for await (const file of files) {
    if (file.size > limits.fileBytesMax) {
      findings.largeCount += 1;
      continue;
    }
    const bytes = await readOrCount(workspace, file.path, limits.fileBytesMax, findings);
    if (bytes === null) continue;
    batch.push({ path: file.path, bytes });
    size += bytes.length;
    if (size >= batchBytes || batch.length >= batchFiles) await flush();
    if (isFull()) return findings;
  }
  await flush();
  return findings;
}

/** A file may go, or become something else, between the walk and the reading. */
async function readOrCount(
  workspace: ScopedFiles,
  path: string,
  bytesMax: number,
  findings: Findings,
): Promise<Uint8Array | null> {
  try {
    const file = await workspace.readFile(path, { bytesMax });
    if (file !== null) return file.bytes;
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
  }
  findings.unreadableCount += 1;
  return null;
}

function render(findings: Findings, linesMax: number, notes: readonly string[]): string {
  const { lines, fileCount, binaryCount, largeCount, unreadableCount } = findings;
  const said = [
    ...(lines.length > linesMax ? [`more than ${linesMax} lines match: be more exact`] : []),
    ...(binaryCount === 0 ? [] : [`${binaryCount} files are not text`]),
    ...(largeCount === 0 ? [] : [`${largeCount} files are too large`]),
    ...(unreadableCount === 0 ? [] : [`${unreadableCount} files could not be read`]),
    ...notes,
  ];
  const closing = said.length === 0 ? [] : [`[${said.join("; ")}]`];
  const none = `No line matches in ${fileCount} files.`;
  const shown = lines.length === 0 ? [none] : lines.slice(0, linesMax);
  return [...shown, ...closing].join("\n");
}
