// Writes frames of AWS event streams: lengths, headers and payload between two checksums, all numbers big-endian.
import { crc32 } from "node:zlib";

export const streamContentType = "application/vnd.amazon.eventstream";

/** An event of a stream, with a JSON payload. */
export function eventFrame(name: string, payload: string): Uint8Array {
  return frame(
    { ":event-type": name, ":content-type": "application/json", ":message-type": "event" },
    payload,
  );
}

/** An error within a stream. The type is the exception's name, beginning with a small letter. */
export function exceptionFrame(type: string, message: string): Uint8Array {
  return frame(
    {
      ":exception-type": `${type.charAt(0).toLowerCase()}${type.slice(1)}`,
      ":content-type": "application/json",
      ":message-type": "exception",
    },
    JSON.stringify({ message }),
  );
}

/** Two lengths and the checksum of them. */
const preludeBytes = 12;
const checksumBytes = 4;

function frame(headers: Readonly<Record<string, string>>, payloadText: string): Uint8Array {
  const head = Buffer.concat(
    Object.entries(headers).map(([name, text]) => headerBytes(name, text)),
  );
  const payload = Buffer.from(payloadText);
  const total = preludeBytes + head.length + payload.length + checksumBytes;
  const bytes = Buffer.alloc(total);
  bytes.writeUInt32BE(total, 0);
  bytes.writeUInt32BE(head.length, 4);
  bytes.writeUInt32BE(crc32(bytes.subarray(0, 8)), 8);
  head.copy(bytes, preludeBytes);
  payload.copy(bytes, preludeBytes + head.length);
  bytes.writeUInt32BE(crc32(bytes.subarray(0, total - checksumBytes)), total - checksumBytes);
  return bytes;
}

/** The type of a header's value that is text. */
const textType = 7;

function headerBytes(name: string, text: string): Buffer {
  const value = Buffer.from(text);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(value.length);
  const label = Buffer.from(name);
  return Buffer.concat([
    Buffer.from([label.length]),
    label,
    Buffer.from([textType]),
    length,
    value,
  ]);
}
