// strata memory log: the changes that can be undone.
import { beforeHashOf, type JournalEntry } from "../../core/memory/memory-journal.ts";
import { countBytes } from "../../core/layers/cut-middle.ts";
import type { CommandBody } from "../command.ts";
import { optionalFileOf, useMemory } from "./memory-open.ts";
import { formatTime, toJsonLine } from "../ledger/render-ledger.ts";
import { renderTable, type Column } from "../table.ts";

export const run: CommandBody = (input, io) => {
  const only = optionalFileOf(input);
  return useMemory(input, io, async (store) => {
    const { entries, damaged } = await store.log();
    const shown = entries.filter(({ file }) => only === null || file === only);
    if (input.switches.has("json")) {
      const changes = shown.map((entry) => ({ ...entry, beforeHash: beforeHashOf(entry) }));
      io.out(toJsonLine({ workspace: store.workspacePath, changes, damaged }));
      return 0;
    }
    io.out(shown.length === 0 ? "No changes are kept.\n" : renderTable(columns, shown));
    for (const name of damaged)
      io.error(`memory-journal/${name} cannot be read; it is left out.\n`);
    return 0;
  });
};

const columns: readonly Column<JournalEntry>[] = [
  { title: "change", cell: ({ number }) => String(number), align: "right" },
  { title: "when (UTC)", cell: ({ atMs }) => formatTime(atMs) },
  { title: "file", cell: ({ file }) => file },
  {
    title: "what",
    cell: ({ operation, undoes }) => (undoes === null ? operation : `${operation} of ${undoes}`),
  },
  { title: "bytes before", cell: ({ before }) => String(countBytes(before)), align: "right" },
  { title: "after", cell: ({ afterSizeBytes }) => String(afterSizeBytes), align: "right" },
];
