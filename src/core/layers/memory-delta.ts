// What changed in memory since the snapshot, for the end of the prompt: the snapshot itself stays as it is (C-3).
import type { MemoryTexts } from "./memory-sections.ts";

export interface DeltaLimits {
  /** Of changed lines shown for one file. */
  readonly linesMax: number;
  /** Of all lines shown for one file. */
  readonly charactersMax: number;
}

const defaultLimits: DeltaLimits = { linesMax: 40, charactersMax: 4000 };

/** The lines that came and went in each file, and how many are not shown; null when nothing changed. */
export function describeMemoryChange(
  snapshot: MemoryTexts,
  current: MemoryTexts,
  limits: DeltaLimits = defaultLimits,
): string | null {
  const files = [
    describeFile("USER.md", snapshot.user, current.user, limits),
    describeFile("MEMORY.md", snapshot.workspace, current.workspace, limits),
  ].filter((text) => text !== null);
  if (files.length === 0) return null;
  return ["Memory has changed since the start of this session.", ...files].join("\n\n");
}

function describeFile(
  name: string,
  before: string,
  after: string,
  limits: DeltaLimits,
): string | null {
  const earlier = toLines(before);
  const later = toLines(after);
  if (earlier.join("\n") === later.join("\n")) return null;
  const added = linesMissingFrom(earlier, later);
  const removed = linesMissingFrom(later, earlier);
  if (added.length === 0 && removed.length === 0) {
    return `${name}: the same lines in another order.`;
  }
  const counts = `${name}: ${countOf(added, "added")}, ${countOf(removed, "removed")}.`;
  // What is new matters more than what is gone, so it is shown first.
  const changes = [...added.map((line) => `+ ${line}`), ...removed.map((line) => `- ${line}`)];
  const shown = withinLimits(changes, limits);
  const left = changes.length - shown.length;
  const note = left === 0 ? [] : [`(${left} of ${changes.length} changed lines are not shown.)`];
  return [counts, ...shown, ...note].join("\n");
}

/** Blank lines and white space at line ends mean nothing. */
function toLines(text: string): string[] {
  return text
    .split(/\r?\n/)
    .map((line) => line.trimEnd())
    .filter((line) => line !== "");
}

/** The lines of the second list that the first does not hold as often. */
function linesMissingFrom(known: readonly string[], lines: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const line of known) counts.set(line, (counts.get(line) ?? 0) + 1);
  return lines.filter((line) => {
    const count = counts.get(line) ?? 0;
    counts.set(line, count - 1);
    return count <= 0;
  });
}

function countOf(lines: readonly string[], what: string): string {
  return `${lines.length} ${lines.length === 1 ? "line" : "lines"} ${what}`;
}

/** Whole lines only; one that is too long makes room for those after it. */
function withinLimits(
  lines: readonly string[],
  { linesMax, charactersMax }: DeltaLimits,
): readonly string[] {
  const shown: string[] = [];
  let characters = 0;
  for (const line of lines) {
    if (shown.length === linesMax) break;
    if (characters + line.length > charactersMax) continue;
    shown.push(line);
    characters += line.length;
  }
  return shown;
}
