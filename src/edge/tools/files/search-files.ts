// Sends files to the search thread: small ones together, large ones piece by piece.
import { ToolError } from "../../../core/tools/tool.ts";
import { isRefusal } from "../../files/guard/scoped-failure.ts";
import type { ScopedFiles } from "../../files/guard/scoped-files.ts";
import type { SearchThread } from "./search-thread.ts";
import { showPath } from "./show-path.ts";
import type { FoundFile } from "./walk-files.ts";

export interface SearchOfFiles {
  readonly workspace: ScopedFiles;
  readonly thread: SearchThread;
  readonly linesMax: number;
  readonly limits: { readonly pieceBytes: number; readonly lineBytesMax: number };
}

export interface Findings {
  /** As path:line:text. One more than requested if there are more. */
  readonly lines: string[];
  /** Text files searched to their end. */
  fileCount: number;
  /** Files that are not text, or not to their end. */
  binaryCount: number;
  longLineCount: number;
  unreadableCount: number;
}

/** Sent to the thread together, so that small files do not cost a message each. */
const batchBytes = 1_000_000;
const batchFiles = 100;

export async function searchFiles(
  search: SearchOfFiles,
  files: AsyncIterable<FoundFile> | Iterable<FoundFile>,
): Promise<Findings> {
  const { linesMax } = search;
  const counts = { fileCount: 0, binaryCount: 0, longLineCount: 0, unreadableCount: 0 };
  const findings: Findings = { lines: [], ...counts };
  let batch: SmallFile[] = [];
  let size = 0;
  const flush = async (): Promise<void> => {
    const some = batch;
    batch = [];
    size = 0;
    await searchBatch(search, some, findings);
  };
  for await (const { path, size: expected } of files) {
    const isLarge = expected > search.limits.pieceBytes;
    const bytes = isLarge ? "large" : await readSmall(search, path, findings);
    if (bytes === "large") {
      // Results stay in order: everything before it is searched first.
      await flush();
      if (findings.lines.length <= linesMax) await searchLarge(search, path, findings);
    } else if (bytes !== null) {
      batch.push({ path, bytes });
      size += bytes.length;
      if (size >= batchBytes || batch.length >= batchFiles) await flush();
    }
    if (findings.lines.length > linesMax) return findings;
  }
  await flush();
  return findings;
}

interface SmallFile {
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** A file may vanish or change between the walk and the reading. */
async function readSmall(
  { workspace, limits }: SearchOfFiles,
  path: string,
  findings: Findings,
): Promise<Uint8Array | "large" | null> {
  try {
    const file = await workspace.readFile(path, { bytesMax: limits.pieceBytes });
    if (file !== null) return file.size > file.bytes.length ? "large" : file.bytes;
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
  }
  findings.unreadableCount += 1;
  return null;
}

async function searchBatch(
  { thread, linesMax }: SearchOfFiles,
  batch: readonly SmallFile[],
  findings: Findings,
): Promise<void> {
  const texts = batch.map(({ bytes }) => bytes);
  const found = await thread.search(texts, linesMax + 1 - findings.lines.length);
  for (const [index, { path }] of batch.entries()) {
    const lines = found[index];
    if (lines == null) findings.binaryCount += 1;
    else {
      findings.fileCount += 1;
      const shown = showPath(path);
      findings.lines.push(...lines.map(({ number, text }) => `${shown}:${number}:${text}`));
    }
  }
}

/** Each piece is searched up to its last line end. The rest joins the next piece. */
async function searchLarge(
  { workspace, thread, linesMax, limits }: SearchOfFiles,
  path: string,
  findings: Findings,
): Promise<void> {
  const shown = showPath(path);
  let rest = Buffer.alloc(0);
  const place: PlaceInFile = { linesBefore: 0, end: "of the file" };
  const searchLines = async (bytes: Buffer): Promise<boolean> => {
    const [lines] = await thread.search([bytes], linesMax + 1 - findings.lines.length);
    if (lines == null) place.end = "of the text";
    else {
      const { linesBefore } = place;
      findings.lines.push(
        ...lines.map(({ number, text }) => `${shown}:${linesBefore + number}:${text}`),
      );
      place.linesBefore += countLineEnds(bytes);
      if (findings.lines.length > linesMax) place.end = "of what was asked for";
    }
    return place.end === "of the file";
  };
  const take = async (piece: Uint8Array): Promise<boolean> => {
    const all = Buffer.concat([rest, piece]);
    const length = all.lastIndexOf(10) + 1;
    rest = all.subarray(length);
    if (length > 0 && !(await searchLines(all.subarray(0, length)))) return false;
    if (rest.length > limits.lineBytesMax) place.end = "before a long line";
    return place.end === "of the file";
  };
  try {
    await workspace.readPieces(path, { bytesMax: limits.pieceBytes, take });
    if (place.end === "of the file" && rest.length > 0) await searchLines(rest);
  } catch (error) {
    // The thread's own errors end the search.
    if (!isRefusal(error)) throw error;
    findings.unreadableCount += 1;
    return;
  }
  if (place.end === "of the text") findings.binaryCount += 1;
  else if (place.end === "before a long line") findings.longLineCount += 1;
  else findings.fileCount += 1;
}

interface PlaceInFile {
  linesBefore: number;
  /** Where the search ended. */
  end: "of the file" | "of the text" | "before a long line" | "of what was asked for";
}

function countLineEnds(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) count += 1;
  return count;
}
