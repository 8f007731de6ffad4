// Tools of the tests: one that reads files which do not exist, and one that is no reader.
import { toToolDefinition } from "../../src/core/message/tool-definition.ts";
import type { Tool } from "../../src/core/tools/tool.ts";
import { lastUserText } from "../../src/simulator/behaviours/summariser.ts";
import type { Model } from "../../src/simulator/index.ts";
import { callsTool, isAsked, reply, thinking, words } from "./speakers.ts";

/** Gives back about so many tokens about a path. */
export function fileTool(name: string): Tool {
  return {
    definition: toToolDefinition({
      name,
      description: "Shows a file of the workspace.",
      inputSchema: {
        type: "object",
        properties: { path: { type: "string" }, tokens: { type: "integer" } },
        required: ["path", "tokens"],
        additionalProperties: false,
      },
    }),
    needs: [],
    sideEffects: "read",
    outputBytesMax: 1_000_000,
    run: ({ path, tokens }) =>
      Promise.resolve({ text: fileText(String(path), typeof tokens === "number" ? tokens : 0) }),
  };
}

export function fileText(path: string, tokens: number): string {
  return `${path}\n${words(tokens, path)}\nend of ${path}`;
}

export interface Reading {
  /** Calls with tools before it answers. */
  readonly steps: number;
  /** Size of each result. */
  readonly tokens: number;
  readonly tool?: string;
  /** Tools it asks for at once. */
  readonly atOnce?: number;
}

/** Asked to read, it reads one file after the other, then says that it has; else it just answers. */
export function reads({ steps, tokens, tool = "read", atOnce = 1 }: Reading): Model {
  let step = 0;
  let files = 0;
  return (prompt) => {
    step = isAsked(prompt) ? 1 : step + 1;
    const isReading = step > 1 || lastUserText(prompt).includes("Read ");
    if (!isReading || step > steps) return thinking(prompt, reply("Done, nothing is wrong."));
    const inputs = Array.from({ length: atOnce }, () => {
      files += 1;
      return { path: `src/part-${files}.ts`, tokens };
    });
    return thinking(prompt, callsTool(tool, ...inputs));
  };
}
