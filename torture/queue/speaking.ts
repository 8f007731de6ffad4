// The engine of a speaker: the simulator answers, and some turns run a tool, so that others come while they run.
import { setTimeout as wait } from "node:timers/promises";
import { cheapCounter } from "../../src/core/tokens/cheap-counter.ts";
import { defineTool, openEngine, type OpenedEngine } from "../../src/index.ts";
import type { Model } from "../../src/simulator/index.ts";

export const sessionId = "s";

const model: Model = ({ turns }) => {
  const last = turns.findLast(({ role }) => role === "user");
  const isAsked = last?.toolResults.length === 0 && last.text.includes("Hold");
  return isAsked
    ? { parts: [{ kind: "tool use", name: "hold", inputJson: "{}" }], stop: "tool use" }
    : { parts: [{ kind: "text", text: "Heard." }], stop: "end" };
};

const hold = defineTool({
  name: "hold",
  description: "Waits a moment",
  input: {},
  run: async () => {
    await wait(60);
    return "held";
  },
});

export function openSpeaking(store: string): Promise<OpenedEngine> {
  return openEngine({
    model: "claude-sonnet-5-5",
    counter: cheapCounter,
    env: {},
    store,
    tools: [hold],
    simulate: { model },
    queue: { debounceMs: 30 },
  });
}
