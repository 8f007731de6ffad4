// strata memory migrate: moves memory from .metis to .strata.
import { migrateMemory, type Migration } from "../../edge/files/memory/migrate-memory.ts";
import type { CommandBody } from "../command.ts";
import { atWorkspace } from "./memory-open.ts";
import { printResult } from "../ledger/render-ledger.ts";

export const run: CommandBody = (input, io) =>
  atWorkspace(input, async (workspacePath) => {
    const migration = await migrateMemory(workspacePath);
    return printResult(input, io, { value: migration, text: render(migration) });
  });

function render({ moved, left }: Migration): string {
  const what =
    moved.length === 0
      ? "There is no memory in .metis; nothing was moved."
      : `Moved ${moved.join(" and ")} to .strata.`;
  const rest = left.length === 0 ? "" : ` Still in .metis: ${left.join(", ")}.`;
  return `${what}${rest}\n`;
}
