// Writes lines into a file in large pieces.
import { open } from "node:fs/promises";

/** Returns the number of lines. */
export async function writeLines(file: string, lines: AsyncIterable<string>): Promise<number> {
  await using handle = await open(file, "w", 0o600);
  let count = 0;
  let waiting = "";
  for await (const line of lines) {
    count += 1;
    waiting += `${line}\n`;
    if (waiting.length < charactersPerWrite) continue;
    await handle.writeFile(waiting);
    waiting = "";
  }
  await handle.writeFile(waiting);
  return count;
}

const charactersPerWrite = 256 * 1024;
