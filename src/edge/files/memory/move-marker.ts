// Records a move from `.metis` to `.strata` before it starts, so that a crash leaves memory in one place.
import { unlink } from "node:fs/promises";
import { memoryFiles, type MemoryFile } from "../../../core/memory/memory-file.ts";
import type { ContentHash } from "../../../core/hash.ts";
import { isObject, listIn, parseFields } from "../../../core/message/fields.ts";
import { unlessMissing } from "../guard/scoped-failure.ts";
import type { ScopedContent, ScopedFiles } from "../guard/scoped-files.ts";
import type { ScopeRoot } from "../guard/scoped-folder.ts";
import type { HeldLock } from "./folder-lock.ts";
import { withFolder, type HeldFolder } from "./held-folder.ts";
import { isEntryName, journalFolder } from "./journal-files.ts";

/** In the journal of `.strata`. The move, and nothing else, put there everything it names. */
export interface MoveMarker {
  /** `moving`: memory is still in `.metis`. `moved`: it is in `.strata`, and the rest in `.metis` can go. */
  readonly stage: "moving" | "moved";
  readonly files: readonly MovedFile[];
  /** Names of journal entries. */
  readonly entries: readonly string[];
}

export interface MovedFile {
  readonly file: MemoryFile;
  /** The hash of its bytes at the move. A different text in either place is later work. */
  readonly hash: ContentHash;
}

export async function isMoving(root: ScopeRoot): Promise<boolean> {
  const marker = await withFolder(root, [".strata", journalFolder], false, readMarker).catch(
    () => null,
  );
  return marker?.stage === "moving";
}

/** The same for callers that read the workspace's files by path. */
export async function isMovingIn(files: Pick<ScopedFiles, "readFile">): Promise<boolean> {
  const path = `.strata/${journalFolder}/${markerName}`;
  const content = await files.readFile(path, { bytesMax: markerBytesMax }).catch(() => null);
  return content !== null && toMarker(content)?.stage === "moving";
}

/** Null if no move was begun, or if the marker is unreadable. */
export async function readMarker(journal: HeldFolder | null): Promise<MoveMarker | null> {
  const content = (await journal?.read(markerName, markerBytesMax)) ?? null;
  return content === null ? null : toMarker(content);
}

/** Atomic, and on disk before anything else happens. False: the lock was lost, and nothing happened. */
export async function placeMarker(
  journal: HeldFolder,
  lock: HeldLock,
  marker: MoveMarker,
): Promise<boolean> {
  if (!(await lock.stage(markerName, `${JSON.stringify(marker)}\n`, 0o600))) return false;
  if (!lock.commit(markerName, journal.at(markerName))) return false;
  await journal.sync();
  return true;
}

export async function removeMarker(journal: HeldFolder): Promise<void> {
  await unlink(journal.at(markerName)).catch(unlessMissing);
  await journal.sync();
}

const markerName = "move.json";

const markerBytesMax = 65_536;

function toMarker({ bytes }: ScopedContent): MoveMarker | null {
  const value = parseFields(new TextDecoder().decode(bytes));
  if (value === undefined) return null;
  const { stage } = value;
  if (stage !== "moving" && stage !== "moved") return null;
  return {
    stage,
    files: listIn(value, "files").flatMap(toMovedFile),
    entries: listIn(value, "entries")
      .filter((name) => typeof name === "string")
      .filter(isEntryName),
  };
}

function toMovedFile(value: unknown): readonly MovedFile[] {
  if (!isObject(value)) return [];
  const file = memoryFiles.find((known) => known === value["file"]);
  const { hash } = value;
  return file === undefined || typeof hash !== "string" ? [] : [{ file, hash }];
}
