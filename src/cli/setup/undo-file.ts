// A changed file as it was: the bytes of before, or, if someone changed it since, without our settings only.
import { isDeepStrictEqual } from "node:util";
import { StrataError } from "../../core/strata-error.ts";
import { toText } from "./settings-file.ts";
import { hashOf, type Change, type ChangedFile } from "./setup-record.ts";
import { formats } from "./text/formats.ts";
import type { TextFormat } from "./text/text-format.ts";

export interface UndoneFile {
  /** Null: there should be no file. */
  readonly bytes: Buffer | null;
  /** What stays as it is, and why. */
  readonly left: readonly string[];
}

export function undoFile(changed: ChangedFile, now: Buffer | null): UndoneFile {
  const { file, before, hash, format, changes } = changed;
  if (now === null) {
    return before === null
      ? { bytes: null, left: [] }
      : { bytes: null, left: [`${file} was deleted since: it stays so`] };
  }
  if (hashOf(now) === hash) return { bytes: before, left: [] };
  if (before !== null && now.equals(before)) return { bytes: before, left: [] };
  if (format === null) return { bytes: now, left: [`${file} was changed since: it stays`] };
  return undoSettings(file, toText(file, now), formats[format], changes);
}

function undoSettings(
  file: string,
  now: string,
  format: TextFormat,
  changes: readonly Change[],
): UndoneFile {
  const left: string[] = [];
  let text = now;
  for (const change of changes.toReversed()) {
    const { path, ours, theirs } = change;
    const name = path.join(".");
    try {
      const there = format.read(text, path);
      if (!isDeepStrictEqual(there, ours)) {
        if (there !== undefined) left.push(`${file}: ${name} was changed since: it stays`);
        continue;
      }
      text = format.set(text, path, theirs);
      if (theirs === undefined) text = withoutEmpty(text, format, change);
    } catch (error) {
      if (!(error instanceof StrataError)) throw error;
      left.push(`${file}: ${name} stays: ${error.message}`);
    }
  }
  return { bytes: Buffer.from(text), left };
}

/** Objects that only our setting needed. */
function withoutEmpty(text: string, format: TextFormat, { path, depth }: Change): string {
  let rest = text;
  for (let length = path.length - 1; length > depth; length -= 1) {
    const parent = path.slice(0, length);
    if (!isDeepStrictEqual(format.read(rest, parent), {})) return rest;
    rest = format.set(rest, parent, undefined);
  }
  return rest;
}
