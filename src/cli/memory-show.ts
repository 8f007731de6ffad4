// strata memory show: both files, how full they are, and what in them is odd.
import { memoryCaps, memoryFiles } from "../core/memory/memory-file.ts";
import { scanMemory } from "../core/memory/scan-memory.ts";
import type { MemoryPlace } from "../edge/stores/memory/memory-place.ts";
import type { MemoryContent } from "../edge/stores/memory/memory-store.ts";
import type { CommandBody } from "./command.ts";
import { optionalFileOf, useMemory } from "./memory-open.ts";
import { toJsonLine, toPrintable } from "./render-ledger.ts";

export const run: CommandBody = (input, io) => {
  const only = optionalFileOf(input);
  return useMemory(input, async (store) => {
    const place = await store.place();
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
      io.out(toJsonLine({ workspace: store.workspacePath, ...place, files }));
      return 0;
    }
    io.out(contents.map((content) => render(content, place)).join("\n"));
    for (const path of place.ignored) {
      io.error(`${path} is there, too, and is not read; strata memory migrate moves it.\n`);
    }
    return 0;
  });
};

function render(
  { file, text, sizeBytes, isThere }: MemoryContent,
  { folder }: MemoryPlace,
): string {
  const { softBytes, hardBytes } = memoryCaps[file];
  const path = `${folder}/${file}`;
  if (!isThere) return `${path} is not there yet.\n`;
  const over = sizeBytes > hardBytes ? ", over its hard cap" : ", over its soft cap";
  const state = sizeBytes > softBytes ? over : "";
  const head = `${path}: ${sizeBytes} bytes of ${softBytes} (at most ${hardBytes})${state}\n`;
  const body = text.trim() === "" ? "" : `\n${toPrintable(text.trimEnd())}\n`;
  const warnings = scanMemory(text).map(({ what }) => `Warning: it has ${what}.\n`);
  return [head, ...warnings, body].join("");
}
