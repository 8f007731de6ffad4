// Memory on disk: two files that are always whole, shared by processes and people without losing a word (S-01 to S-06).
import { hashContent, type ContentHash } from "../../../core/hash.ts";
import { changeMemory, type MemoryOperation } from "../../../core/memory/change-memory.ts";
import { bytesOf, parseMemoryFile, type MemoryFile } from "../../../core/memory/memory-file.ts";
import { defaultJournalLimits, type JournalLimits } from "../../../core/memory/memory-journal.ts";
import type { MemoryRefusal } from "../../../core/memory/memory-refusal.ts";
import { composeSystemPrompt } from "../../../core/memory/memory-view.ts";
import { toMemoryWrite, type MemoryWrite } from "../../../core/memory/memory-write.ts";
import type { ScopeRoot } from "../scope-root.ts";
import { commitChange, peekJournal, type CommitContext, type Decide } from "./commit-change.ts";
import { defaultLockOptions } from "./folder-lock.ts";
import type { LockOptions } from "./lock-files.ts";
import {
  findMemoryPlace,
  openMemoryRoot,
  readMemoryText,
  withFolder,
  type MemoryFolder,
  type MemoryPlace,
} from "./memory-place.ts";
import type { Journal } from "./journal-files.ts";
import { undoChange, type UndoOutcome } from "./undo-change.ts";

/** Belongs to one session: it knows what that session has seen. Nothing else is kept between calls (S-12). */
export interface MemoryStore {
  /** Without symlinks. */
  readonly workspacePath: string;
  place(): Promise<MemoryPlace>;
  /** Looks without the session having seen it. */
  peek(file: string): Promise<MemoryContent>;
  /** What is read here is what a consolidation may take the place of. */
  read(file: string): Promise<MemoryContent>;
  markSeen(file: MemoryFile, hash: ContentHash): void;
  exists(file: string): Promise<boolean>;
  sizeBytes(file: string): Promise<number>;
  addEntry(file: string, entry: string, options?: WriteOptions): Promise<MemoryOutcome>;
  replace(file: string, old: string, by: string, options?: WriteOptions): Promise<MemoryOutcome>;
  consolidate(file: string, content: string, options?: ConsolidateOptions): Promise<MemoryOutcome>;
  /** Brings back what was there before the last change, or before the change of that number. */
  undo(file: string, options?: { readonly to?: number }): Promise<UndoOutcome>;
  log(): Promise<Journal>;
  /** The base and the two files, read now (S-11). */
  assembleSystemPrompt(base: string): Promise<string>;
}

export interface MemoryContent {
  readonly file: MemoryFile;
  /** Empty where the file is missing. */
  readonly text: string;
  readonly hash: ContentHash;
  readonly sizeBytes: number;
  readonly isThere: boolean;
}

export interface WriteOptions {
  readonly signal?: AbortSignal;
}

export interface ConsolidateOptions extends WriteOptions {
  /** Of what the caller has seen, instead of what was last read through this store. */
  readonly seenHash?: ContentHash;
  readonly isDropConfirmed?: boolean;
}

export type MemoryOutcome =
  | {
      readonly kind: "written" | "unchanged";
      readonly write: MemoryWrite;
      /** In the workspace. */
      readonly path: string;
    }
  | { readonly kind: "refused"; readonly file: MemoryFile; readonly refusal: MemoryRefusal };

export interface MemoryStoreOptions {
  readonly lock?: Partial<LockOptions>;
  readonly journal?: JournalLimits;
  /** Milliseconds since 1970, for the journal. */
  readonly now?: () => number;
}

/** The workspace must be there; nothing is made in it before the first write. */
export async function openMemoryStore(
  workspacePath: string,
  options: MemoryStoreOptions = {},
): Promise<MemoryStore> {
  const root = await openMemoryRoot(workspacePath);
  const context: CommitContext = {
    root,
    lock: { ...defaultLockOptions, ...options.lock },
    limits: options.journal ?? defaultJournalLimits,
    now: options.now ?? Date.now,
  };
  const seen = new Map<MemoryFile, ContentHash>();
  const inTurn = createQueue();

  const peek = async (name: string): Promise<MemoryContent> => {
    const file = parseMemoryFile(name);
    const text = await readNow(root, file);
    const content = text ?? "";
    const sizeBytes = bytesOf(content);
    return { file, text: content, hash: hashContent(content), sizeBytes, isThere: text !== null };
  };

  const write = (
    name: string,
    operation: MemoryOperation,
    { signal, ...told }: ConsolidateOptions = {},
  ): Promise<MemoryOutcome> => {
    const file = parseMemoryFile(name);
    return inTurn(() => {
      const known = { seenHash: seen.get(file), isDropConfirmed: false, ...told, file };
      const within = signal === undefined ? context : withSignal(context, signal);
      return writeOnce(within, operation, known, (hash) => seen.set(file, hash));
    });
  };

  return {
    workspacePath: root.path,
    place: () => findMemoryPlace(root),
    peek,
    read: async (name) => {
      const content = await peek(name);
      seen.set(content.file, content.hash);
      return content;
    },
    markSeen: (file, hash) => void seen.set(file, hash),
    exists: async (name) => (await peek(name)).isThere,
    sizeBytes: async (name) => (await peek(name)).sizeBytes,
    addEntry: (file, entry, how) => write(file, { kind: "add", entry }, how),
    replace: (file, old, by, how) => write(file, { kind: "replace", old, new: by }, how),
    consolidate: (file, content, how) => write(file, { kind: "consolidate", content }, how),
    undo: (name, { to } = {}) => {
      const file = parseMemoryFile(name);
      return inTurn(() => undoChange(context, file, to));
    },
    log: async () => peekJournal(root, (await findMemoryPlace(root)).folder),
    assembleSystemPrompt: async (base) => {
      const [user, workspace] = [await peek("USER.md"), await peek("MEMORY.md")];
      return composeSystemPrompt(base, { user: user.text, workspace: workspace.text });
    },
  };
}

interface Known {
  readonly file: MemoryFile;
  readonly seenHash: ContentHash | undefined;
  readonly isDropConfirmed: boolean;
}

async function writeOnce(
  context: CommitContext,
  operation: MemoryOperation,
  known: Known,
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
  const toPath = (folder: MemoryFolder): string => `${folder}/${file}`;
  if (settled.kind === "stopped") {
    const { before, refusal } = settled.value;
    if (refusal !== null) return { kind: "refused", file, refusal };
    const write = toMemoryWrite(file, operation, { before, after: before, isMerged: false });
    const { folder } = await findMemoryPlace(context.root);
    return { kind: "unchanged", write, path: toPath(folder) };
  }
  const { before, after } = settled;
  const isKnown = before === "" || seenHash === hashContent(before);
  const isMerged = seenHash !== undefined && seenHash !== hashContent(before);
  const write = toMemoryWrite(file, operation, { before, after, isMerged });
  // Whoever had seen what was there knows what is there now.
  if (isKnown) markSeen(write.afterHash);
  return { kind: "written", write, path: toPath(settled.folder) };
}

/** A file that moved to the other folder between the two looks is looked for there. */
async function readNow(root: ScopeRoot, file: MemoryFile): Promise<string | null> {
  const { folder: name } = await findMemoryPlace(root);
  const text = await withFolder(root, [name], false, (folder) =>
    readMemoryText(root, folder, `${name}/${file}`, file),
  );
  if (text !== null || (await findMemoryPlace(root)).folder === name) return text;
  return readNow(root, file);
}

function withSignal(context: CommitContext, signal: AbortSignal): CommitContext {
  return { ...context, lock: { ...context.lock, signal } };
}

/** One after the other within this process; other processes are kept out by the lock. */
function createQueue(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const mine = last.then(work, work);
    last = mine.catch(() => {});
    return mine;
  };
}
