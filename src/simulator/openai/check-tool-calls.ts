// Every tool use needs an output and every output a use; the error texts of the two APIs differ.
import { invalid } from "./api-error.ts";
import type { Item } from "./items.ts";

/** Checks tool uses against outputs, with the error texts of the Responses API. */
export function checkToolCalls(items: readonly Item[]): void {
  const made = new Set<string>();
  const answered = new Set<string>();
  for (const item of items) if (item.kind === "tool output") answered.add(item.callId);
  for (const item of items) {
    if (item.kind === "tool use") {
      made.add(item.callId);
      if (!answered.has(item.callId)) {
        const call = item.isCustom ? "custom tool call" : "function call";
        throw invalid(`No tool output found for ${call} ${item.callId}.`, "input", null);
      }
    }
    if (item.kind === "tool output" && !made.has(item.callId)) {
      const output = item.isCustom ? "custom tool call output" : "function call output";
      const message = `No tool call found for ${output} with call_id ${item.callId}.`;
      throw invalid(message, "input", null);
    }
  }
}
