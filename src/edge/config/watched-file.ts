// Watches one configuration file without what it includes: it may be replaced, half written, emptied, removed and restored.
import { setTimeout as wait } from "node:timers/promises";
import type { ConfigNode } from "../../core/config/config-node.ts";
import type { ConfigProblem } from "../../core/config/config-problem.ts";
import { StrataError } from "../../core/strata-error.ts";
import { lookAt, type FileStamp } from "./file-stamp.ts";
import { readConfigFile, type ConfigFile, type FileReading } from "./read-config-file.ts";

export interface SingleFile {
  readonly file: ConfigFile;
  isThere(): boolean;
  /** Checks the file; true if there is something new. */
  look(): Promise<boolean>;
  /** The last usable content; null if there never was one. */
  root(): ConfigNode | null;
  /** The current content as written, right or wrong; null if it is not a tree. */
  tree(): ConfigNode | null;
  /** The problems of the current file. */
  problems(): readonly ConfigProblem[];
}

/** Reads the file; a named file must exist. */
export async function watchSingle(file: ConfigFile): Promise<SingleFile> {
  const reading = await readConfigFile(file);
  if (reading.kind === "absent" && file.isNamed) {
    throw new StrataError("not-found", `there is no file ${file.path}`, "name one that is there");
  }
  let state = toState(unseen, reading, file).next;
  return {
    file,
    isThere: () => state.isThere,
    look: async () => {
      const seen = await lookAt(file.path);
      const isSame = seen?.word === state.stamp?.word && !state.isFresh;
      if (isSame && !state.isUntrusted) return false;
      // The user may have trusted the content since.
      const again = await readSettled(file, state.isUntrusted ? null : state.text);
      // Half a file may look whole; the next check reads again.
      if (again === null) return false;
      const { next, isNew } = toState(state, again, file);
      state = next;
      return isNew;
    },
    root: () => state.root,
    tree: () => state.tree,
    problems: () => state.problems,
  };
}

interface FileState {
  readonly isThere: boolean;
  /** The stamp of the last reading, usable or not; null if unknown. */
  readonly stamp: FileStamp | null;
  readonly text: string | null;
  readonly root: ConfigNode | null;
  readonly tree: ConfigNode | null;
  readonly problems: readonly ConfigProblem[];
  /** Changed so recently that another change might have the same stamp. */
  readonly isFresh: boolean;
  /** The latest content is not trusted; `root` is from before. */
  readonly isUntrusted: boolean;
}

const unseen: FileState = {
  isThere: false,
  stamp: null,
  text: null,
  root: null,
  tree: null,
  problems: [],
  isFresh: false,
  isUntrusted: false,
};

/** File times are at worst this coarse. */
const freshMs = 1000;

function toState(
  before: FileState,
  reading: FileReading,
  file: ConfigFile,
): { readonly next: FileState; readonly isNew: boolean } {
  if (reading.kind === "absent") {
    const problems = before.root === null ? [] : [lost(file, "is gone")];
    const next = { ...unseen, root: before.root, problems };
    return { next, isNew: before.isThere };
  }
  const { stamp } = reading;
  const isFresh = stamp !== null && Math.abs(Date.now() - stamp.changedMs) < freshMs;
  // A file that is not text counts as unchanged while its stamp is the same.
  const isSame =
    reading.kind === "same" ||
    (before.isThere && reading.text === null && stamp?.word === before.stamp?.word) ||
    (before.isUntrusted && reading.isUntrusted && reading.text === before.text);
  if (isSame) return { next: { ...before, stamp, isFresh }, isNew: false };
  const { text, tree, problems, isUntrusted } = reading;
  if (text?.trim() === "" && saysSomething(before.root)) {
    const problem = lost(file, "is empty now");
    const next = {
      ...before,
      isThere: true,
      stamp,
      text,
      isFresh,
      problems: [problem],
      isUntrusted,
    };
    return { next, isNew: true };
  }
  const root = reading.root ?? before.root;
  return {
    next: { isThere: true, stamp, text, root, tree, problems, isFresh, isUntrusted },
    isNew: true,
  };
}

function saysSomething(root: ConfigNode | null): boolean {
  return root?.kind === "map" && root.entries.length > 0;
}

/** A lost or emptied file is probably an accident, so its old settings stay. */
function lost({ path, isFound }: ConfigFile, what: string): ConfigProblem {
  return {
    severity: "error",
    origin: { kind: "file", file: path, line: 1, column: 1, isFound },
    message: `the file ${what}`,
    hint: "write it again, or start anew without it",
  };
}

/** Waits until the file has not changed for a moment, then reads it; null if that takes too long. */
async function readSettled(
  file: ConfigFile,
  knownText: string | null,
): Promise<FileReading | null> {
  let seen = await lookAt(file.path);
  for (let round = 0; round < roundsMax; round += 1) {
    const ageMs = seen === null ? 0 : Math.abs(Date.now() - seen.changedMs);
    if (ageMs < settleMs && seen?.isPlaced !== true) await wait(settleMs - ageMs);
    const after = await lookAt(file.path);
    if (after?.word === seen?.word) {
      const reading = await readConfigFile(file, knownText);
      const stamp = reading.kind === "absent" ? null : reading.stamp;
      if (stamp?.word === seen?.word && (await lookAt(file.path))?.word === seen?.word) {
        return reading;
      }
    }
    seen = after;
  }
  return null;
}

const settleMs = 20;
const roundsMax = 10;
