// The result of a memory write, as text or JSON.
import type { MemoryFile } from "../../core/memory/memory-file.ts";
import { describeRefusal, type MemoryRefusal } from "../../core/memory/memory-refusal.ts";
import {
  describeWrite,
  metadataOf,
  toMemoryEvents,
  type MemoryWrite,
} from "../../core/memory/memory-write.ts";
import { messageOf, StrataError } from "../../core/strata-error.ts";
import type { MemoryOutcome } from "../../edge/files/memory/memory-store.ts";
import type { CommandInput, Io } from "../command.ts";
import { toJsonLine } from "../ledger/render-ledger.ts";
import { openEvents } from "../../host/ledger/open-events.ts";
import { withStore } from "../../host/ledger/open-ledger.ts";

/** Emits what was written, and returns the exit status; a refusal is an error. */
export async function showOutcome(
  outcome: MemoryOutcome,
  input: CommandInput,
  io: Io,
): Promise<number> {
  if (outcome.kind === "refused") {
    const { file, refusal } = outcome;
    const code = refusal.kind === "changed-meanwhile" ? "conflict" : "input-invalid";
    const hint = hints[refusal.kind] ?? "strata memory show prints the memory";
    throw new StrataError(code, describeRefusal(file, refusal), hint);
  }
  const { kind, write, path, notes } = outcome;
  if (kind === "written") await emitWrite(write, io);
  if (input.switches.has("json")) {
    io.out(toJsonLine({ outcome: kind, path, ...metadataOf(write), notes }));
    return 0;
  }
  io.out(`${describeWrite(write).replaceAll("memory_consolidate", "strata memory consolidate")}\n`);
  for (const note of notes) io.error(`${note}\n`);
  return 0;
}

/** The user said no: not an error, but --json reports it. */
export function showDeclined(file: MemoryFile, input: CommandInput, io: Io): number {
  if (input.switches.has("json")) io.out(toJsonLine({ outcome: "declined", file }));
  io.error("Nothing was changed.\n");
  return 0;
}

const hints: Readonly<Partial<Record<MemoryRefusal["kind"], string>>> = {
  "drop-unconfirmed": "add --yes; strata memory undo takes it back",
  "over-hard-cap": "strata memory show says what there is; nothing was changed",
};

/** The session under which events of these commands are found. */
const sessionId = "strata memory";

/** The write has happened: a ledger that fails is reported and changes nothing. */
async function emitWrite(write: MemoryWrite, io: Io): Promise<void> {
  const events = toMemoryEvents(write);
  if (events === null) return;
  const onNotice = (notice: string): void => io.error(`${notice}\n`);
  try {
    await withStore(
      { env: io.env, store: undefined, onProblem: (problem) => onNotice(messageOf(problem)) },
      async ({ ledger }) => {
        const bus = openEvents({ ledger, onNotice });
        const { updated, eviction } = events;
        const { id } = bus.emit({ type: "memory.updated", sessionId, payload: updated });
        if (eviction !== null) {
          bus.emit({ type: "memory.eviction", sessionId, parentEventId: id, payload: eviction });
        }
        await bus.close();
      },
      () => {},
    );
  } catch (error) {
    onNotice(`the change was made, and its event was not recorded: ${messageOf(error)}`);
  }
}
