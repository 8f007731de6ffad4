// opencode's storage: a folder for each session with a file for each message, and a folder for each message with a file for each part.
import { readdir, readFile, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { parseFields, type Fields } from "../../../core/message/fields.ts";
import type { Recorded } from "../../recording.ts";
import { skip } from "../line-reader.ts";

export interface StoredSession {
  /** The folder of its messages. */
  readonly path: string;
  /** Where the folders of parts are. */
  readonly partsIn: string;
  /** Size of the messages alone. */
  readonly bytes: number;
}

/** The sessions of a folder that is such a storage, or a part of one; null for any other folder. */
export async function findSessions(folder: string): Promise<readonly StoredSession[] | null> {
  const storage = await storageOf(folder);
  if (storage === null) return null;
  const { partsIn, messagesIn, session } = storage;
  const names = session === null ? await namesIn(messagesIn) : [session];
  const found: StoredSession[] = [];
  for (const name of names) {
    const path = join(messagesIn, name);
    const sizes = await Promise.all((await namesIn(path)).map((file) => sizeOf(join(path, file))));
    const bytes = sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
    if (sizes.length > 0) found.push({ path, partsIn, bytes });
  }
  return found;
}

interface Storage {
  readonly messagesIn: string;
  readonly partsIn: string;
  /** The only session that was asked for; null for all. */
  readonly session: string | null;
}

async function storageOf(folder: string): Promise<Storage | null> {
  const places: readonly (readonly [root: string, session: string | null])[] = [
    [folder, null],
    ...(basename(folder) === "message" ? [[dirname(folder), null] as const] : []),
    ...(basename(dirname(folder)) === "message"
      ? [[dirname(dirname(folder)), basename(folder)] as const]
      : []),
  ];
  for (const [root, session] of places) {
    const [messagesIn, partsIn] = [join(root, "message"), join(root, "part")];
    const isStorage = (await isFolder(messagesIn)) && (await isFolder(partsIn));
    const sessions = isStorage ? await namesIn(messagesIn) : [];
    if (sessions.some((name) => name.startsWith("ses_"))) return { messagesIn, partsIn, session };
  }
  return null;
}

/** A session as `opencode export` would write it, and what could not be used of it. */
export async function readSession({
  path,
  partsIn,
}: Pick<StoredSession, "path" | "partsIn">): Promise<{
  readonly line: Fields;
  readonly skipped: readonly Recorded[];
}> {
  const skipped: Recorded[] = [];
  const readAll = async (folder: string): Promise<Fields[]> => {
    const values: Fields[] = [];
    for (const name of await namesIn(folder)) {
      const file = join(folder, name);
      // A pipe would never end.
      const isThere = (await sizeOf(file)) !== null;
      const value = isThere ? parseFields(await readFile(file, "utf8")) : undefined;
      if (value === undefined) skipped.push(skip(file, null, "it is not a JSON object"));
      else values.push(value);
    }
    return values;
  };
  const messages: Fields[] = [];
  for (const info of await readAll(path)) {
    const { id } = info;
    const isName = typeof id === "string" && id === basename(id) && id !== "..";
    const parts = isName ? await readAll(join(partsIn, id)) : [];
    messages.push({ info, parts });
  }
  return { line: { info: { id: basename(path) }, messages }, skipped };
}

/** In code-unit order, which is that of time. None for a folder that is not there. */
async function namesIn(folder: string): Promise<readonly string[]> {
  if (!(await isFolder(folder))) return [];
  return (await readdir(folder)).toSorted((left, right) => (left < right ? -1 : 1));
}

/** Null if it is not a file. */
async function sizeOf(path: string): Promise<number | null> {
  return stat(path).then(
    (facts) => (facts.isFile() ? facts.size : null),
    () => null,
  );
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (facts) => facts.isDirectory(),
    () => false,
  );
}
