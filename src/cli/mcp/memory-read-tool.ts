// memory_read: an MCP client has no memory in its prompt, so it asks for it. What it read, it may consolidate.
import { memoryCaps, memoryFiles } from "../../core/memory/memory-file.ts";
import { ofStrata, type Tool } from "../../core/tools/tool.ts";
import type { MemoryStore } from "../../edge/files/memory/memory-store.ts";
import { textOf, toObjectDefinition } from "../../edge/tools/scoped-tool.ts";

export function memoryReadTool(store: MemoryStore): Tool {
  return ofStrata({
    definition: toObjectDefinition(
      "memory_read",
      "Reads MEMORY.md (facts about this workspace) or USER.md (facts about the user), with its size and caps.",
      { file: { type: "string", enum: memoryFiles } },
      ["file"],
    ),
    needs: [],
    sideEffects: "read",
    run: async (input) => {
      const { file, text, sizeBytes } = await store.read(textOf(input, "file"));
      const { softBytes, hardBytes } = memoryCaps[file];
      const size = `${file}: ${sizeBytes} bytes; soft cap ${softBytes}, hard cap ${hardBytes}`;
      return { text: text === "" ? `${size}; it is empty` : `${size}\n\n${text}` };
    },
  });
}
