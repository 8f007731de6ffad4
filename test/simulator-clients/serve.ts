// For these tests: a simulator on a port, and what is asked of it.
import { onTestFinished } from "vitest";
import {
  createSimulator,
  type ScriptStep,
  type Simulator,
  type SimulatorOptions,
} from "../../src/simulator/index.ts";

export interface Served {
  readonly simulator: Simulator;
  readonly url: string;
}

/** Closed after the test. */
export async function serve(options: SimulatorOptions = {}): Promise<Served> {
  const simulator = createSimulator({ seed: 1, ...options });
  const server = await simulator.listen();
  onTestFinished(() => server.close());
  return { simulator, url: server.url };
}

export function statusesOf(simulator: Simulator): number[] {
  return simulator.calls().map(({ status }) => status);
}

export const claude = "claude-sonnet-5-5";
export const gpt = "gpt-6.1-sol";
export const gemini = "gemini-3.8-flash";
/** Long enough to be cached by both. */
export const manual: string = "Every answer names the file and the line it speaks of. ".repeat(200);
export const hello: { role: "user"; content: string }[] = [{ role: "user", content: "hello" }];

/** One tool call, then an answer; what most loops are made of. */
export const oneCall: readonly ScriptStep[] = [
  { toolCalls: [{ name: "get_weather", input: { city: "Paris" } }] },
  { expect: { toolResult: "sunny" }, text: "It is sunny in Paris." },
];
export const weather = {
  name: "get_weather",
  description: "The weather of a city",
  schema: {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  },
} as const;
