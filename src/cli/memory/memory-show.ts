// strata memory show: both files, their size, and warnings.
import { join } from "node:path";
import { memoryCaps, memoryFiles } from "../../core/memory/memory-file.ts";
import { scanMemory } from "../../core/memory/scan-memory.ts";
import type { MemoryPlace } from "../../edge/files/memory/memory-place.ts";
import { openMemorySession } from "../../edge/files/memory/memory-session.ts";
import type { MemoryContent, MemoryStore } from "../../edge/files/memory/memory-store.ts";
import type { CommandBody } from "../command.ts";
import { optionalFileOf, useMemory } from "./memory-open.ts";
import { toJsonLine, toPrintable } from "../ledger/render-ledger.ts";

export const run: CommandBody = (input, io) => {
  const only = optionalFileOf(input);
  return useMemory(input, io, async (store, { userFolder }) => {
    const place = await store.place();
    const everywhere = only === "MEMORY.md" ? null : await readEverywhere(store, userFolder);
    const contents: MemoryContent[] = [];
    for (const file of only === null ? memoryFiles : [only]) {
      contents.push(await store.peek(file));
    }
    if (input.switches.has("json")) {
      const files = contents.map((content) => ({
        ...content,
        ...memoryCaps[content.file],
        warnings: scanMemory(content.text),
      }));
      io.out(toJsonLine({ workspace: store.workspacePath, ...place, files, everywhere }));
      return 0;
    }
    const shown = contents.map((content) => render(content, place));
    io.out([...(everywhere === null ? [] : [renderEverywhere(everywhere)]), ...shown].join("\n"));
    for (const path of place.ignored) {
      io.error(`${path} also exists and is not read; strata memory migrate moves it.\n`);
    }
    return 0;
  });
};

/** The user memory of every workspace, as an agent reads it. */
interface Everywhere {
  readonly path: string;
  readonly text: string;
}

/** Null if no folder is configured for it. */
async function readEverywhere(
  store: MemoryStore,
  userFolder: string | undefined,
): Promise<Everywhere | null> {
  if (userFolder === undefined) return null;
  const { snapshot } = await openMemorySession(store, { globalFolder: userFolder });
  return { path: join(userFolder, "USER.md"), text: snapshot.globalUser ?? "" };
}

function renderEverywhere({ path, text }: Everywhere): string {
  if (text === "") return `${path}, for every workspace, says nothing.\n`;
  return `${path}, for every workspace:\n\n${toPrintable(text.trimEnd())}\n`;
}

function render(
  { file, text, sizeBytes, isThere }: MemoryContent,
  { folder }: MemoryPlace,
): string {
  const { softBytes, hardBytes } = memoryCaps[file];
  const path = `${folder}/${file}`;
  if (!isThere) return `${path} does not exist yet.\n`;
  const over = sizeBytes > hardBytes ? ", over its hard cap" : ", over its soft cap";
  const state = sizeBytes > softBytes ? over : "";
  const head = `${path}: ${sizeBytes} bytes of ${softBytes} (at most ${hardBytes})${state}\n`;
  const body = text.trim() === "" ? "" : `\n${toPrintable(text.trimEnd())}\n`;
  const warnings = scanMemory(text).map(({ what }) => `Warning: it has ${what}.\n`);
  return [head, ...warnings, body].join("");
}
