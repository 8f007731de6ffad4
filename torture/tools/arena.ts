// A workspace with traps, a canary folder beside it that nothing may touch, and a check of the canary.
import { createHash, randomBytes } from "node:crypto";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Places } from "./hostile-inputs.ts";

export interface Arena {
  readonly base: string;
  readonly workspace: string;
  readonly canary: string;
  /** In every canary file and in one file name; no input contains it. */
  readonly marker: string;
  readonly places: Places;
  /** Restores the initial state, except swapped files. */
  restore(): void;
  /** Fingerprint of everything outside the workspace. */
  fingerprint(): string;
  remove(): void;
}

export function makeArena(): Arena {
  const base = mkdtempSync(join(tmpdir(), "strata-tools-"));
  const workspace = join(base, "workspace");
  const canary = join(base, "canary");
  const marker = `CANARY-${randomBytes(12).toString("hex")}`;
  mkdirSync(join(canary, "deep"), { recursive: true });
  for (const name of ["secret.txt", "file.txt", "deep/secret.txt", `hidden-${marker}.txt`]) {
    writeFileSync(join(canary, name), `one ${marker}\n`);
  }
  chmodSync(join(canary, "file.txt"), 0o640);
  const arena = {
    base,
    workspace,
    canary,
    marker,
    places: placesOf(workspace, canary),
    restore: () => fill(workspace, canary),
    fingerprint: () => fingerprintOf(base, workspace),
    remove: () => rmSync(base, { recursive: true, force: true }),
  };
  arena.restore();
  return arena;
}

/** The names the swapper changes. */
export const swapped = { folder: "swap", file: "flip.txt" } as const;

const makePipe = "mkfifo";

function placesOf(workspace: string, canary: string): Places {
  const { folder, file } = swapped;
  return {
    inside: [
      "file.txt",
      "a/b/file.txt",
      "a/file.txt",
      "a",
      "new/file.txt",
      "empty",
      join(workspace, "file.txt"),
      `${folder}/file.txt`,
      `${folder}/deep/secret.txt`,
      file,
    ],
    hostile: [
      folder,
      `${folder}/secret.txt`,
      `${folder}/file.txt`,
      `${folder}/new.txt`,
      `${folder}/deep/new.txt`,
      file,
      "link",
      "link/secret.txt",
      "link/new.txt",
      "link-file.txt",
      "link-up",
      "link-up/canary/secret.txt",
      "a/loop/loop",
      "dangling",
      "pipe",
      "../canary/secret.txt",
      "a/../../canary/new.txt",
      join(canary, "secret.txt"),
      join(canary, "new.txt"),
      `${workspace}/../canary/secret.txt`,
      `${workspace}-other/file.txt`,
    ],
  };
}

function fill(workspace: string, canary: string): void {
  mkdirSync(workspace, { recursive: true });
  for (const name of readdirSync(workspace)) {
    if (!name.startsWith(swapped.folder) && name !== swapped.file) {
      rmSync(join(workspace, name), { recursive: true, force: true });
    }
  }
  for (const name of ["a/b", "empty"]) {
    mkdirSync(join(workspace, name), { recursive: true });
  }
  for (const name of ["file.txt", "a/file.txt", "a/b/file.txt"]) {
    writeFileSync(join(workspace, name), "one\ntwo\nthree\n");
  }
  const links = [
    ["link", canary],
    ["link-file.txt", join(canary, "secret.txt")],
    ["link-up", ".."],
    ["a/loop", "."],
    ["dangling", join(canary, "made-by-a-link.txt")],
  ] as const;
  for (const [name, target] of links) symlinkSync(target, join(workspace, name));
  execFileSync(makePipe, [join(workspace, "pipe")]);
}

function fingerprintOf(base: string, except: string): string {
  const hash = createHash("sha256");
  const visit = (folder: string): void => {
    for (const name of readdirSync(folder).toSorted()) {
      const path = join(folder, name);
      if (path === except) continue;
      const { mode, mtimeMs, ctimeMs, size, ino, nlink } = lstatSync(path);
      const isFolder = (mode & 0o170000) === 0o040000;
      hash.update(JSON.stringify([path, mode, mtimeMs, ctimeMs, size, ino, nlink]));
      if (isFolder) visit(path);
      else hash.update(contentOf(path, mode));
    }
  };
  visit(base);
  return hash.digest("hex");
}

function contentOf(path: string, mode: number): string | Buffer {
  const kind = mode & 0o170000;
  if (kind === 0o120000) return readlinkSync(path);
  return kind === 0o100000 ? readFileSync(path) : "";
}
