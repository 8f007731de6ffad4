// Reads files of any known format into a stream of recorded sessions and requests.
import { messageOf } from "../../core/strata-error.ts";
import type { TextCounter } from "../../core/tokens/o200k/counter.ts";
import type { Fields } from "../../core/message/fields.ts";
import { isObject } from "../../core/message/fields.ts";
import type { Catalogue } from "../../core/models/catalogue.ts";
import type { Protocol } from "../../core/wire/protocol.ts";
import type { Recorded } from "../recording.ts";
import { createDrafting } from "./block-draft.ts";
import { detectFormat } from "./detect-format.ts";
import { failureText, findFiles, type FoundFile } from "./find-files.ts";
import { skip, type LineReader, type Run, type Source } from "./line-reader.ts";
import { readSession } from "./opencode/opencode-storage.ts";
import { refuseImpossible } from "./plausible-request.ts";
import { parseLine, type Parsed } from "./parse-line.ts";
import {
  createHeldDocument,
  opensDocument,
  readLines,
  type HeldDocument,
  type Line,
} from "./read-lines.ts";
import { createRun } from "./run.ts";

export interface ReadingOptions {
  /** Counts o200k tokens; tokens of other models are estimated from them. */
  readonly counter: TextCounter;
  /** Whether blocks carry an excerpt of their content. */
  readonly excerpts?: boolean;
  /** The protocols of request logs; all by default. */
  readonly protocols?: readonly Protocol[];
  /** The models of Strata's own exports; the built-in ones by default. */
  readonly catalogue?: Catalogue;
  readonly onProgress?: (bytesRead: number, bytesTotal: number) => void;
}

/** Reads files and folders recursively. Unusable files and lines are reported in `skipped` values. */
export async function* readRecordings(
  paths: readonly string[],
  { onProgress, ...options }: ReadingOptions,
): AsyncGenerator<Recorded> {
  const found = await findFiles(paths);
  const bytesTotal = found.reduce((sum, each) => sum + (each.type === "file" ? each.bytes : 0), 0);
  const read = createRecordingReader(options, createRun());
  let bytesRead = 0;
  for (const each of found) {
    yield* read(each, (bytes) => onProgress?.((bytesRead += bytes), bytesTotal));
  }
}

/** Reads one file; `onBytes` gets the size of each part that was read, and of what was left unread at the end. */
export type RecordingReader = (
  found: FoundFile,
  onBytes: (bytes: number) => void,
) => AsyncGenerator<Recorded>;

export function createRecordingReader(
  { counter, excerpts = false, protocols, catalogue }: Omit<ReadingOptions, "onProgress">,
  run: Run,
): RecordingReader {
  const drafting = createDrafting(counter, excerpts);
  return async function* read(found, onBytes) {
    if (found.type === "unusable") return yield skip(found.path, null, found.reason);
    const source = {
      file: found.path,
      drafting,
      run,
      ...(protocols === undefined ? {} : { protocols }),
      ...(catalogue === undefined ? {} : { catalogue }),
    };
    let bytesLeft = found.bytes;
    yield* readFile(found, source, (bytes) => {
      bytesLeft -= bytes;
      onBytes(bytes);
    });
    onBytes(bytesLeft);
  };
}

async function* readFile(
  { path, partsIn }: Extract<FoundFile, { readonly type: "file" }>,
  source: Source,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Recorded> {
  const reading = createFileReading(source);
  try {
    if (partsIn !== undefined) {
      const { line, skipped } = await readSession({ path, partsIn });
      yield* skipped;
      yield* reading.take([{ number: 1, fields: line, reason: "" }]);
      return yield* reading.end();
    }
    let document: HeldDocument | null = null;
    for await (const line of readLines(path, onBytes)) {
      if (line.number === 1 && opensDocument(line)) document = createHeldDocument();
      if (document !== null) {
        document.add(line);
        continue;
      }
      if (line.number === 1 && isExport(parseLine(line)[0]?.fields)) {
        // An export is read by way of a ledger, which other recordings do not need.
        const { readExport } = await import("../ledger/read-export.ts");
        return yield* readExport(path, source);
      }
      yield* reading.read(line);
      if (reading.isHopeless()) break;
    }
    if (document !== null) {
      const parsed = parseLine(document.close());
      const [first] = parsed;
      if (first?.fields === undefined) return yield skip(path, null, first?.reason ?? "");
      yield* reading.take(parsed);
    }
  } catch (cause) {
    yield skip(path, null, failureText(cause));
  }
  yield* reading.end();
}

/** The first line of an exported session of Strata. */
function isExport(line: Fields | undefined): boolean {
  return line !== undefined && isObject(line["strata"]) && "format" in line["strata"];
}

/** A file of a known format with more unusable lines, and more than ten for each usable one, is not read further. */
const unusableLinesMax = 10_000;

/** A file without a known format in this many lines or characters is skipped. */
const undetectedLinesMax = 100;
const undetectedCharactersMax = 16_000_000;

interface FileReading {
  read(line: Line): readonly Recorded[];
  take(parsed: readonly Parsed[]): readonly Recorded[];
  end(): readonly Recorded[];
  isHopeless(): boolean;
}

function createFileReading(source: Source): FileReading {
  const { file } = source;
  let reader: LineReader | undefined;
  let hasRequest = false;
  const lines = { usable: 0, unusable: 0 };
  let isEmpty = true;
  let characters = 0;
  /** Lines read before the format is known. */
  let waiting: Parsed[] = [];

  const isGarbage = (): boolean =>
    lines.unusable > unusableLinesMax && lines.unusable > 10 * lines.usable;

  const pass = (parsed: Parsed): readonly Recorded[] => {
    const recorded = readParsed(parsed, reader, file);
    if (parsed.fields === undefined) lines.unusable += 1;
    else lines.usable += 1;
    hasRequest ||= recorded.some(({ type }) => type === "request");
    return recorded;
  };

  const take = (parsed: Parsed): readonly Recorded[] => {
    if (reader !== undefined) return pass(parsed);
    waiting.push(parsed);
    reader = parsed.fields && detectFormat(parsed.fields, source.protocols)?.(source);
    if (reader === undefined) return [];
    const early = waiting;
    waiting = [];
    return early.flatMap(pass);
  };

  const takeAll = (parsed: readonly Parsed[]): readonly Recorded[] => {
    isEmpty = false;
    return parsed.flatMap(take);
  };

  return {
    read(line) {
      if (line.text?.trim() === "") return [];
      characters += line.text?.length ?? 0;
      return takeAll(parseLine(line));
    },
    take: takeAll,
    end() {
      if (isEmpty) return [skip(file, null, "it is empty")];
      if (reader === undefined) return [skip(file, null, "it is of no known format")];
      const last = guard(() => reader?.end() ?? [], file, null);
      hasRequest ||= last.some(({ type }) => type === "request");
      const given = isGarbage() ? [skip(file, null, "most of its lines cannot be used")] : [];
      const empty = hasRequest ? [] : [skip(file, null, "it holds no request")];
      return [...last, ...given, ...empty];
    },
    isHopeless: () =>
      reader === undefined
        ? waiting.length >= undetectedLinesMax || characters >= undetectedCharactersMax
        : isGarbage(),
  };
}

function readParsed(
  { number, fields, reason }: Parsed,
  reader: LineReader | undefined,
  file: string,
): readonly Recorded[] {
  if (fields === undefined) return [skip(file, number, reason)];
  return guard(() => reader?.read(fields, number) ?? [], file, number);
}

/** If a reader throws, one line is lost and not the file. What cannot be true is reported and left out. */
function guard(
  read: () => readonly Recorded[],
  file: string,
  line: number | null,
): readonly Recorded[] {
  try {
    return read().flatMap((recorded) =>
      recorded.type === "request" ? refuseImpossible(recorded, file, line) : [recorded],
    );
  } catch (cause) {
    const reason = messageOf(cause);
    return [skip(file, line, `it cannot be understood: ${reason}`)];
  }
}
