// The body of a request as JSON, within a limit.
import type { IncomingMessage } from "node:http";
import { isObject, type Fields } from "../../core/message/fields.ts";
import { refuseWith } from "./api-error.ts";

const bytesMax = 65_536;

export async function readBody(incoming: IncomingMessage): Promise<Fields> {
  const value = parse((await collect(incoming)).toString("utf8"));
  if (isObject(value)) return value;
  throw refuseWith(
    "invalid_body",
    "the body is not a JSON object",
    "send one, as openapi.json says",
  );
}

async function collect(incoming: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const piece of incoming) {
      const data: unknown = piece;
      if (!Buffer.isBuffer(data)) continue;
      bytes += data.length;
      if (bytes > bytesMax) break;
      pieces.push(data);
    }
  } catch {
    // The client left, and no one waits for the answer: that is no mistake of ours.
    throw refuseWith("invalid_body", "the body broke off", "send all of it");
  }
  if (bytes <= bytesMax) return Buffer.concat(pieces);
  throw refuseWith("body_too_large", "the body is above 64 KB", "send only what the route takes");
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
