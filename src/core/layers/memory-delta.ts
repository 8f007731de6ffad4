// What changed in memory since the snapshot, for the end of the prompt. The snapshot itself stays unchanged.
import { globalUserName, type MemoryTexts } from "./memory-sections.ts";

export interface DeltaLimits {
  /** The most changed lines shown for one file. */
  readonly linesMax: number;
  /** The most characters shown for one file. */
  readonly charactersMax: number;
}

const defaultLimits: DeltaLimits = { linesMax: 40, charactersMax: 4000 };

/** The added and removed lines of each file, and how many are not shown. Null if nothing changed. */
export function describeMemoryChange(
  snapshot: MemoryTexts,
  current: MemoryTexts,
  limits: DeltaLimits = defaultLimits,
): string | null {
  const { globalUser: globalBefore = "" } = snapshot;
  const { globalUser: globalNow = "" } = current;
  const files = [
    describeFile(`User context of ${globalUserName}`, globalBefore, globalNow, limits),
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
  const { missing: added, kept: keptLater } = compare(earlier, later);
  const { missing: removed, kept: keptEarlier } = compare(later, earlier);
  // Added and removed lines do not show where the other lines are now.
  if (keptEarlier.join("\n") !== keptLater.join("\n")) {
    const what = added.length + removed.length === 0 ? "the same lines" : "its lines";
    return describeLines(`${name}: ${what} in another order. It says now:`, later, "lines", limits);
  }
  const counts = `${name}: ${countOf(added, "added")}, ${countOf(removed, "removed")}.`;
  // New lines matter more than removed ones, so they come first.
  const changes = [...added.map((line) => `+ ${line}`), ...removed.map((line) => `- ${line}`)];
  return describeLines(counts, changes, "changed lines", limits);
}

function describeLines(
  head: string,
  lines: readonly string[],
  what: string,
  limits: DeltaLimits,
): string {
  const shown = withinLimits(lines, limits);
  const left = lines.length - shown.length;
  const note = left === 0 ? [] : [`(${left} of ${lines.length} ${what} are not shown.)`];
  return [head, ...shown, ...note].join("\n");
}

/** Blank lines and white space at line ends are ignored. */
function toLines(text: string): string[] {
  return text
    .split(/\r?\n/)
    .map((line) => line.trimEnd())
    .filter((line) => line !== "");
}

/** Splits the second list into lines the first holds less often, and the rest. */
function compare(
  known: readonly string[],
  lines: readonly string[],
): { readonly missing: readonly string[]; readonly kept: readonly string[] } {
  const counts = new Map<string, number>();
  for (const line of known) counts.set(line, (counts.get(line) ?? 0) + 1);
  const [missing, kept]: [string[], string[]] = [[], []];
  for (const line of lines) {
    const count = counts.get(line) ?? 0;
    counts.set(line, count - 1);
    (count <= 0 ? missing : kept).push(line);
  }
  return { missing, kept };
}

function countOf(lines: readonly string[], what: string): string {
  return `${lines.length} ${lines.length === 1 ? "line" : "lines"} ${what}`;
}

/** Whole lines only. A line that is too long is skipped, so that later ones may fit. */
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
