// The store under test, and three that lose memory, to prove that the torture detects it.
import { randomBytes } from "node:crypto";
import { mkdir, open, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { hashContent } from "../../src/core/hash.ts";
import { identifySelf } from "../../src/edge/stores/process-identity.ts";
import { openMemoryStore } from "../../src/edge/files/memory/memory-store.ts";
import type { StoreKind, WriterTask } from "./writer-task.ts";

export interface TorturedStore {
  read(): Promise<string>;
  add(entry: string): Promise<Written | null>;
  /** Null: refused, because another writer wrote after the text was read. */
  consolidate(read: string, content: string): Promise<Written | null>;
}

export interface Written {
  readonly before: string;
  readonly after: string;
}

export function openTortured(task: WriterTask): Promise<TorturedStore> {
  return task.store === "strata" ? openOurs(task) : Promise.resolve(openPlanted(task.store, task));
}

async function openOurs(task: WriterTask): Promise<TorturedStore> {
  const { workspace, lifetimeMs, isElsewhere, name } = task;
  const self = isElsewhere ? { ...identifySelf(), place: `machine of ${name}` } : identifySelf();
  const store = await openMemoryStore(workspace, { lock: { lifetimeMs, waitMsMax: 60_000, self } });
  const settle = async (work: ReturnType<typeof store.addEntry>): Promise<Written | null> => {
    const outcome = await work;
    if (outcome.kind !== "refused") {
      return { before: outcome.write.beforeHash, after: outcome.write.afterHash };
    }
    if (outcome.refusal.kind === "changed-meanwhile") return null;
    throw new Error(`refused: ${outcome.refusal.kind}`);
  };
  return {
    read: async () => (await store.read("MEMORY.md")).text,
    add: (entry) => settle(store.addEntry("MEMORY.md", entry)),
    consolidate: (read, content) =>
      settle(store.consolidate("MEMORY.md", content, { seenHash: hashContent(read) })),
  };
}

/** `plain` overwrites in place, `unlocked` renames without a lock, `unfenced` lets a late holder write. */
function openPlanted(kind: Exclude<StoreKind, "strata">, task: WriterTask): TorturedStore {
  const file = join(task.workspace, ".strata", "MEMORY.md");
  const read = (): Promise<string> => readFile(file, "utf8").catch(() => "");
  const write = async (before: string, after: string): Promise<Written> => {
    // The time a store needs to keep the previous version.
    await wait(5);
    if (kind === "plain") await writeFile(file, after);
    else await replaceWhole(file, after);
    return { before: hashContent(before), after: hashContent(after) };
  };
  const locked = async <T>(work: () => Promise<T>): Promise<T> => {
    await mkdir(dirname(file), { recursive: true });
    if (kind !== "unfenced") return work();
    const lock = join(dirname(file), "lock");
    await takeLockFile(lock, task.lifetimeMs);
    try {
      return await work();
    } finally {
      await rm(lock, { force: true });
    }
  };
  return {
    read,
    add: (entry) =>
      locked(async () => {
        const before = await read();
        return write(before, `${before}${entry}\n`);
      }),
    consolidate: (known, content) =>
      locked(async () => ((await read()) === known ? write(known, content) : null)),
  };
}

async function replaceWhole(file: string, content: string): Promise<void> {
  const temporary = `${file}.${randomBytes(4).toString("hex")}`;
  const handle = await open(temporary, "wx");
  await handle.writeFile(content);
  await handle.sync();
  await handle.close();
  await rename(temporary, file);
}

async function takeLockFile(lock: string, lifetimeMs: number): Promise<void> {
  for (;;) {
    const handle = await open(lock, "wx").catch(() => null);
    if (handle !== null) {
      await handle.writeFile(String(process.pid));
      return handle.close();
    }
    const there = await stat(lock).catch(() => null);
    if (there !== null && Date.now() - there.mtimeMs > lifetimeMs) await rm(lock, { force: true });
    await wait(2 + Math.random() * 10);
  }
}
