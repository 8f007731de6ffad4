// An engine on the simulator whose turns end when the test says so: a message with "Hold" asks for a tool that waits.
import { onTestFinished } from "vitest";
import {
  defineTool,
  openEngine,
  type EngineSession,
  type Ledger,
  type OpenedEngine,
  type OpenEngineOptions,
  type TurnHandle,
  type TurnPart,
} from "../../src/index.ts";
import { cheapCounter } from "../../src/core/tokens/cheap-counter.ts";
import type { Model } from "../../src/simulator/index.ts";

export interface Scene {
  readonly engine: OpenedEngine;
  readonly session: EngineSession;
  /** Resolves when the tool of a "Hold" runs. */
  readonly held: () => Promise<void>;
  /** Lets the tools that wait go on. */
  readonly letGo: () => void;
}

/** Says again what the last person said. */
const model: Model = ({ turns }) => {
  const last = turns.findLast(({ role }) => role === "user");
  const isAsked = last?.toolResults.length === 0 && last.text.includes("Hold");
  return isAsked
    ? { parts: [{ kind: "tool use", name: "hold", inputJson: "{}" }], stop: "tool use" }
    : { parts: [{ kind: "text", text: "Answered." }], stop: "end" };
};

export async function setUp(options: Partial<OpenEngineOptions> = {}, id = "s"): Promise<Scene> {
  let holding = Promise.withResolvers<void>();
  let gate = Promise.withResolvers<void>();
  const hold = defineTool({
    name: "hold",
    description: "Waits",
    input: {},
    run: async () => {
      holding.resolve();
      await gate.promise;
      return "held";
    },
  });
  const engine = await openEngine({
    model: "claude-sonnet-5-5",
    counter: cheapCounter,
    env: {},
    tools: [hold],
    simulate: { model },
    ...options,
  });
  const letGo = (): void => {
    gate.resolve();
    gate = Promise.withResolvers();
    holding = Promise.withResolvers();
  };
  onTestFinished(async () => {
    letGo();
    await engine.close();
  });
  return { engine, session: await engine.session(id), held: () => holding.promise, letGo };
}

/** Resolves when the message is in the queue. */
export async function isQueued(handle: TurnHandle): Promise<void> {
  for await (const part of handle) if (part.type === "queued") return;
}

export async function partsOf(handle: TurnHandle): Promise<readonly TurnPart["type"][]> {
  const types: TurnPart["type"][] = [];
  for await (const { type } of handle) types.push(type);
  return types;
}

/** What people said in a session, turn by turn. */
export async function saidIn(ledger: Ledger, sessionId = "s"): Promise<readonly string[]> {
  const turns: string[] = [];
  for await (const { id } of ledger.readTurns({ sessionId })) {
    const said = (await ledger.readMessages(id)).filter(({ message }) => message.role === "user");
    const texts = said.flatMap(({ message: { content } }) =>
      content.flatMap((block) => (block.type === "text" ? [block.text] : [])),
    );
    turns.push(texts.join(" | "));
  }
  return turns;
}
