// Memory on disk: two files that are always complete, shared by processes and people without losing a word.
import { hashContent, type ContentHash } from "../../../core/hash.ts";
import {
  type MemoryOperation,
  changeMemory,
  type ChangeContext,
} from "../../../core/memory/change-memory.ts";
import { countBytes } from "../../../core/layers/cut-middle.ts";
import { parseMemoryFile, type MemoryFile } from "../../../core/memory/memory-file.ts";
import { defaultJournalLimits, type JournalLimits } from "../../../core/memory/memory-journal.ts";
import type { ScopeRoot } from "../guard/scoped-folder.ts";
import { peekJournal, type CommitContext, commitChange, type Decide } from "./commit-change.ts";
import { defaultLockOptions } from "./folder-lock.ts";
import { withFolder } from "./held-folder.ts";
import type { LockOptions } from "./lock-files.ts";
import * as place from "./memory-place.ts";
import type { Journal } from "./journal-files.ts";
import { undoChange, type UndoOutcome } from "./undo-change.ts";
import { lstat } from "node:fs/promises";
import type { MemoryRefusal } from "../../../core/memory/memory-refusal.ts";
import { toMemoryWrite, type MemoryWrite } from "../../../core/memory/memory-write.ts";
import { unlessMissing } from "../guard/scoped-failure.ts";

/** Belongs to one session and tracks what that session has seen. Keeps nothing else between calls. */
export interface MemoryStore {
  /** Without symlinks. */
  readonly workspacePath: string;
  place(): Promise<place.MemoryPlace>;
  /** Reads without marking the text as seen. */
  peek(file: string): Promise<MemoryContent>;
  /** Reads and marks as seen. A consolidation may only replace a text that was read here. */
  read(file: string): Promise<MemoryContent>;
  markSeen(file: MemoryFile, hash: ContentHash): void;
  /** The hash of the last seen text. Null if none was. */
  seenHash(file: MemoryFile): ContentHash | null;
  addEntry(file: string, entry: string, options?: WriteOptions): Promise<MemoryOutcome>;
  replace(file: string, old: string, by: string, options?: WriteOptions): Promise<MemoryOutcome>;
  consolidate(file: string, content: string, options?: ConsolidateOptions): Promise<MemoryOutcome>;
  /** Restores the text before the last change, or before the change with that number. */
  undo(file: string, options?: { readonly to?: number }): Promise<UndoOutcome>;
  log(): Promise<Journal>;
}

export interface MemoryContent {
  readonly file: MemoryFile;
  /** Empty if the file is missing. */
  readonly text: string;
  readonly hash: ContentHash;
  readonly sizeBytes: number;
  readonly isThere: boolean;
}

export interface WriteOptions {
  readonly signal?: AbortSignal;
}

export interface ConsolidateOptions extends WriteOptions {
  /**
   * The hash of the text the caller has seen. Default: the one last read through this store when the call
   * began. Null: none.
   */
  readonly seenHash?: ContentHash | null;
  readonly isDropConfirmed?: boolean;
}

export interface MemoryStoreOptions {
  readonly lock?: Partial<LockOptions>;
  readonly journal?: JournalLimits;
  /** Milliseconds since 1970, for the journal. */
  readonly now?: () => number;
}

/** The workspace must exist. Nothing is created in it before the first write. */
export async function openMemoryStore(
  workspacePath: string,
  options: MemoryStoreOptions = {},
): Promise<MemoryStore> {
  const root = await place.openMemoryRoot(workspacePath);
  const context: CommitContext = {
    root,
    lock: { ...defaultLockOptions, ...options.lock },
    limits: options.journal ?? defaultJournalLimits,
    now: options.now ?? Date.now,
  };
  const seen = createSeen();
  const inTurn = createQueue();

  const peek = (name: string): Promise<MemoryContent> => readContent(root, parseMemoryFile(name));

  const write = (
    name: string,
    operation: MemoryOperation,
    { signal, seenHash, isDropConfirmed = false }: ConsolidateOptions = {},
  ): Promise<MemoryOutcome> => {
    const file = parseMemoryFile(name);
    // A consolidation is based on what was seen when it began: an entry added since is not in the new text.
    const atStart = seenHash === undefined ? seen.of(file) : seenHash;
    return inTurn(() => {
      const latest = operation.kind === "consolidate" ? atStart : seen.of(file);
      const known = { file, seenHash: latest ?? undefined, isDropConfirmed };
      const within = signal === undefined ? context : withSignal(context, signal);
      return writeOnce(within, operation, known, (hash) => seen.mark(file, hash));
    });
  };

  const undo = (file: MemoryFile, to: number | undefined): Promise<UndoOutcome> =>
    inTurn(async () => {
      const outcome = await undoChange(context, file, to);
      if (outcome.kind === "undone") seen.markAgain(file, hashContent(outcome.entry.before));
      return outcome;
    });

  return {
    workspacePath: root.path,
    place: () => place.findMemoryPlace(root),
    peek,
    read: async (name) => {
      const content = await peek(name);
      seen.mark(content.file, content.hash);
      return content;
    },
    markSeen: (file, hash) => seen.mark(file, hash),
    seenHash: (file) => seen.of(file),
    addEntry: (file, entry, how) => write(file, { kind: "add", entry }, how),
    replace: (file, old, by, how) => write(file, { kind: "replace", old, new: by }, how),
    consolidate: (file, content, how) => write(file, { kind: "consolidate", content }, how),
    undo: (name, { to } = {}) => undo(parseMemoryFile(name), to),
    log: async () => peekJournal(root, (await place.findMemoryPlace(root)).folder),
  };
}

async function readContent(root: ScopeRoot, file: MemoryFile): Promise<MemoryContent> {
  const there = await readNow(root, file);
  const text = there ?? "";
  const [hash, sizeBytes] = [hashContent(text), countBytes(text)];
  return { file, text, hash, sizeBytes, isThere: there !== null };
}

/** If the file moved to the other folder between the two checks, reads it there. */
async function readNow(root: ScopeRoot, file: MemoryFile): Promise<string | null> {
  const { folder: name } = await place.findMemoryPlace(root);
  const text = await withFolder(root, [name], false, (folder) =>
    place.readMemoryText(folder, `${name}/${file}`, file),
  );
  if (text !== null || (await place.findMemoryPlace(root)).folder === name) return text;
  return readNow(root, file);
}

function withSignal(context: CommitContext, signal: AbortSignal): CommitContext {
  return { ...context, lock: { ...context.lock, signal } };
}

/** Serializes writes within this process. The lock keeps other processes out. */
function createQueue(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const mine = last.then(work, work);
    last = mine.catch(() => {});
    return mine;
  };
}

/** The texts a session has seen. It may only replace those as a whole. */
interface SeenTexts {
  /** The last seen text of a file. Null if none was. */
  of(file: MemoryFile): ContentHash | null;
  mark(file: MemoryFile, hash: ContentHash): void;
  /** For a restored text: it counts as seen if it was seen before. */
  markAgain(file: MemoryFile, hash: ContentHash): void;
}

function createSeen(): SeenTexts {
  const last = new Map<MemoryFile, ContentHash>();
  const ever = new Set<string>();
  const mark: SeenTexts["mark"] = (file, hash) => {
    last.set(file, hash);
    ever.add(`${file} ${hash}`);
  };
  return {
    of: (file) => last.get(file) ?? null,
    mark,
    markAgain: (file, hash) => {
      if (ever.has(`${file} ${hash}`)) mark(file, hash);
    },
  };
}

export type MemoryOutcome =
  | {
      readonly kind: "written" | "unchanged";
      readonly write: MemoryWrite;
      /** Relative to the workspace. */
      readonly path: string;
      /** Problems although it was written, or what the write hides, as whole sentences. */
      readonly notes: readonly string[];
    }
  | { readonly kind: "refused"; readonly file: MemoryFile; readonly refusal: MemoryRefusal };

async function writeOnce(
  context: CommitContext,
  operation: MemoryOperation,
  known: ChangeContext,
  markSeen: (hash: ContentHash) => void,
): Promise<MemoryOutcome> {
  const { file, seenHash } = known;
  const decide: Decide<{ readonly before: string; readonly refusal: MemoryRefusal | null }> = (
    before,
  ) => {
    const change = changeMemory(before, operation, known);
    switch (change.kind) {
      case "changed":
        return { kind: "change", after: change.text, operation: operation.kind, undoes: null };
      case "same":
        return { kind: "stop", value: { before, refusal: null } };
      case "refused":
        return { kind: "stop", value: { before, refusal: change.refusal } };
    }
  };
  const settled = await commitChange(context, file, decide);
  const toPath = (folder: place.MemoryFolder): string => `${folder}/${file}`;
  if (settled.kind === "stopped") {
    const { before, refusal } = settled.value;
    if (refusal !== null) return { kind: "refused", file, refusal };
    const write = toMemoryWrite(file, operation, { before, after: before, isMerged: false });
    const { folder } = await place.findMemoryPlace(context.root);
    return { kind: "unchanged", write, path: toPath(folder), notes: [] };
  }
  const { before, after } = settled;
  const isKnown = before === "" || seenHash === hashContent(before);
  const isMerged = seenHash !== undefined && seenHash !== hashContent(before);
  const write = toMemoryWrite(file, operation, { before, after, isMerged });
  // A session that knew the text before also knows the text after its own write.
  if (isKnown) markSeen(write.afterHash);
  const hidden = settled.isNew ? await notesOnHidden(context.root, file) : [];
  return {
    kind: "written",
    write,
    path: toPath(settled.folder),
    notes: [...settled.notes, ...hidden],
  };
}

/** Sessions see a root file of the same name only as long as there is no other. */
async function notesOnHidden(root: ScopeRoot, file: MemoryFile): Promise<readonly string[]> {
  const there = await withFolder(root, [], false, async (workspace) =>
    workspace === null ? null : lstat(workspace.at(file)).catch(unlessMissing),
  ).catch(() => null);
  if (there === null) return [];
  return [
    `The ${file} at the root of the workspace stays as it is, but is not shown to later sessions any more: add what still matters of it here.`,
  ];
}
