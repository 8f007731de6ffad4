// For tests: an engine with sub-agents over loopback on the simulator, and what a scripted model needs to play its parts.
import { setTimeout } from "node:timers/promises";
import { expect } from "vitest";
import type { Ledger } from "../../src/core/ledger/ledger.ts";
import type { SessionRecord } from "../../src/core/ledger/session-record.ts";
import { cheapCounter } from "../../src/core/tokens/cheap-counter.ts";
import { anthropicMessages } from "../../src/core/wire/anthropic-messages/index.ts";
import type { Protocol } from "../../src/core/wire/protocol.ts";
import { anthropicEndpoint } from "../../src/core/wire/anthropic-messages/access.ts";
import { openaiEndpoint } from "../../src/core/wire/openai/access.ts";
import { createProvider } from "../../src/edge/providers/provider.ts";
import { openLedger } from "../../src/edge/stores/open-ledger.ts";
import { createDispatcher } from "../../src/edge/tools/dispatch/dispatcher.ts";
import { toolOf } from "../../src/edge/tools/test-kit.ts";
import type { TurnResult } from "../../src/engine.ts";
import { createEngine, type Engine } from "../../src/engine/session/create-engine.ts";
import type { EngineSession } from "../../src/engine/session/engine-session.ts";
import type { Emitter } from "../../src/engine/events/turn-emitter.ts";
import type { DelegationOptions } from "../../src/engine/sub-agents/delegation.ts";
import { createWorldProfile, type WorldProfile } from "../../src/engine/world/world-profile.ts";
import type { WorldOwner } from "../../src/engine/world/world.ts";
import { withDelegation } from "../../src/engine/sub-agents/sub-agent.ts";
import {
  createSimulator,
  type Call,
  type Prompt,
  type Reply,
  type Simulator,
  type SimulatorOptions,
} from "../../src/simulator/index.ts";

const rules = Array.from(
  { length: 160 },
  (_, index) => `Rule ${index}: before you change module ${index}, read its tests and its callers.`,
).join("\n");

export interface Scene {
  readonly engine: Engine;
  readonly simulator: Simulator;
  readonly ledger: Ledger;
  /** Tools that ran, with the role that asked for them. */
  readonly ran: string[];
}

interface SceneOptions {
  readonly model?: string;
  readonly protocol?: Protocol;
  readonly delegation?: DelegationOptions;
  readonly simulator?: Partial<SimulatorOptions>;
  readonly stream?: boolean;
  readonly events?: Emitter;
  /** Whether the world has an environment that can be scoped. */
  readonly environment?: boolean;
}

function profileOf(owner: WorldOwner): WorldProfile {
  const capabilities = [
    { category: "Mail", name: "mail-send", status: "ready" },
    { category: "Social", name: "news", status: "setup" },
  ] as const;
  const profile = { environment: { capabilities } };
  return createWorldProfile({ profile: () => profile, owner, onNotice: () => {}, now: Date.now });
}

const cleanups: (() => Promise<void>)[] = [];

/** After every test. */
export async function closeScenes(): Promise<void> {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
}

export type Answer = (prompt: Prompt) => Reply;

export async function openScene(answer: Answer, options: SceneOptions = {}): Promise<Scene> {
  const { model = "claude-sonnet-4-6", protocol = anthropicMessages, stream = true } = options;
  const simulator = createSimulator({
    seed: 1,
    clock: "virtual",
    model: answer,
    ...options.simulator,
  });
  const { clock } = simulator;
  const server = await simulator.listen({ port: 0 });
  const isAnthropic = protocol === anthropicMessages;
  const endpoint = isAnthropic ? anthropicEndpoint : openaiEndpoint;
  const provider = createProvider({
    protocol,
    ...endpoint({ apiKey: "none needed", baseUrl: isAnthropic ? server.url : `${server.url}/v1` }),
    retries: { attemptsMax: 1 },
  });
  const ledger = await openLedger(":memory:");
  const ran: string[] = [];
  const config = { model, options: { outputTokensMax: 4000, stream } };
  const tools = ["read", "write", "memory_add", "message_people"].map((name) =>
    toolOf(
      name,
      (_, { role }) => {
        ran.push(`${name} by ${role}`);
        return Promise.resolve({ text: `${name} is done. ${"Nothing else to see. ".repeat(60)}` });
      },
      {
        needs: name === "write" ? ["files.write"] : [],
        ...(name === "message_people" ? { roles: ["unified" as const] } : {}),
      },
    ),
  );
  const deps = withDelegation(
    config,
    {
      ledger,
      reach: () => ({ protocol, provider }),
      counter: cheapCounter,
      now: () => clock.now(),
      ...(options.events === undefined ? {} : { events: options.events }),
      world: (owner) =>
        Promise.resolve({
          ...(options.environment === true && {
            environmentFor: (scope) => profileOf(owner).environmentFor(scope),
          }),
          context: () =>
            Promise.resolve({
              parts: {
                workspaceRules: rules,
                environment: "## Environment\n\nmail ready",
                date: "2026-11-15",
              },
            }),
          tools: createDispatcher({ tools }),
        }),
    },
    options.delegation,
  );
  const engine = createEngine(config, deps);
  cleanups.push(
    () => ledger.close(),
    () => server.close(),
    () => provider.close(),
    () => engine.close(),
  );
  return { engine, simulator, ledger, ran };
}

export function say(text: string): Reply {
  return { parts: [{ kind: "text", text }], stop: "end" };
}

export function use(...uses: readonly { readonly name: string; readonly input: object }[]): Reply {
  const parts = uses.map(({ name, input }) => ({
    kind: "tool use" as const,
    name,
    inputJson: JSON.stringify(input),
  }));
  return { parts, stop: "tool use" };
}

export function delegate(input: object): { readonly name: string; readonly input: object } {
  return { name: "delegate", input };
}

export function isWorker({ system }: Prompt): boolean {
  return system.includes("## Working for a manager");
}

export function isFork({ turns }: Prompt): boolean {
  return turns.some(({ text }) => text.includes("## You are a fork"));
}

/** Whether the last thing is a tool's answer. Words that follow one are in the same turn. */
export function isAnswered({ turns }: Prompt): boolean {
  const last = turns.at(-1);
  return last?.toolResults.length !== 0 && last?.text.includes("## Your task") !== true;
}

export function resultsOf({ turns }: Prompt): readonly string[] {
  return (
    turns.at(-1)?.toolResults.map(({ text, isError }) => (isError ? `error: ${text}` : text)) ?? []
  );
}

export async function runDone(session: EngineSession, text: string): Promise<TurnResult> {
  const run = await session.run(text).result;
  expect(run.end).toBe("done");
  return run;
}

/** Every response takes its time to begin: whoever does not wait for it is sent before. */
export const slow: Partial<SimulatorOptions> = { latency: { firstByteMs: 2000 } };

/** The same while the clock goes on. */
export async function runSlowly(
  scene: Scene,
  session: EngineSession,
  text: string,
): Promise<TurnResult> {
  const run = runDone(session, text);
  for (;;) {
    const done = await Promise.race([run, setTimeout(2, null)]);
    if (done !== null) return done;
    await scene.simulator.clock.advance(50);
  }
}

export function bills({ simulator }: Scene): readonly NonNullable<Call["billed"]>["bill"][] {
  return simulator.calls().flatMap(({ billed }) => (billed === null ? [] : [billed.bill]));
}

export function written(bill: ReturnType<typeof bills>[number] | undefined): number {
  return Object.values(bill?.writeTokens ?? {}).reduce((sum, tokens) => sum + tokens, 0);
}

export function childrenOf(
  { ledger }: Scene,
  { id }: EngineSession,
): Promise<readonly SessionRecord[]> {
  return ledger.listSessions({ parentSessionId: id });
}

/** Until so many requests have come. */
export async function untilSent({ simulator }: Scene, count: number): Promise<void> {
  while (simulator.calls().length < count) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

export async function advanceWhenSent(scene: Scene, count: number): Promise<void> {
  await untilSent(scene, count);
  await scene.simulator.clock.advance(1000);
}
