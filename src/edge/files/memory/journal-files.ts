// The journal on disk: one file per replaced version. The oldest are removed.
import { readdir, unlink, writeFile } from "node:fs/promises";
import * as journal from "../../../core/memory/memory-journal.ts";
import { memoryBytesMax } from "../../../core/memory/memory-file.ts";
import { hasCode } from "../guard/scoped-failure.ts";
import type { ScopedFolder } from "../guard/scoped-folder.ts";
import type { HeldLock } from "./folder-lock.ts";
import type { HeldFolder } from "./held-folder.ts";

export const journalFolder = "memory-journal";

export interface Journal {
  /** The oldest first. */
  readonly entries: readonly journal.JournalEntry[];
  /** Files that cannot be read, and entries that are not files. They are left alone. */
  readonly damaged: readonly string[];
}

export async function readJournal(folder: HeldFolder | null): Promise<Journal> {
  const entries: journal.JournalEntry[] = [];
  const damaged: string[] = [];
  if (folder === null) return { entries, damaged };
  for (const name of (await readdir(folder.self)).toSorted()) {
    if (!isEntryName(name)) continue;
    const text = await readEntry(folder, name);
    // Another process removed it meanwhile.
    if (text === null) continue;
    const entry = journal.decodeJournalEntry(text);
    if (entry === null || entryName(entry) !== name) damaged.push(name);
    else entries.push(entry);
  }
  await folder.check();
  return { entries: entries.toSorted((left, right) => left.number - right.number), damaged };
}

/** Empty if it cannot be read: a link, a pipe, or far too long. One bad entry must not block the others. */
async function readEntry(folder: HeldFolder, name: string): Promise<string | null> {
  try {
    const content = await folder.read(name, entryBytesMax);
    if (content === null) return null;
    return content.size > entryBytesMax ? "" : utf8.decode(content.bytes);
  } catch (error) {
    // A temporary shortage says nothing about the entry.
    if (hasCode(error, "EMFILE", "ENFILE", "ENOMEM", "EAGAIN", "EIO")) throw error;
    return "";
  }
}

/** The largest text in the longest JSON spelling, and the fields around it. */
const entryBytesMax = 6 * memoryBytesMax + 4096;

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Continues after every existing number, readable or not, except impossibly large ones. */
export function nextNumber({ entries, damaged }: Journal): number {
  const numbers = [
    ...entries.map(({ number }) => number),
    ...damaged.map((name) => Number.parseInt(name, 10)),
  ];
  return Math.max(0, ...numbers.filter((number) => number < 1e12)) + 1;
}

/** On disk before the change it describes. False: the lock was lost. */
export async function appendEntry(
  folder: ScopedFolder,
  lock: HeldLock,
  entry: journal.JournalEntry,
): Promise<boolean> {
  const name = entryName(entry);
  if (!(await lock.stage(name, journal.encodeJournalEntry(entry), 0o600))) return false;
  if (!lock.commit(name, folder.at(name))) return false;
  await folder.sync();
  return true;
}

export async function dropOldEntries(
  folder: ScopedFolder,
  entries: readonly journal.JournalEntry[],
  limits: journal.JournalLimits,
): Promise<void> {
  for (const entry of journal.entriesToDrop(entries, limits)) await dropEntry(folder, entry);
}

export async function dropEntry(folder: ScopedFolder, entry: journal.JournalEntry): Promise<void> {
  await unlink(folder.at(entryName(entry))).catch(() => {});
}

/** Memory belongs in version control; its journal does not. */
export async function hideFromGit(folder: ScopedFolder): Promise<void> {
  try {
    await writeFile(folder.at(".gitignore"), "*\n", { flag: "wx", mode: 0o600 });
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
  }
}

export function isEntryName(name: string): boolean {
  return /^\d{8,}\.json$/.test(name);
}

export function entryName({ number }: Pick<journal.JournalEntry, "number">): string {
  return `${String(number).padStart(8, "0")}.json`;
}
