// strata ledger backup: everything as of one moment, while others go on writing.
import { statSync } from "node:fs";
import type { OpenStore } from "../../edge/stores/open-store.ts";
import { copySqlite } from "../../edge/stores/copy-sqlite.ts";
import { dumpLedger } from "../../edge/stores/dump-ledger.ts";
import { ledgerFiles } from "../../edge/stores/open-ledger.ts";
import { isSqlite } from "../../edge/stores/sqlite/open-sqlite.ts";
import { writePrivateFile } from "../../edge/stores/write-private-file.ts";
import type { CommandBody } from "../command.ts";
import { createProgress } from "../progress.ts";
import { formatBytes, printResult } from "./render-ledger.ts";
import type { LedgerPlace } from "../../host/ledger/ledger-place.ts";
import { useLedger } from "../use-ledger.ts";
import { writeLines } from "../write-lines.ts";

export const run: CommandBody = (input, io) =>
  useLedger(input, io, async (store, place) => {
    const [file = ""] = input.operands;
    const { database } = store;
    const force = input.switches.has("force");
    const progress = createProgress(io, "copied");
    const format = isSqlite(database) && !/\.jsonl$/i.test(file) ? "sqlite" : "jsonl";
    if (format === "sqlite" && isSqlite(database)) {
      await copySqlite({
        source: database,
        target: file,
        force,
        onProgress: (done, total) => progress.update(done, total),
      });
    } else {
      await dumpTo(file, force, store, place);
    }
    progress.end();
    const { size: bytes } = statSync(file);
    const kind =
      format === "sqlite"
        ? "a SQLite file; to restore it, copy it to where the ledger was while no program uses it"
        : "JSON lines; strata ledger restore puts them into an empty ledger of either kind";
    return printResult(input, io, {
      value: { store: place.name, file, format, bytes },
      text: `${file}, ${formatBytes(bytes)}, holds all of ${place.name} as ${kind}.\n`,
    });
  });

async function dumpTo(
  file: string,
  force: boolean,
  { database }: OpenStore,
  { where }: LedgerPlace,
): Promise<void> {
  await writePrivateFile(file, { force, except: ledgerFiles(where) }, (unfinished) =>
    database.snapshot((snapshot) => writeLines(unfinished, dumpLedger(snapshot))),
  );
}
