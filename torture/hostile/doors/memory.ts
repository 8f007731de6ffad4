// MEMORY.md and USER.md as others left them, and writes with hostile texts: the store, and memory in a session.
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Random } from "../../../harness/random-message.ts";
import { describeRefusal } from "../../../src/core/memory/memory-refusal.ts";
import { openMemorySession } from "../../../src/edge/files/memory/memory-session.ts";
import { openMemoryStore, type MemoryStore } from "../../../src/edge/files/memory/memory-store.ts";
import type { MemoryOutcome } from "../../../src/edge/files/memory/memory-store.ts";
import type { OpenDoor, Outcome } from "../door.ts";
import { mutateText, oddText, pick } from "../mutate.ts";
import { canaryFile, putOddFile, withToolErrors } from "../odd-files.ts";

const sample = "- The build runs with npm run build.\n- Ana likes short answers.\n";
const places = [
  ".strata/MEMORY.md",
  ".strata/USER.md",
  ".metis/MEMORY.md",
  ".strata/memory-journal/1.json",
];

export function open(folder: string): OpenDoor {
  const workspace = join(folder, "workspace");
  const canary = canaryFile(folder);
  return {
    reset: () => {
      rmSync(workspace, { recursive: true, force: true });
      mkdirSync(workspace);
    },
    attempt: (random) => {
      for (const place of places) {
        if (random() < 0.3) putOddFile(random, join(workspace, place), sample, canary);
      }
      return random() < 0.3
        ? readInSession(workspace)
        : withToolErrors(() => change(random, workspace));
    },
  };
}

/** A turn reads memory before every call; a broken file must not end it. */
async function readInSession(workspace: string): Promise<Outcome> {
  const session = await openMemorySession(await openMemoryStore(workspace));
  const sections = [...session.sections, ...(await session.forNextCall())];
  return { isAccepted: true, outputs: sections.map(({ text }) => text) };
}

async function change(random: Random, workspace: string): Promise<Outcome> {
  const store = await openMemoryStore(workspace, { lock: { waitMsMax: 200 } });
  const file = random() < 0.95 ? pick(random, ["MEMORY.md", "USER.md"]) : oddText(random);
  const kind = random();
  if (kind < 0.2) return { isAccepted: true, outputs: [(await store.read(file)).text] };
  if (kind < 0.3) return { isAccepted: true, outputs: [(await store.peek(file)).text] };
  if (kind < 0.4) return { isAccepted: true, outputs: [JSON.stringify(await store.log())] };
  if (kind < 0.5) {
    const undone = await store.undo(
      file,
      random() < 0.5 ? {} : { to: pick(random, [-1, 0, 1, 2, 1e12]) },
    );
    return { isAccepted: undone.kind === "undone", outputs: [JSON.stringify(undone)] };
  }
  return toOutcome(await write(random, store, file));
}

async function write(random: Random, store: MemoryStore, file: string): Promise<MemoryOutcome> {
  const text = random() < 0.5 ? oddText(random) : mutateText(random, "Ana works in Lisbon.");
  const kind = random();
  if (kind < 0.5) return store.addEntry(file, text);
  if (kind < 0.8) return store.replace(file, pick(random, ["Ana", "build", text, ""]), text);
  await store.read(file);
  return store.consolidate(file, text, { isDropConfirmed: random() < 0.5 });
}

function toOutcome(outcome: MemoryOutcome): Outcome {
  if (outcome.kind !== "refused") return { isAccepted: true, outputs: outcome.notes };
  const hint = describeRefusal(outcome.file, outcome.refusal);
  return { isAccepted: false, outputs: [], refusals: [{ code: outcome.refusal.kind, hint }] };
}
