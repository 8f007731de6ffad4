// The one tool for memory that Claude models were trained with: files below /memories, seen and edited by line and text.
import { toToolDefinition, type ToolDefinition } from "../message/tool-definition.ts";
import { memoryFiles, type MemoryFile } from "./memory-file.ts";

export const memoryCommands = [
  "view",
  "create",
  "str_replace",
  "insert",
  "delete",
  "rename",
] as const;

export type MemoryCommand = (typeof memoryCommands)[number];

const text = { type: "string" } as const;
const line = { type: "integer" } as const;

/** In full, for models that do not know it. Inputs as in @anthropic-ai/sdk 1.8.0, memory_20250818. */
export const memoryToolDefinition: ToolDefinition = toToolDefinition({
  name: "memory",
  description:
    "Memory for later sessions: two small files, /memories/MEMORY.md (facts about this workspace) and /memories/USER.md (facts about the user). One fact in one line. `view` shows the folder or a file with its lines, `create` writes a file that is missing or empty, `str_replace` changes a text that occurs exactly once, `insert` adds text after a line (0 for the start), `delete` empties a file, `rename` moves the text of one file to the other.",
  inputSchema: {
    type: "object",
    properties: {
      command: { type: "string", enum: memoryCommands },
      path: text,
      view_range: { type: "array", items: line },
      file_text: text,
      old_str: text,
      new_str: text,
      insert_line: line,
      insert_text: text,
      old_path: text,
      new_path: text,
    },
    required: ["command"],
    additionalProperties: false,
  },
});

/** Whether a model that knows the tool by its name needs no description of it. */
export function isMemoryTool(tool: ToolDefinition): boolean {
  return (
    tool.name === memoryToolDefinition.name &&
    tool.inputSchemaJson === memoryToolDefinition.inputSchemaJson &&
    tool.description === memoryToolDefinition.description
  );
}

export const memoryRoot = "/memories";

export function toMemoryPath(file: MemoryFile): string {
  return `${memoryRoot}/${file}`;
}

/** Null for every path that is none of the two files. */
export function fileOfMemoryPath(path: string): MemoryFile | null {
  return memoryFiles.find((file) => toMemoryPath(file) === path) ?? null;
}
