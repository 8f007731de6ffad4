// Stores requests and answers for `strata replay`: JSON lines in private files of a folder with a size limit.
import { Buffer } from "node:buffer";
import {
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { isSecretName } from "../../core/config/mask-secrets.ts";
import { withoutKeys } from "../forward/describe-request.ts";
import { openContentDecoder } from "../observe/decode-content.ts";
import { createRedactBody, type RedactBody } from "./redact-body.ts";

export interface LogOptions {
  readonly folder: string;
  /** For all its files together; the oldest are removed. */
  readonly folderBytesMax: number;
}

export interface LogEntry {
  readonly startMs: number;
  readonly endMs: number;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: readonly Uint8Array[];
  /** Null if no answer came. */
  readonly status: number | null;
  readonly answerHeaders: Readonly<Record<string, string>>;
  readonly answer: readonly Uint8Array[];
}

export interface LogFolder {
  write(entry: LogEntry): Promise<void>;
  close(): void;
}

/** A file of at most this size, or a tenth of the folder's limit. */
const fileBytesMax = 64 * 1024 * 1024;

/** Creates the folder and its files when they are needed. */
export function createLogFolder({ folder, folderBytesMax }: LogOptions): LogFolder {
  const redact = createRedactBody();
  const fileMax = Math.min(fileBytesMax, Math.ceil(folderBytesMax / 10));
  let file: { readonly fd: number; readonly name: string; bytes: number } | null = null;
  let fileCount = 0;
  const close = (): void => {
    if (file !== null) closeSync(file.fd);
    file = null;
  };
  const openNext = (startMs: number): NonNullable<typeof file> => {
    fileCount += 1;
    const name = nameOf(startMs, fileCount);
    const path = join(folder, name);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const fd = openSync(path, "ax", 0o600);
    // The process's umask may allow more than it should.
    chmodSync(path, 0o600);
    return { fd, name, bytes: 0 };
  };
  return {
    write: async (entry) => {
      const line = Buffer.from(`${JSON.stringify(await toLine(entry, redact))}\n`);
      if (file !== null && file.bytes + line.byteLength > fileMax) close();
      file ??= openNext(entry.startMs);
      makeRoom(folder, folderBytesMax - line.byteLength, file.name);
      try {
        writeWhole(file.fd, line);
      } catch (error) {
        // So that the next line does not continue half of this one.
        close();
        throw error;
      }
      file.bytes += line.byteLength;
    },
    close,
  };
}

function nameOf(startMs: number, count: number): string {
  const time = new Date(startMs).toISOString().replaceAll(":", "-");
  return `requests-${time}-${process.pid}-${String(count).padStart(4, "0")}.jsonl`;
}

const ours = /^requests-\d{4}-\d\d-\d\dT[\d.-]+Z-\d+-\d{4,}\.jsonl$/;

/** Removes the oldest files until there is room. Files that are not ours stay, and so does the one in use. */
function makeRoom(folder: string, bytesMax: number, inUse: string): void {
  const files = readdirSync(folder)
    .filter((name) => ours.test(name))
    .toSorted()
    .map((name) => ({ name, bytes: sizeOf(join(folder, name)) }));
  let total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  for (const { name, bytes } of files) {
    if (total <= bytesMax) return;
    if (name === inUse) continue;
    rmSync(join(folder, name), { force: true });
    total -= bytes;
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function writeWhole(fd: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.byteLength;) {
    at += writeSync(fd, bytes, at, bytes.byteLength - at);
  }
}

async function toLine(entry: LogEntry, redact: RedactBody): Promise<object> {
  const { startMs, endMs, method, path, headers, body, status } = entry;
  const request = {
    method,
    url: withoutKeys(path),
    headers: withoutSecrets(headers),
    ...(await bodyOf(body, headers, redact)),
  };
  const answer =
    status === null
      ? null
      : {
          status,
          headers: withoutSecrets(entry.answerHeaders),
          ...(await bodyOf(entry.answer, entry.answerHeaders, redact)),
        };
  const times = { time: new Date(startMs).toISOString(), endedAt: new Date(endMs).toISOString() };
  return { ...times, request, ...(answer === null ? {} : { response: answer }) };
}

function withoutSecrets(headers: LogEntry["headers"]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !/cookie/i.test(name) && !isSecretName(name)),
  );
}

const decodedBytesMax = 64 * 1024 * 1024;

/** Text compresses to about a tenth. A body that unpacks to far more would fill the folder and hold up the ledger, so it is cut, and the line says so. */
function unpackedBytesMax(packedBytes: number): number {
  return Math.min(decodedBytesMax, Math.max(1024 * 1024, packedBytes * 100));
}

/** As text; other bytes are kept as base64. */
async function bodyOf(
  pieces: readonly Uint8Array[],
  headers: LogEntry["headers"],
  redact: RedactBody,
): Promise<object> {
  const decoded: Uint8Array[] = [];
  const whole = Buffer.concat(pieces);
  const bytesMax = unpackedBytesMax(whole.byteLength);
  const decoder = openContentDecoder(headers["content-encoding"], bytesMax, (bytes) => {
    decoded.push(bytes);
  });
  if (decoder === null) return { body_base64: whole.toString("base64") };
  for (const piece of pieces) decoder.feed(piece);
  const problem = await new Promise<string | null>((resolve) => {
    decoder.end(resolve);
  });
  const bytes = Buffer.concat(decoded);
  const cut = problem === null ? {} : { body_problem: problem };
  const text = bytes.toString("utf8");
  const isText = Buffer.byteLength(text) === bytes.byteLength && !text.includes("\uFFFD");
  if (!isText) return { ...cut, body_base64: bytes.toString("base64") };
  return { ...cut, body: redact(text) };
}
