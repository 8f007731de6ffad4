// Lines of a system text that say the date or the time: they change from call to call, or from day to day.
import type { Span } from "../../core/message/json-text.ts";

export interface VolatileLines {
  /** What goes from the text, as offsets in its JSON. */
  readonly cuts: readonly Span[];
  /** The lines in their order, as they are written in the JSON, without its quotes. */
  readonly lines: readonly string[];
}

/**
 * `source`: a JSON string with its quotes. Only lines that begin by naming what they say, such as `Current date: 2026-11-16`, are
 * found: a moment within a sentence or an example stays. Null if there are none, or if nothing else would be left.
 */
export function findVolatileLines(source: string): VolatileLines | null {
  const all = linesOf(source);
  const found = all.filter(({ start, end }) => isVolatile(decoded(source.slice(start, end))));
  const left = all.filter((line) => !found.includes(line));
  const isEmpty = left.every(({ start, end }) => decoded(source.slice(start, end)).trim() === "");
  if (found.length === 0 || isEmpty) return null;
  return {
    cuts: cutsOf(all, found),
    lines: found.map(({ start, end }) => source.slice(start, end)),
  };
}

interface Line extends Span {
  /** Where the next line begins. */
  readonly next: number;
}

function linesOf(source: string): readonly Line[] {
  const lines: Line[] = [];
  const last = source.length - 1;
  let start = 1;
  for (const { 0: token, index } of source.slice(0, last).matchAll(/\\(?:u[\da-fA-F]{4}|.)/g)) {
    if (token !== String.raw`\n`) continue;
    lines.push({ start, end: index, next: index + token.length });
    start = index + token.length;
  }
  return [...lines, { start, end: last, next: last }];
}

/** Neighbours go together. The last line goes with the break before it. */
function cutsOf(all: readonly Line[], found: readonly Line[]): readonly Span[] {
  const cuts: Span[] = [];
  for (const [at, { start, next }] of all.entries()) {
    const line = all[at];
    if (line === undefined || !found.includes(line)) continue;
    const before = cuts.at(-1);
    const from = before?.end === start ? before.start : start;
    if (before?.end === start) cuts.pop();
    const isLast = at === all.length - 1;
    const broken = all.find((each) => each.next === from)?.end;
    cuts.push({ start: isLast ? (broken ?? from) : from, end: next });
  }
  return cuts;
}

/** Bytes as text, one character each. */
function decoded(line: string): string {
  return String(JSON.parse(`"${Buffer.from(line, "latin1").toString("utf8")}"`));
}

const lineLengthMax = 200;

/** What a line begins with, behind bullets and tags. */
const opening =
  /^[\s*#>-]{0,8}<?(?:the[ _-])?(?:current[ _-]|today['’]?s[ _-]|local[ _-]|system[ _-]|utc[ _-])?(?:date|time|datetime|timestamp|day|today|now)\b/i;

const moment =
  /\d{4}-\d{2}-\d{2}|\b\d{1,2}:\d{2}\b|\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.? \d{1,2}\b|\b\d{1,2}\.? (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)/i;

function isVolatile(line: string): boolean {
  return line.length <= lineLengthMax && opening.test(line) && moment.test(line);
}
