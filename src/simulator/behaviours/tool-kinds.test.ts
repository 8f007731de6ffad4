import { expect, test } from "vitest";
import { kindOf, type ToolKind } from "./tool-kinds.ts";

// Names and properties as clients offer them (clients.md, 2026-11-15).
test.each<[string, string, ToolKind]>([
  ["Read", "file_path offset limit", "read"],
  ["read", "path offset limit", "read"],
  ["read_file", "absolute_path", "read"],
  ["view", "filePath", "read"],
  ["mcp__files__read_text_file", "path", "read"],
  ["view_image", "path", "unsafe"],
  ["ReadMcpResourceTool", "server uri", "other"],
  ["Glob", "pattern path", "list"],
  ["ls", "path", "list"],
  ["list", "path", "list"],
  ["list_directory", "dir_path", "list"],
  ["find_files", "pattern", "list"],
  ["Grep", "pattern path output_mode", "search"],
  ["search_file_content", "pattern", "search"],
  ["codebase_search", "query", "search"],
  ["WebSearch", "query", "unsafe"],
  ["ToolSearch", "query max_results", "unsafe"],
  ["Bash", "command description timeout run_in_background", "shell"],
  ["bash", "command timeout", "shell"],
  ["shell", "command workdir timeout_ms", "shell"],
  ["exec_command", "cmd yield_time_ms", "shell"],
  ["run_shell_command", "command description", "shell"],
  ["Bash", "path", "unsafe"],
  ["BashOutput", "bash_id", "other"],
  ["KillShell", "shell_id", "unsafe"],
  ["write_stdin", "session_id chars", "unsafe"],
  ["Write", "file_path content", "unsafe"],
  ["Edit", "file_path old_string new_string", "unsafe"],
  ["MultiEdit", "file_path edits", "unsafe"],
  ["NotebookEdit", "notebook_path", "unsafe"],
  ["Task", "prompt", "unsafe"],
  ["TodoWrite", "todos", "unsafe"],
  ["WebFetch", "url", "unsafe"],
  ["delete_file", "path", "unsafe"],
  ["AskUserQuestion", "questions", "unsafe"],
  ["get_weather", "city", "other"],
  ["json", "answer", "other"],
  ["search_orders", "query", "other"],
  ["get_task", "task_id", "other"],
  ["history_read", "turn", "unsafe"],
  ["run_task", "task_id", "unsafe"],
  ["forget_memory", "id", "unsafe"],
])("%s(%s) is %s", (name, properties, kind) => {
  const inputSchema = {
    type: "object",
    properties: Object.fromEntries(properties.split(" ").map((each) => [each, {}])),
  };
  expect(kindOf({ name, description: "", inputSchema })).toBe(kind);
});

test.each<[string, ToolKind]>([
  ["content", "unsafe"],
  ["newText", "unsafe"],
  ["message", "unsafe"],
  ["invoice_id", "other"],
])("a tool without a telling name that must be given %s is %s", (property, kind) => {
  const properties = { [property]: { type: "string" } };
  const inputSchema = { type: "object", properties, required: [property] };
  expect(kindOf({ name: "ledger_entry", description: "", inputSchema })).toBe(kind);
});

test.each<[string, string, ToolKind]>([
  ["exec", "Runs raw JavaScript; `tools` has the rest.", "script"],
  ["exec", "", "script"],
  ["apply_patch", "Edits files.", "unsafe"],
  ["freeform", "Takes JavaScript.", "unsafe"],
])("%s with free text (%s) is %s", (name, description, kind) => {
  expect(kindOf({ name, description, inputSchema: null })).toBe(kind);
});
