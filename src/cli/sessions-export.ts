// strata sessions export: a session with all it stands on, as JSON lines.
import { open } from "node:fs/promises";
import { StrataError } from "../core/strata-error.ts";
import { isSqlite } from "../edge/stores/sqlite/open-sqlite.ts";
import { writePrivateFile } from "../edge/stores/write-private-file.ts";
import { formatCount } from "../replay/page/format-figures.ts";
import type { CommandBody } from "./command.ts";
import { needSession } from "./need-session.ts";
import { toJsonLine } from "./render-ledger.ts";
import { useLedger } from "./use-ledger.ts";

export const run: CommandBody = (input, io) => {
  const [id = ""] = input.operands;
  const file = input.values.get("out");
  const isJson = input.switches.has("json");
  const force = input.switches.has("force");
  if (file === undefined && (isJson || force)) throw withoutFile(isJson ? "--json" : "--force");
  return useLedger(input, io, async ({ ledger, database }, place) => {
    await needSession(ledger, id, place);
    const { where } = place;
    if (file === undefined) {
      for await (const line of ledger.exportSession(id)) io.out(`${line}\n`);
      return 0;
    }
    const except = isSqlite(database) ? [where, `${where}-wal`, `${where}-shm`] : [];
    const count = await writePrivateFile(file, { force, except }, (unfinished) =>
      writeLines(unfinished, ledger.exportSession(id)),
    );
    io.out(
      isJson
        ? toJsonLine({ session: id, file, lines: count })
        : `${file} holds session ${id} in ${formatCount(count, "line")}.\n`,
    );
    return 0;
  });
};

export async function writeLines(file: string, lines: AsyncIterable<string>): Promise<number> {
  await using handle = await open(file, "w", 0o600);
  let count = 0;
  let waiting = "";
  for await (const line of lines) {
    count += 1;
    waiting += `${line}\n`;
    if (waiting.length < charactersPerWrite) continue;
    await handle.writeFile(waiting);
    waiting = "";
  }
  await handle.writeFile(waiting);
  return count;
}

const charactersPerWrite = 256 * 1024;

function withoutFile(option: string): StrataError {
  return new StrataError(
    "usage",
    `${option} is about a file, and there is no --out`,
    "add --out FILE; without it the export itself is printed",
  );
}
