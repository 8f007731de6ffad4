// The body of a request as JSON, within a limit.
import type { IncomingMessage } from "node:http";
import { isObject, type Fields } from "../../core/message/fields.ts";
import { refuseWith } from "./api-error.ts";

const bytesMax = 65_536;

export async function readBody(incoming: IncomingMessage): Promise<Fields> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  // A client that leaves ends the loop with an error, and no one waits for the answer.
  for await (const piece of incoming) {
    const data: unknown = piece;
    if (!Buffer.isBuffer(data)) continue;
    bytes += data.length;
    if (bytes > bytesMax) {
      throw refuseWith(
        "body_too_large",
        "the body is above 64 KB",
        "send only what the route takes",
      );
    }
    pieces.push(data);
  }
  const value = parse(Buffer.concat(pieces).toString("utf8"));
  if (isObject(value)) return value;
  throw refuseWith(
    "invalid_body",
    "the body is not a JSON object",
    "send one, as openapi.json says",
  );
}

function parse(text: string): unknown {
  // A route that takes nothing may be asked with nothing.
  if (text.trim() === "") return {};
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
