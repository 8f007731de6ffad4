// Decompresses a copy of an answer. What passes to the client stays as it is.
import {
  constants,
  brotliDecompressSync,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
  gunzipSync,
  inflateRawSync,
  inflateSync,
  zstdDecompressSync,
} from "node:zlib";
import type { Transform } from "node:stream";

/** Decompresses a whole body. Null for an unknown coding, or for bytes that do not follow it. */
export function decodeWhole(
  encoding: string | undefined,
  bytes: Buffer,
  bytesMax: number,
): Buffer | null {
  const names = codingsIn(encoding);
  const options = { maxOutputLength: bytesMax };
  try {
    switch (names.join()) {
      case "gzip":
      case "x-gzip":
        return gunzipSync(bytes, options);
      case "deflate":
        return hasZlibHeader(bytes[0])
          ? inflateSync(bytes, options)
          : inflateRawSync(bytes, options);
      case "br":
        return brotliDecompressSync(bytes, options);
      case "zstd":
        return zstdDecompressSync(bytes, options);
      default:
        return null;
    }
  } catch {
    return null;
  }
}

export function isCoded(encoding: string | undefined): boolean {
  return codingsIn(encoding).length > 0;
}

function codingsIn(encoding: string | undefined): readonly string[] {
  return (encoding ?? "")
    .split(",")
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== "" && name !== "identity");
}

/** Some programs leave out the header that the standard asks for. */
function hasZlibHeader(first: number | undefined): boolean {
  return ((first ?? 0) & 0x0f) === 8;
}

export interface ContentDecoder {
  feed(bytes: Uint8Array): void;
  /** Calls back once, after the last bytes. */
  end(done: (problem: string | null) => void): void;
}

/** Gives the decoded bytes to `onBytes`, at most `bytesMax` of them. Null for an unknown coding. */
export function openContentDecoder(
  encoding: string | undefined,
  bytesMax: number,
  onBytes: (bytes: Uint8Array) => void,
): ContentDecoder | null {
  const names = codingsIn(encoding);
  if (names.length === 0) return { feed: onBytes, end: (done) => done(null) };
  // Several codings are applied in turn; real servers use one.
  const open = names.length === 1 ? decoders.get(names[0] ?? "") : undefined;
  return open === undefined ? null : decodeWith(open, bytesMax, onBytes);
}

type OpenDecoder = (first: number) => Transform;

// A cut stream still gives what had arrived.
const zlib = { finishFlush: constants.Z_SYNC_FLUSH };
const brotli = { finishFlush: constants.BROTLI_OPERATION_FLUSH };
const zstd = { finishFlush: constants.ZSTD_e_flush };

const decoders: ReadonlyMap<string, OpenDecoder> = new Map<string, OpenDecoder>([
  ["gzip", () => createGunzip(zlib)],
  ["x-gzip", () => createGunzip(zlib)],
  ["deflate", (first) => (hasZlibHeader(first) ? createInflate(zlib) : createInflateRaw(zlib))],
  ["br", () => createBrotliDecompress(brotli)],
  ["zstd", () => createZstdDecompress(zstd)],
]);

function decodeWith(
  open: OpenDecoder,
  bytesMax: number,
  onBytes: (bytes: Uint8Array) => void,
): ContentDecoder {
  let decoder: Transform | null = null;
  let problem: string | null = null;
  let isOver = false;
  let given = 0;
  let finish: (() => void) | null = null;
  const stop = (why: string | null): void => {
    if (isOver) return;
    isOver = true;
    problem = why;
    decoder?.destroy();
    finish?.();
  };
  const start = (first: number): Transform => {
    const opened = open(first);
    opened.on("data", (bytes: Uint8Array) => {
      if (isOver) return;
      given += bytes.byteLength;
      if (given > bytesMax)
        return stop(`the answer is longer than ${bytesMax} bytes when unpacked`);
      try {
        onBytes(bytes);
      } catch (error) {
        // No caller could catch a throw here, so it ends the reading.
        stop(`the unpacked answer could not be read: ${String(error)}`);
      }
    });
    opened.on("error", () => stop("the compressed answer could not be unpacked"));
    opened.on("end", () => stop(null));
    return opened;
  };
  return {
    feed: (bytes) => {
      if (isOver || bytes.byteLength === 0) return;
      decoder ??= start(bytes[0] ?? 0);
      decoder.write(bytes);
    },
    end: (done) => {
      finish = () => done(problem);
      if (isOver || decoder === null) return done(problem);
      decoder.end();
    },
  };
}
