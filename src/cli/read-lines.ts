// The lines of a file or of standard input, cut at line feeds only: JSON lines may hold every other separator.
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { messageOf, StrataError } from "../core/strata-error.ts";

/** `-` is standard input. Throws before the first line if it cannot be read. */
export async function openLines(file: string): Promise<AsyncIterable<string>> {
  if (file === "-") return splitLines(process.stdin);
  try {
    await using handle = await open(file, "r");
    if ((await handle.stat()).isDirectory()) throw new Error("it is a folder");
  } catch (cause) {
    throw new StrataError(
      "input-invalid",
      `${file} cannot be read: ${messageOf(cause)}`,
      "name a file, or - for standard input",
      { cause },
    );
  }
  return linesOf(file);
}

/** Opens the file when the first line is read, so that an unused one is not held open. */
async function* linesOf(file: string): AsyncGenerator<string> {
  yield* splitLines(createReadStream(file));
}

async function* splitLines(chunks: AsyncIterable<unknown>): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: false });
  let rest = "";
  for await (const chunk of chunks) {
    rest += chunk instanceof Uint8Array ? decoder.decode(chunk, { stream: true }) : String(chunk);
    const lines = rest.split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  rest += decoder.decode();
  if (rest !== "") yield rest;
}
