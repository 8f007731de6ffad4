// What was typed in earlier chats, in a file that only its user may read. A line is one input as JSON.
import { appendFile, mkdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

const linesKept = 500;
/** Longer input is not worth keeping: it was pasted. */
const inputCharactersMax = 4000;
/** The file is shortened when it is larger. */
const fileBytesMax = 1_000_000;

export interface InputHistory {
  /** Oldest first. Empty if there is none, or it cannot be read. */
  readonly read: () => Promise<readonly string[]>;
  readonly add: (text: string) => void;
  /** Resolves when everything that was added is in the file. */
  readonly written: () => Promise<void>;
}

export function openHistory(dataDirectory: string): InputHistory {
  const file = join(dataDirectory, "chat-history.jsonl");
  let last: string | null = null;
  let writing: Promise<void> = Promise.resolve();
  const write = async (text: string): Promise<void> => {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await appendFile(file, `${JSON.stringify(text)}\n`, { mode: 0o600 });
    const { size } = await stat(file);
    if (size > fileBytesMax) await shorten(file);
  };
  return {
    read: async () => {
      const lines = await readHistory(file);
      last = lines.at(-1) ?? null;
      return lines;
    },
    add: (text) => {
      if (text.trim() === "" || text === last || text.length > inputCharactersMax) return;
      last = text;
      // One after another, in the order typed. A history that cannot be written is no reason not to send.
      writing = writing.then(() => write(text)).catch(() => {});
    },
    written: () => writing,
  };
}

async function readHistory(file: string): Promise<readonly string[]> {
  const text = await readFile(file, "utf8").catch(() => "");
  return text.split("\n").flatMap(parseLine).slice(-linesKept);
}

/** A line that another program broke is left out. */
function parseLine(line: string): readonly string[] {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "string" ? [value] : [];
  } catch {
    return [];
  }
}

async function shorten(file: string): Promise<void> {
  const kept = (await readHistory(file)).map((line) => `${JSON.stringify(line)}\n`);
  const shorter = `${file}.${process.pid}`;
  await writeFile(shorter, kept.join(""), { mode: 0o600 });
  await rename(shorter, file);
}
