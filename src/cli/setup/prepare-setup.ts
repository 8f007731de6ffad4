// From what a client needs and what stands in its files to the bytes that will stand there. Nothing is written yet.
import { isDeepStrictEqual } from "node:util";
import { StrataError } from "../../core/strata-error.ts";
import type { OwnFile, SetupPlan, Wish } from "./client-setup.ts";
import { readBytes, toText } from "./settings-file.ts";
import { hashOf, type Change, type ChangedFile, type SetupRecord } from "./setup-record.ts";
import { formats } from "./text/formats.ts";
import { undoFile } from "./undo-file.ts";

export interface PreparedSetup {
  readonly files: readonly PreparedFile[];
  /** Of an earlier setup, and not of this one. */
  readonly undone: readonly ChangedFile[];
  readonly notes: readonly string[];
}

export interface PreparedFile extends ChangedFile {
  readonly bytes: Buffer;
}

/** `earlier`: what a setup before this one changed; it is taken back first, so that what is kept is the user's own. */
export function prepareSetup(plan: SetupPlan, earlier: SetupRecord | null): PreparedSetup {
  const notes: string[] = [];
  const byFile = Map.groupBy(plan.wishes, ({ file }) => file);
  const beforeOf = (file: string): Buffer | null => {
    const changed = earlier?.files.find((each) => each.file === file);
    const now = readBytes(file);
    return changed === undefined ? now : undoFile(changed, now).bytes;
  };
  const settings = [...byFile].map(([file, wishes]) =>
    prepareFile(file, wishes, beforeOf(file), notes),
  );
  const own = plan.ownFiles.map((each) => prepareOwn(each, beforeOf(each.file)));
  const foldersOf = (file: string): readonly string[] =>
    earlier?.files.find((each) => each.file === file)?.folders ?? [];
  const files = [...settings, ...own].map((each) => ({ ...each, folders: foldersOf(each.file) }));
  const names = new Set(files.map(({ file }) => file));
  const undone = (earlier?.files ?? []).filter(({ file }) => !names.has(file));
  return { files, undone, notes: [...notes, ...plan.notes] };
}

function prepareFile(
  file: string,
  wishes: readonly Wish[],
  before: Buffer | null,
  notes: string[],
): Omit<PreparedFile, "folders"> {
  try {
    const format = wishes[0]?.format ?? "json";
    let text = toText(file, before);
    const changes: Change[] = [];
    for (const wish of wishes) {
      const done = applyWish(text, wish, file, before !== null);
      text = done.text;
      notes.push(...done.notes);
      if (done.change !== null) changes.push(done.change);
    }
    const bytes = Buffer.from(text);
    return { file, before, bytes, hash: hashOf(bytes), format, changes };
  } catch (error) {
    if (!(error instanceof StrataError) || error.message.startsWith(file)) throw error;
    const { code, message, hint } = error;
    throw new StrataError(code, `${file}: ${message}`, hint, { cause: error });
  }
}

interface Applied {
  readonly text: string;
  readonly change: Change | null;
  readonly notes: readonly string[];
}

function applyWish(text: string, wish: Wish, file: string, isThere: boolean): Applied {
  const { path, value, keepTheirs, whenReplaced, needs } = wish;
  const format = formats[wish.format];
  if (needs !== undefined && (!isThere || format.read(text, needs.path) === undefined)) {
    throw new StrataError("not-found", `${file} has no ${needs.path.join(".")}`, needs.hint);
  }
  const theirs = format.read(text, path);
  if (isDeepStrictEqual(theirs, value)) return { text, change: null, notes: [] };
  if (theirs !== undefined && keepTheirs !== undefined) {
    return { text, change: null, notes: [`${file} has a ${path.join(".")}: ${keepTheirs}.`] };
  }
  const depth = path.findLastIndex(
    (_name, index) => format.read(text, path.slice(0, index + 1)) !== undefined,
  );
  return {
    text: format.set(text, path, value),
    change: { path, ours: value, theirs, depth: depth + 1 },
    notes: theirs === undefined || whenReplaced === undefined ? [] : [whenReplaced(theirs)],
  };
}

function prepareOwn({ file, text }: OwnFile, before: Buffer | null): Omit<PreparedFile, "folders"> {
  const bytes = Buffer.from(text);
  return { file, before, bytes, hash: hashOf(bytes), format: null, changes: [] };
}
