// What a shell pipes into a prompt: `git diff | strata chat -p "Review this"`.
import { fstatSync } from "node:fs";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";

/** Somebody who keeps a pipe open and says nothing is not waited for longer. */
const usualFirstBytesMs = 3000;

/** A socket is of a parent that may never speak, a terminal is a person's. */
export function isPiped(fd: number): boolean {
  const stats = fstatSync(fd);
  return stats.isFIFO() || stats.isFile();
}

/** Null where nothing comes. */
export async function readPiped(
  input: Readable,
  onNotice: (text: string) => void,
  firstBytesMs: number = usualFirstBytesMs,
): Promise<string | null> {
  const chunks = input.setEncoding("utf8")[Symbol.asyncIterator]();
  const first = await Promise.race([chunks.next(), sleep(firstBytesMs, null, { ref: false })]);
  if (first === null) {
    onNotice("Nothing came on standard input; going on without it.");
    input.destroy();
    return null;
  }
  let text = "";
  for (let chunk = first; chunk.done !== true; chunk = await chunks.next()) {
    text += String(chunk.value);
  }
  return text.trim() === "" ? null : text;
}
