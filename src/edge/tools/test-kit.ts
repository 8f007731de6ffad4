// For tests: a working folder, tools to dispatch, and their results.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Message, ToolUseBlock } from "../../core/message/message.ts";
import type { Tool } from "../../core/tools/tool.ts";
import { openScope, type ScopedFiles } from "../files/guard/scoped-files.ts";
import type { DispatchContext } from "./dispatch/dispatch-options.ts";
import type { Dispatcher } from "./dispatch/dispatcher.ts";
import { toObjectDefinition } from "./scoped-tool.ts";

export interface TestWorkspace {
  readonly root: string;
  readonly files: ScopedFiles;
  remove(): void;
}

export async function makeWorkspace(): Promise<TestWorkspace> {
  const root = mkdtempSync(join(tmpdir(), "strata-tools-"));
  const remove = (): void => rmSync(root, { recursive: true, force: true });
  return { root, files: await openScope(root), remove };
}

/** Takes `{ text }` and runs the given function. */
export function toolOf(
  name: string,
  run: Tool["run"],
  parts: Partial<Omit<Tool, "run">> = {},
): Tool {
  const definition = toObjectDefinition(name, "A tool.", { text: { type: "string" } }, []);
  return { definition, needs: [], sideEffects: "none", run, ...parts };
}

let lastUse = 0;

export function useOf(name: string, input: unknown = {}): ToolUseBlock {
  lastUse += 1;
  const inputJson = typeof input === "string" ? input : JSON.stringify(input);
  return { type: "tool_use", id: `tu_${lastUse}`, name, inputJson };
}

export const context: DispatchContext = { sessionId: "s1", turnId: "t1", role: "unified" };

/** The text the model reads, with "error: " before an error. */
export function textOf(message: Message | undefined): string {
  const block = message?.content[0];
  if (block?.type !== "tool_result") return "(no result)";
  const [first] = block.content;
  return (block.isError ? "error: " : "") + (first?.type === "text" ? first.text : "(no text)");
}

export async function runOne(
  dispatcher: Dispatcher,
  name: string,
  input: unknown = {},
  where: DispatchContext = context,
): Promise<string> {
  const [message] = await dispatcher.runAll([useOf(name, input)], where);
  return textOf(message);
}
