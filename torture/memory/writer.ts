// A process that writes memory until it is killed. Reports on stdout before and after each write.
import { randomBytes } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { createRandom } from "../../harness/random-message.ts";
import { reportEvent } from "../../harness/worker-process.ts";
import { checkText, makeEntry } from "./entry.ts";
import { openTortured } from "./stores.ts";
import type { WriterEvent, WriterTask } from "./writer-task.ts";

const report: (event: WriterEvent) => void = reportEvent;

try {
  await write(JSON.parse(process.argv[2] ?? "") as WriterTask);
} catch (error) {
  report({ at: "problem", message: error instanceof Error ? String(error.stack) : String(error) });
  process.exit(1);
}

async function write(task: WriterTask): Promise<void> {
  const store = await openTortured(task);
  const random = createRandom(task.seed);
  report({ at: "ready" });
  for (let n = 1; ; n += 1) {
    const text = await store.read();
    const { entries } = checkText(text);
    if (entries.length >= task.entriesMax) {
      report({ at: "full" });
      await wait(20);
      continue;
    }
    const entry = random() < 0.85 ? makeEntry(task.name, n) : null;
    report({ at: "try", n, entry });
    const written =
      entry === null
        ? await store.consolidate(text, shuffled(entries, random))
        : await store.add(entry);
    if (written === null) report({ at: "refused", n });
    else report({ at: "done", n, entry, ...written });
    if (random() < 0.3) await wait(random() * 10);
  }
}

/** Every entry in another order, below a unique line. */
function shuffled(entries: readonly string[], random: () => number): string {
  const mixed = entries
    .map((entry) => ({ entry, at: random() }))
    .toSorted((left, right) => left.at - right.at);
  return `# ${randomBytes(8).toString("hex")}\n${mixed.map(({ entry }) => `${entry}\n`).join("")}`;
}
