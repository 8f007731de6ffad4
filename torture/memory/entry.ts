// Entries of 20 bytes with a checksum, so that a torn or mixed file is detected.
import { createHash } from "node:crypto";

/** `name` has six letters or digits. */
export function makeEntry(name: string, number: number): string {
  const start = `${name}-${String(number).padStart(4, "0")}`;
  return `${start}-${checkOf(start)}`;
}

export interface CheckedText {
  readonly entries: readonly string[];
  /** Why this is not one complete version, or null. */
  readonly problem: string | null;
}

/** Checks that every line is whole, each entry occurs once, and the last line ends. */
export function checkText(text: string): CheckedText {
  if (text === "") return { entries: [], problem: null };
  const lines = text.split("\n");
  const end = lines.pop();
  const entries = lines.filter((line) => !/^# [0-9a-f]{16}$/.test(line));
  const broken = entries.find((line) => !isEntry(line));
  if (end !== "") return { entries, problem: `the last line has no end: ${end}` };
  if (broken !== undefined) return { entries, problem: `a line is broken: ${broken}` };
  if (new Set(entries).size < entries.length)
    return { entries, problem: "an entry is there twice" };
  return { entries, problem: null };
}

function isEntry(line: string): boolean {
  const [, start = "", check] = /^([a-z0-9]{6}-\d{4})-([0-9a-f]{8})$/.exec(line) ?? [];
  return check === checkOf(start);
}

function checkOf(start: string): string {
  return createHash("sha256").update(start).digest("hex").slice(0, 8);
}
