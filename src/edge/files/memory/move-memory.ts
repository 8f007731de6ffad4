// The steps of a move between two locked folders, and the cleanup of an interrupted one.
import { link, lstat, unlink } from "node:fs/promises";
import { hashContent } from "../../../core/hash.ts";
import { memoryBytesMax, memoryFiles, type MemoryFile } from "../../../core/memory/memory-file.ts";
import { ToolError } from "../../../core/tools/tool.ts";
import { hasCode, unlessMissing } from "../guard/scoped-failure.ts";
import { entryName, readJournal } from "./journal-files.ts";
import type { LockedMemory } from "./locked-memory.ts";
import * as markers from "./move-marker.ts";

/**
 * Cleans up a move that a crash interrupted: reverts an incomplete one, finishes a complete one. Returns the
 * files it moved.
 */
export async function finishMove(
  from: LockedMemory,
  to: LockedMemory,
): Promise<readonly MemoryFile[]> {
  const marker = await markers.readMarker(to.journal);
  if (marker === null) return [];
  const isMoving = marker.stage === "moving";
  await (isMoving ? removeCopies(to, from, marker) : removeCopies(from, to, marker));
  await markers.removeMarker(to.journal);
  return isMoving ? [] : marker.files.map(({ file }) => file);
}

export async function moveAll(
  from: LockedMemory,
  to: LockedMemory,
): Promise<readonly MemoryFile[]> {
  const files: markers.MovedFile[] = [];
  let isMemoryThere = false;
  for (const file of memoryFiles) {
    const other = await hashIn(to, file);
    isMemoryThere ||= other !== null;
    const hash = await hashIn(from, file);
    if (hash === null) continue;
    if (other !== null && other !== hash) throw inBoth(file);
    files.push({ file, hash });
  }
  const kept = await readJournal(to.journal);
  const isFree = kept.entries.length === 0 && kept.damaged.length === 0;
  const entries = isFree ? (await readJournal(from.journal)).entries.map(entryName) : [];
  // If the new folder already is memory, it stays so. Otherwise the old one counts until everything is copied.
  const marker: markers.MoveMarker = { stage: isMemoryThere ? "moved" : "moving", files, entries };
  if (!(await markers.placeMarker(to.journal, to.lock, marker))) throw lostLock();
  for (const name of entries) await copyFile(from, to, name, "journal");
  for (const { file } of files) await copyFile(from, to, file, "folder");
  await Promise.all([to.journal.sync(), to.folder.sync()]);
  // Uses the old folder's lock: if others took that and wrote there, nothing has moved.
  const moved: markers.MoveMarker = { ...marker, stage: "moved" };
  if (!isMemoryThere && !(await markers.placeMarker(to.journal, from.lock, moved)))
    throw lostLock();
  await removeCopies(from, to, moved);
  await markers.removeMarker(to.journal);
  return files.map(({ file }) => file);
}

/** Never replaces a file: unlike a rename, a link fails if the target exists. */
async function copyFile(
  from: LockedMemory,
  to: LockedMemory,
  name: string,
  where: "folder" | "journal",
): Promise<void> {
  try {
    await link(from[where].at(name), to[where].at(name));
  } catch (error) {
    // Checked before: it has the same text.
    if (hasCode(error, "EEXIST")) return;
    if (!hasCode(error, "EPERM", "ENOTSUP", "ENOSYS", "EMLINK")) throw error;
    await copyBytes(from, to, name, where);
  }
}

/** For file systems without links. */
async function copyBytes(
  from: LockedMemory,
  to: LockedMemory,
  name: string,
  where: "folder" | "journal",
): Promise<void> {
  const content = await from[where].read(name, bytesMax);
  const stats = await lstat(from[where].at(name)).catch(unlessMissing);
  if (content === null || stats === null) return;
  const isStaged = await to.lock.stage(name, content.bytes, stats.mode & 0o777);
  if (!isStaged || !to.lock.commit(name, to[where].at(name))) throw lostLock();
}

/** Removes only what the move covers, and only if the other folder has it. */
async function removeCopies(
  leftover: LockedMemory,
  kept: LockedMemory,
  { stage, files, entries }: markers.MoveMarker,
): Promise<void> {
  for (const { file, hash } of files) {
    const isCopy = (await hashIn(leftover, file)) === hash;
    if (isCopy && (await hashIn(kept, file)) !== null) await unlink(leftover.folder.at(file));
  }
  for (const name of entries) {
    // During a move, every entry in the new journal is a copy, even if the original was dropped meanwhile.
    const other = stage === "moving" || (await lstat(kept.journal.at(name)).catch(unlessMissing));
    if (other !== null) await unlink(leftover.journal.at(name)).catch(unlessMissing);
  }
  await Promise.all([leftover.folder.sync(), leftover.journal.sync()]);
}

/** An entry is the largest text in its JSON spelling. */
const bytesMax = 7 * memoryBytesMax;

async function hashIn({ name, folder }: LockedMemory, file: MemoryFile): Promise<string | null> {
  const content = await folder.read(file, bytesMax);
  if (content === null) return null;
  if (content.size <= bytesMax) return hashContent(content.bytes);
  throw new ToolError(
    "execution_error",
    `${name}/${file} has ${content.size} bytes, far more than memory may hold; nothing was moved`,
    { isUserVisible: true },
  );
}

function lostLock(): ToolError {
  return new ToolError(
    "execution_error",
    "others took the lock away while memory moved; try again",
  );
}

function inBoth(file: MemoryFile): ToolError {
  return new ToolError(
    "validation_error",
    `${file} is in .metis and in .strata, and they differ; nothing was moved. Make one of the two by hand, and remove the one in .metis`,
    { isUserVisible: true },
  );
}
