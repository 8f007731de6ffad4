// The world of a session in these scenarios: a page of rules, and tools that finish in an order that is written down.
import { setImmediate } from "node:timers/promises";
import {
  createDispatcher,
  ToolError,
  toToolDefinition,
  type EventBus,
  type Tool,
  type World,
} from "./kit.ts";

/** Long enough for every provider to keep. */
export const rules: string = Array.from(
  { length: 120 },
  (_, index) => `Rule ${index}: before you change module ${index}, read its tests and its callers.`,
).join("\n");

export interface WorldOptions {
  readonly tools?: readonly Tool[];
  readonly volatile?: NonNullable<World["volatile"]>;
}

export function makeWorld(
  events: EventBus,
  { tools = makeTools(), volatile }: WorldOptions,
): () => Promise<World> {
  const world: World = {
    context: () =>
      Promise.resolve({
        parts: {
          workspaceRules: rules,
          environment: "## Environment\n\nmail ready",
          date: "2026-11-15",
        },
      }),
    tools: createDispatcher({ tools, events }),
    ...(volatile === undefined ? {} : { volatile }),
  };
  return () => Promise.resolve(world);
}

/** `look` may wait for another look of the same reply, so that tools that run together end one after the other. */
export function makeTools(): readonly Tool[] {
  const looked = new Map<string, PromiseWithResolvers<void>>();
  const lookAt = (path: string): PromiseWithResolvers<void> => {
    const look = looked.get(path) ?? Promise.withResolvers<void>();
    looked.set(path, look);
    return look;
  };
  return [
    toolOf("look", ["path", "after", "lines"], async ({ path, after, lines }) => {
      if (typeof after === "string") {
        await lookAt(after).promise;
        // What is told of the other one is told first.
        for (let step = 0; step < 5; step += 1) await setImmediate();
      }
      lookAt(String(path)).resolve();
      return textOf(String(path), typeof lines === "number" ? lines : 2);
    }),
    toolOf("find", ["name"], ({ name }) =>
      Promise.reject(new ToolError("not_found", `nothing is called ${String(name)}`)),
    ),
    toolOf("burst", [], () => Promise.reject(new Error("the disk is gone"))),
  ];
}

/** A tool that does what the scenario says. */
export function toolOf(name: string, inputs: readonly string[], run: RunTool): Tool {
  return {
    definition: toToolDefinition({
      name,
      description: `The tool ${name} of the workspace.`,
      inputSchema: {
        type: "object",
        properties: Object.fromEntries(
          inputs.map((each) => [each, { type: each === "lines" ? "integer" : "string" }]),
        ),
        additionalProperties: false,
      },
    }),
    needs: [],
    sideEffects: "read",
    outputBytesMax: 1_000_000,
    run: async (input, { signal }) => ({ text: await run(input, signal) }),
  };
}

type RunTool = (input: Readonly<Record<string, unknown>>, signal: AbortSignal) => Promise<string>;

/** So many lines about something, the same for the same name. */
export function textOf(name: string, lines: number): string {
  return Array.from(
    { length: lines },
    (_, index) => `${name}:${index + 1}: step ${index * 7 + name.length} of src/${name} is done.`,
  ).join("\n");
}
