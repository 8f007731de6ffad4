// A memory write at the command line, as events in the ledger. Where there is no ledger, there is nothing to keep them in.
import { toMemoryEvents, type MemoryWrite } from "../../core/memory/memory-write.ts";
import { messageOf } from "../../core/strata-error.ts";
import { openEvents } from "../../host/ledger/open-events.ts";
import { withStore } from "../../host/ledger/open-ledger.ts";
import type { Io } from "../command.ts";

/** The session under which events of these commands are found. */
const sessionId = "strata memory";

/** The write has happened: a ledger that fails is reported and changes nothing. */
export async function emitWrite(write: MemoryWrite, io: Io): Promise<void> {
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
