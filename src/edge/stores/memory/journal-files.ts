// The journal on disk: one file for each version that was replaced, the oldest removed.
import { readdir, readFile, unlink, writeFile } from "node:fs/promises";
import {
  decodeJournalEntry,
  encodeJournalEntry,
  entriesToDrop,
  type JournalEntry,
  type JournalLimits,
} from "../../../core/memory/memory-journal.ts";
import { hasCode } from "../scoped-failure.ts";
import type { ScopedFolder } from "../scope-root.ts";
import type { HeldLock } from "./folder-lock.ts";

export const journalFolder = "memory-journal";

export interface Journal {
  /** The oldest first. */
  readonly entries: readonly JournalEntry[];
  /** Names of files that cannot be read. They are left alone. */
  readonly damaged: readonly string[];
}

export async function readJournal(folder: ScopedFolder | null): Promise<Journal> {
  const entries: JournalEntry[] = [];
  const damaged: string[] = [];
  if (folder === null) return { entries, damaged };
  for (const name of (await readdir(folder.self)).toSorted()) {
    if (!isEntryName(name)) continue;
    const text = await readFile(folder.at(name), "utf8").catch((error: unknown) => {
      if (hasCode(error, "ENOENT")) return null;
      throw error;
    });
    // Somebody made room meanwhile.
    if (text === null) continue;
    const entry = decodeJournalEntry(text);
    if (entry === null || toName(entry.number) !== name) damaged.push(name);
    else entries.push(entry);
  }
  return { entries, damaged };
}

/** Numbers go on after everything that is there, readable or not. */
export function nextNumber({ entries, damaged }: Journal): number {
  const numbers = [...entries.map(({ number }) => number), ...damaged.map(Number.parseFloat)];
  return Math.max(0, ...numbers) + 1;
}

/** On the disk before the change it is about. False: the lock was lost. */
export async function appendEntry(
  folder: ScopedFolder,
  lock: HeldLock,
  entry: JournalEntry,
): Promise<boolean> {
  const name = toName(entry.number);
  if (!(await lock.stage(name, encodeJournalEntry(entry), 0o600))) return false;
  if (!lock.commit(name, folder.at(name))) return false;
  await folder.sync();
  return true;
}

export async function dropOldEntries(
  folder: ScopedFolder,
  entries: readonly JournalEntry[],
  limits: JournalLimits,
): Promise<void> {
  for (const entry of entriesToDrop(entries, limits)) await dropEntry(folder, entry);
}

export async function dropEntry(folder: ScopedFolder, { number }: JournalEntry): Promise<void> {
  await unlink(folder.at(toName(number))).catch(() => {});
}

/** Memory is for version control, its journal is not. */
export async function hideFromGit(folder: ScopedFolder): Promise<void> {
  try {
    await writeFile(folder.at(".gitignore"), "*\n", { flag: "wx", mode: 0o600 });
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
  }
}

function isEntryName(name: string): boolean {
  return /^\d{8,}\.json$/.test(name);
}

function toName(number: number): string {
  return `${String(number).padStart(8, "0")}.json`;
}
