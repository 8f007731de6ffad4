// What is piped into `strata chat -p`: read to its end, but never more than any model takes.
import { fstatSync } from "node:fs";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { StrataError } from "../../core/strata-error.ts";
import { formatBytes } from "../ledger/render-ledger.ts";

/** How long to wait for the first byte of an open pipe. */
const usualFirstBytesMs = 3000;

/** More than the largest window holds, whatever the text. */
export const pipedCharactersMax = 16_000_000;

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
    if (text.length > pipedCharactersMax) {
      input.destroy();
      throw tooLong(`standard input has more than ${formatBytes(pipedCharactersMax)}`);
    }
  }
  return text.trim() === "" ? null : text;
}

/** Common text has three to five characters per token; no text has more than this in the mean. */
const charactersPerTokenMax = 8;

/** Throws before anything is sent if a text cannot fit into a model's window, however it is counted. */
export function refuseTooLong(
  text: string,
  { id, windowTokens }: { readonly id: string; readonly windowTokens: number },
): void {
  const least = Math.ceil(text.length / charactersPerTokenMax);
  if (least <= windowTokens) return;
  const size = `the prompt has ${formatBytes(text.length)}, at least ${least.toLocaleString("en-US")} tokens`;
  throw tooLong(`${size}, and ${id} takes ${windowTokens.toLocaleString("en-US")}`);
}

function tooLong(message: string): StrataError {
  return new StrataError(
    "input-invalid",
    `${message}; nothing was sent`,
    "save it as a file in the workspace and ask about the file, or send a part of it",
  );
}
