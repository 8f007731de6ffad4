// A text file that the user's own configuration names, such as a persona. It may lie anywhere.
import { open } from "node:fs/promises";
import { messageOf, StrataError } from "../../core/strata-error.ts";

const bytesMax = 200_000;

/** Throws a `StrataError` that names the file: a prompt must not change silently because a file is gone. */
export async function readOwnText(path: string, what: string): Promise<string> {
  const refuse = (why: string, cause?: unknown): StrataError =>
    new StrataError(
      "config-invalid",
      `${what} is ${path}, which ${why}`,
      "name a text file that is there, or remove the setting",
      cause === undefined ? {} : { cause },
    );
  let bytes: Buffer;
  try {
    await using file = await open(path);
    const { size } = await file.stat();
    if (size > bytesMax) throw refuse(`has ${size} bytes, more than ${bytesMax}`);
    bytes = await file.readFile();
  } catch (error) {
    if (error instanceof StrataError) throw error;
    throw refuse(`cannot be read: ${messageOf(error)}`, error);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw refuse("is not UTF-8 text", cause);
  }
}
