// Reads what a shell pipes into a prompt: `git diff | strata chat -p "Review this"`.
import { fstatSync } from "node:fs";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";

/** How long to wait for the first byte of an open pipe. */
const usualFirstBytesMs = 3000;

/** Not a socket, whose parent may never write, and not a terminal. */
export function isPiped(fd: number): boolean {
  const stats = fstatSync(fd);
  return stats.isFIFO() || stats.isFile();
}

/** Null if nothing comes. */
export async function readPiped(
  input: Readable,
  onNotice: (text: string) => void,
  firstBytesMs: number = usualFirstBytesMs,
): Promise<string | null> {
  const chunks = input.setEncoding("utf8")[Symbol.asyncIterator]();
  const first = await Promise.race([chunks.next(), sleep(firstBytesMs, null, { ref: false })]);
  if (first === null) {
    onNotice("No input came on standard input; continuing without it.");
    input.destroy();
    return null;
  }
  let text = "";
  for (let chunk = first; chunk.done !== true; chunk = await chunks.next()) {
    text += String(chunk.value);
  }
  return text.trim() === "" ? null : text;
}
