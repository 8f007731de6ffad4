// A person's file → its tree or its problems. No content makes it throw.
import { constants } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { homedir } from "node:os";
import type { ConfigNode } from "../../core/config/config-node.ts";
import { hasErrors, type ConfigProblem } from "../../core/config/config-problem.ts";
import { checkFile } from "../../core/config/read-config.ts";
import { parseYaml } from "./parse-yaml.ts";
import { hashConfig, type FileTrust } from "./trusted-files.ts";
import { lookAt, stampOf, type FileStamp } from "./file-stamp.ts";

export interface ConfigFile {
  /** Absolute. */
  readonly path: string;
  /** Found in a workspace, so it may come from another person. */
  readonly isFound: boolean;
  /** Named by the user, so it must exist. */
  readonly isNamed: boolean;
  /** Asked before the content is used, if an agent can write the file. */
  readonly trust?: FileTrust;
  /** An included file of that path, with its own trust; by default it needs none. */
  readonly include?: (path: string) => ConfigFile;
}

export type FileReading =
  | { readonly kind: "absent" }
  /** The text is unchanged. */
  | { readonly kind: "same"; readonly stamp: FileStamp }
  | {
      readonly kind: "read";
      readonly stamp: FileStamp | null;
      /** Null if it could not be read as text. */
      readonly text: string | null;
      /** The tree as written, right or wrong; null if it is not a tree. */
      readonly tree: ConfigNode | null;
      /** The same tree; null if it has an error. */
      readonly root: ConfigNode | null;
      /** Whether the content was refused because it is not trusted. */
      readonly isUntrusted: boolean;
      readonly problems: readonly ConfigProblem[];
    };

/** A configuration is written by hand: more than this is another file. Each line takes time, even an empty one. */
const bytesMax = 1024 * 1024;
const linesMax = 20_000;

export async function readConfigFile(
  file: ConfigFile,
  knownText: string | null = null,
): Promise<FileReading> {
  try {
    // Otherwise a pipe without a writer would never open.
    await using handle = await open(file.path, constants.O_RDONLY | constants.O_NONBLOCK);
    return await readHandle(handle, file, knownText);
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOENT" || code === "ENOTDIR") return { kind: "absent" };
    const stamp = await lookAt(file.path);
    return refuse(file, stamp, `the file cannot be read (${code})`, "check its permissions");
  }
}

async function readHandle(
  handle: FileHandle,
  file: ConfigFile,
  knownText: string | null,
): Promise<FileReading> {
  const stats = await handle.stat({ bigint: true });
  const stamp = stampOf(stats);
  if (!stats.isFile()) return refuse(file, stamp, "the file is not a file", "name a YAML file");
  if (stats.size > bytesMax) {
    const size = `${stats.size} bytes, more than ${bytesMax}`;
    return refuse(file, stamp, `the file has ${size}`, "name the right file, or make it smaller");
  }
  // One byte more than the size: detects a file that grows while it is read.
  const buffer = Buffer.alloc(Number(stats.size) + 1);
  let length = 0;
  while (length < buffer.length) {
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  const text = decode(buffer.subarray(0, length));
  return text !== null && text === knownText
    ? { kind: "same", stamp }
    : parseText(text, file, stamp);
}

function parseText(text: string | null, file: ConfigFile, stamp: FileStamp): FileReading {
  if (text === null) return refuse(file, stamp, "the file is not UTF-8 text", "save it as UTF-8");
  const control = /[^\P{Cc}\t\n\r\u0085]/u.exec(text);
  if (control !== null) {
    return refuse(
      file,
      stamp,
      "the file is not text: it has control characters",
      "name a YAML file",
    );
  }
  const lines = text.split(/\r\n?|\n/).length;
  if (lines > linesMax) {
    const message = `the file has ${lines} lines, more than ${linesMax}`;
    return refuse(file, stamp, message, "name the right file, or make it shorter");
  }
  const refusal = file.trust?.refuse(hashConfig(text)) ?? null;
  if (refusal !== null) {
    const refused = refuse(file, stamp, refusal.message, refusal.hint);
    return { ...refused, text, isUntrusted: true };
  }
  const parsed = parseYaml(text, { file: file.path, isFound: file.isFound });
  const tree = parsed.root;
  const more = tree === null ? [] : checkFile(tree, homedir());
  const problems = [...parsed.problems, ...more];
  const root = hasErrors(problems) ? null : tree;
  return { kind: "read", stamp, text, tree, root, problems, isUntrusted: false };
}

function decode(bytes: Buffer): string | null {
  try {
    return utf8.decode(bytes);
  } catch {
    return null;
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

function refuse(
  { path, isFound }: ConfigFile,
  stamp: FileStamp | null,
  message: string,
  hint: string,
): Extract<FileReading, { readonly kind: "read" }> {
  const origin = { kind: "file", file: path, line: 1, column: 1, isFound } as const;
  const problem = { severity: "error", origin, message, hint } as const;
  const nothing = { text: null, tree: null, root: null, isUntrusted: false };
  return { kind: "read", stamp, ...nothing, problems: [problem] };
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}
