// strata ledger restore: a backup of JSON lines, into an empty ledger of either kind.
import { restoreLedger } from "../../edge/stores/restore-ledger.ts";
import { formatCount } from "../../replay/format-figures.ts";
import type { CommandBody } from "../command.ts";
import { openLines } from "../read-lines.ts";
import { printResult } from "./render-ledger.ts";
import { useMadeLedger } from "../use-ledger.ts";
import { randomBytes } from "node:crypto";
import { fstatSync, statSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StrataError } from "../../core/strata-error.ts";
import { removeAtEnd } from "../../edge/stores/remove-at-end.ts";
import { isSystemError } from "../../edge/stores/system-error.ts";
import { writeLines } from "../write-lines.ts";

export const run: CommandBody = async (input, io) => {
  const [file = ""] = input.operands;
  const lines = await openLines(file);
  return useMadeLedger(input, io, async ({ ledger, database }, place) => {
    const { schema } = await ledger.stats();
    await using settled = await settleLines(file, lines);
    const restored = await restoreLedger(database, schema, settled.lines);
    return printResult(input, io, {
      value: { store: place.name, ...restored },
      text: `${place.name} has ${formatCount(restored.sessions, "session")} now, in ${formatCount(restored.rows, "row")}. strata ledger check looks at all of them.\n`,
    });
  });
};

interface SettledLines extends AsyncDisposable {
  readonly lines: AsyncIterable<string>;
}

/** A file is read directly; anything else from a private copy, which is deleted on dispose. */
async function settleLines(file: string, lines: AsyncIterable<string>): Promise<SettledLines> {
  const found = file === "-" ? fstatSync(0) : statSync(file);
  if (found.isFile()) return { lines, [Symbol.asyncDispose]: () => Promise.resolve() };
  const folder = join(tmpdir(), `strata-lines-${randomBytes(8).toString("hex")}`);
  const stop = removeAtEnd([folder]);
  const remove = async (): Promise<void> => {
    await rm(folder, { recursive: true, force: true });
    stop();
  };
  const copy = join(folder, "lines");
  try {
    await mkdir(folder, { mode: 0o700 });
    await writeLines(copy, lines);
    return { lines: await openLines(copy), [Symbol.asyncDispose]: remove };
  } catch (error) {
    await remove();
    throw isSystemError(error) ? cannotKeep(folder, error) : error;
  }
}

function cannotKeep(folder: string, cause: NodeJS.ErrnoException): StrataError {
  return new StrataError(
    "environment-unfit",
    `standard input cannot be stored in ${folder}: ${cause.message}`,
    "free some disk space, or set TMPDIR to a folder with space; nothing was restored",
    { cause },
  );
}
