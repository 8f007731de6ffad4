// What a setup will do, did, or took back, for people and as JSON.
import { styleText } from "node:util";
import type { ClientSetup, SetupPlace } from "./client-setup.ts";
import type { PreparedFile, PreparedSetup } from "./prepare-setup.ts";
import { readBytes } from "./settings-file.ts";
import type { SetupRecord } from "./setup-record.ts";

export function renderPrepared(
  { title }: ClientSetup,
  { files, undone, notes }: PreparedSetup,
  { url }: SetupPlace,
): string {
  const changed = files.filter(({ file, bytes }) => readBytes(file)?.equals(bytes) !== true);
  if (changed.length === 0 && undone.length === 0) {
    return [`${title} is set up for ${url} already.`, ...notes, ""].join("\n");
  }
  return [
    `${styleText("bold", title)}, for the gateway at ${url}:`,
    "",
    ...changed.flatMap(renderFile),
    ...undone.map(({ file }) => `${file}: what an earlier setup wrote is taken back`),
    "",
    ...notes,
    "",
  ].join("\n");
}

function renderFile({ file, before, format, changes }: PreparedFile): readonly string[] {
  if (format === null) return [`${file}: new, Strata's own`];
  return [
    `${file}${before === null ? ": new" : ""}`,
    ...changes.map(({ path, ours, theirs }) => {
      const sign = theirs === undefined ? "+" : "~";
      const was = theirs === undefined ? "" : `, instead of ${JSON.stringify(theirs)}`;
      return `  ${sign} ${path.join(".")} = ${JSON.stringify(ours)}${was}`;
    }),
  ];
}

/** One JSON value. */
export function renderDone(
  { name }: ClientSetup,
  { files, notes }: PreparedSetup,
  isWritten: boolean,
): string {
  const shown = files.map(({ file, format, before, changes }) => ({
    file,
    is_new: before === null,
    is_own: format === null,
    changes: changes.map(({ path, ours, theirs }) => ({
      path: path.join("."),
      value: ours,
      instead_of: theirs ?? null,
    })),
  }));
  return `${JSON.stringify({ client: name, written: isWritten, files: shown, notes })}\n`;
}

export function renderUndone(
  { name, title }: ClientSetup,
  { files }: SetupRecord,
  left: readonly string[],
  isJson: boolean,
): string {
  if (isJson) {
    return `${JSON.stringify({ client: name, undone: files.map(({ file }) => file), left })}\n`;
  }
  const all = left.length === 0;
  return [
    all
      ? `${title} is as it was before.`
      : `${title} is as it was before, but for what was changed since:`,
    ...left.map((each) => `  ${each}`),
    "",
  ].join("\n");
}
