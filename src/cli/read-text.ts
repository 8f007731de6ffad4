// Reads all of standard input as UTF-8 text.
import { StrataError } from "../core/strata-error.ts";

/** Refuses invalid UTF-8: replacement characters would be stored as if the user had typed them. */
export async function readText(
  source: AsyncIterable<Uint8Array | string>,
  bytesMax: number,
): Promise<string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of source) {
    const bytes = typeof piece === "string" ? Buffer.from(piece) : piece;
    size += bytes.length;
    if (size > bytesMax) throw refused(`has more than ${bytesMax} bytes`, "give less");
    pieces.push(bytes);
  }
  try {
    return strict.decode(Buffer.concat(pieces));
  } catch {
    throw refused("is not UTF-8 text", "convert it first; nothing was changed");
  }
}

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function refused(problem: string, hint: string): StrataError {
  return new StrataError("input-invalid", `standard input ${problem}`, hint);
}
