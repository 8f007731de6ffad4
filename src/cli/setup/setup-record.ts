// What a setup changed, kept in the data directory so that it can be undone: the bytes before, and each setting.
import { createHash } from "node:crypto";
import { join } from "node:path";
import { countIn, fieldsOf, listIn, parseFields, textIn } from "../../core/message/fields.ts";
import { StrataError } from "../../core/strata-error.ts";
import type { FormatName } from "./client-setup.ts";
import { readBytes, writeBytes } from "./settings-file.ts";

export interface SetupRecord {
  readonly files: readonly ChangedFile[];
}

export interface ChangedFile {
  readonly file: string;
  /** Null if there was none. */
  readonly before: Buffer | null;
  /** Of the bytes that were written. */
  readonly hash: string;
  /** Null for a file that is ours alone. */
  readonly format: FormatName | null;
  readonly changes: readonly Change[];
  /** Folders that were made for it, the outermost first. */
  readonly folders: readonly string[];
}

export interface Change {
  readonly path: readonly string[];
  readonly ours: unknown;
  /** Undefined if nothing stood there. */
  readonly theirs: unknown;
  /** How many names of the path stood there before. */
  readonly depth: number;
}

export function hashOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** One for each folder of settings that a client has on this machine. */
export function recordFile(dataDirectory: string, client: string, folder: string): string {
  const name = `${client}-${hashOf(Buffer.from(folder)).slice(0, 8)}.json`;
  return join(dataDirectory, "setup", name);
}

/** Null if nothing was set up. */
export function readRecord(file: string): SetupRecord | null {
  const bytes = readBytes(file);
  if (bytes === null) return null;
  const fields = parseFields(bytes.toString("utf8"));
  if (fields?.["version"] !== 1) {
    throw new StrataError(
      "config-invalid",
      `${file}, which says what setup changed, cannot be read`,
      "it holds the bytes of before as base64: put them back by hand, and delete it",
    );
  }
  return { files: listIn(fields, "files").map(toChangedFile) };
}

/** It may hold what the settings hold, so only its owner may read it. */
export function keepRecord(file: string, { files }: SetupRecord): void {
  const value = {
    version: 1,
    files: files.map(({ before, ...rest }) => ({
      ...rest,
      before: before?.toString("base64") ?? null,
      changes: rest.changes.map(({ theirs, ...change }) =>
        theirs === undefined ? change : { ...change, theirs },
      ),
    })),
  };
  writeBytes(file, Buffer.from(`${JSON.stringify(value, null, 2)}\n`));
}

function toChangedFile(value: unknown): ChangedFile {
  const fields = fieldsOf(value);
  const before = textIn(fields, "before");
  const format = (["json", "toml", "env"] as const).find((each) => each === fields["format"]);
  return {
    file: textIn(fields, "file") ?? "",
    before: before === undefined ? null : Buffer.from(before, "base64"),
    hash: textIn(fields, "hash") ?? "",
    format: format ?? null,
    changes: listIn(fields, "changes").map(toChange),
    folders: listIn(fields, "folders").map(String),
  };
}

function toChange(value: unknown): Change {
  const fields = fieldsOf(value);
  return {
    path: listIn(fields, "path").map(String),
    ours: fields["ours"],
    theirs: fields["theirs"],
    depth: countIn(fields, "depth") ?? 0,
  };
}
