// For these tests: an engine that sends nothing itself, a simulator that is called by hand, a ledger in memory.
import { onTestFinished } from "vitest";
import { plantedKey } from "../../harness/planted-key.ts";
import type { Ledger } from "../../src/core/ledger/ledger.ts";
import { toToolDefinition } from "../../src/core/message/tool-definition.ts";
import { cheapCounter } from "../../src/core/tokens/cheap-counter.ts";
import { anthropicMessages } from "../../src/core/wire/anthropic-messages/index.ts";
import type { Protocol } from "../../src/core/wire/protocol.ts";
import { createEventBus } from "../../src/edge/events/event-bus.ts";
import { openLedger } from "../../src/edge/stores/open-ledger.ts";
import type { EngineDeps } from "../../src/engine/session/engine-deps.ts";
import { createEngine, type Engine } from "../../src/engine/session/create-engine.ts";
import type { EngineConfig } from "../../src/engine/session/engine-config.ts";
import type { OwnCall } from "../../src/engine/own-loop/own-call.ts";
import { offerTools } from "../../src/engine/own-loop/application-side.ts";
import { sendsNothing } from "../../src/engine/own-loop/application-side.ts";
import { createScripted, createSimulator, type ScriptStep } from "../../src/simulator/index.ts";

export const manual: string = "Every answer names the file and the line it speaks of. ".repeat(200);
export const claude = "claude-sonnet-4-6";

const look = toToolDefinition({
  name: "look",
  description: "Looks at a file.",
  inputSchema: { type: "object", properties: { path: { type: "string" } } },
});

export const script: readonly ScriptStep[] = [
  { text: "Looking.", toolCalls: [{ name: "look", input: { path: "ci.yml" } }] },
  { expect: { toolResult: "red" }, text: "It is red because of line 3." },
  { text: "You are welcome." },
];

export interface World {
  readonly engine: Engine;
  readonly ledger: Ledger;
  readonly simulator: ReturnType<typeof createSimulator>;
  /** Sends the exact bytes of a call, as `fetch` would. */
  readonly post: (call: OwnCall) => Promise<Response>;
}

export interface WorldOptions {
  readonly script?: readonly ScriptStep[];
  readonly protocol?: Protocol;
  readonly config?: Partial<EngineConfig>;
  readonly deps?: Partial<EngineDeps>;
}

export async function openWorld(options: WorldOptions = {}): Promise<World> {
  const { protocol = anthropicMessages } = options;
  const simulator = createSimulator({
    seed: 1,
    clock: "virtual",
    model: createScripted(options.script ?? script),
  });
  const ledger = await openLedger(":memory:");
  const events = createEventBus({ store: ledger, strictness: "strict", onProblem: () => {} });
  const engine = createEngine(
    { model: claude, options: { stream: false, outputTokensMax: 500 }, ...options.config },
    {
      ledger,
      events,
      counter: cheapCounter,
      reach: () => ({ protocol, provider: sendsNothing }),
      world: () =>
        Promise.resolve({
          context: () => Promise.resolve({ parts: { workspaceRules: manual } }),
          tools: offerTools([look]),
        }),
      now: () => simulator.clock.now(),
      ...options.deps,
    },
  );
  onTestFinished(async () => {
    await engine.close();
    await events.close();
    await ledger.close();
  });
  const post = (call: OwnCall): Promise<Response> =>
    simulator.fetch(`http://localhost${call.path}`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": plantedKey, ...call.headers },
      body: call.toBytes(),
    });
  return { engine, ledger, simulator, post };
}

export async function problemsOf(ledger: Ledger): Promise<readonly string[]> {
  const problems: string[] = [];
  for await (const problem of ledger.check()) problems.push(problem);
  return problems;
}
