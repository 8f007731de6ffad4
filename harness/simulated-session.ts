// A whole session over loopback between our engine and the simulator, with the records of both.
import { plantedKey } from "./planted-key.ts";
import { anthropicEndpoint } from "../src/core/wire/anthropic-messages/access.ts";
import { openaiEndpoint } from "../src/core/wire/openai/access.ts";
import { createProvider } from "../src/edge/providers/provider.ts";
import { openLedger } from "../src/edge/stores/open-ledger.ts";
import { runTurn, type TurnResult } from "../src/engine.ts";
import { openSession } from "../src/engine/session/open-session.ts";
import type { Session, SessionSetup } from "../src/core/session/session.ts";
import type { AgentEvent } from "../src/core/layers/event.ts";
import type { Section } from "../src/core/layers/section.ts";
import type { Ledger } from "../src/core/ledger/ledger.ts";
import type { Emitter } from "../src/engine/events/turn-emitter.ts";
import type { CallEntry } from "../src/core/ledger/call-entry.ts";
import type { Message, ToolUseBlock } from "../src/core/message/message.ts";
import {
  createScripted,
  createSimulator,
  type Call,
  type ScriptStep,
  type SimulatorOptions,
} from "../src/simulator/index.ts";

export interface SimulatedTurn {
  /** Time since the previous turn. */
  readonly afterMs: number;
  readonly text: AgentEvent["content"];
  /** The model's answers, call by call; all but the last use tools. */
  readonly replies: readonly ScriptStep[];
  readonly volatile?: readonly Section[];
}

export interface SimulatedSession {
  readonly setup: SessionSetup;
  readonly turns: readonly SimulatedTurn[];
  /** The result of a tool. */
  readonly toolResult: (use: ToolUseBlock) => string;
  /** Time between the calls of a turn. */
  readonly callMs?: number;
  readonly simulator?: SimulatorOptions;
  /** Where the simulator speaks the protocol. Default: where its own vendor does. */
  readonly basePath?: string;
  /** Receives the events. */
  readonly events?: Emitter;
  /** Default: one in memory that ends with the run. */
  readonly ledger?: Ledger;
}

export interface SimulatedRun {
  /** Our record. */
  readonly calls: readonly CallEntry[];
  /** The simulator's record. */
  readonly simulated: readonly Call[];
  /** The calls of each turn and its end. */
  readonly turns: readonly TurnResult[];
  readonly session: Session;
}

export async function runSimulated(run: SimulatedSession): Promise<SimulatedRun> {
  const { setup, turns, toolResult, callMs = 2000 } = run;
  const simulator = createSimulator({
    seed: 1,
    clock: "virtual",
    model: createScripted(turns.flatMap(({ replies }) => replies)),
    ...run.simulator,
  });
  const { clock } = simulator;
  const server = await simulator.listen({ port: 0 });
  const isAnthropic = setup.protocol.name === "anthropic-messages";
  const { basePath = isAnthropic ? "" : "/v1" } = run;
  const endpoint = isAnthropic ? anthropicEndpoint : openaiEndpoint;
  const provider = createProvider({
    protocol: setup.protocol,
    ...endpoint({ apiKey: plantedKey, baseUrl: `${server.url}${basePath}` }),
    retries: { attemptsMax: 1 },
  });
  const ledger = run.ledger ?? (await openLedger(":memory:"));
  let session = openSession(setup);
  const runs: TurnResult[] = [];
  try {
    for (const [index, { afterMs, text, volatile = [] }] of turns.entries()) {
      await clock.advance(afterMs);
      const turn = { id: `turn-${index + 1}`, event: { content: text, source: "human" }, volatile };
      const done = await runTurn(session, turn, {
        provider,
        ledger,
        ...(run.events === undefined ? {} : { events: run.events }),
        now: () => clock.now(),
        runTools: async (uses) => {
          await clock.advance(callMs);
          return uses.map((use) => toResult(use, toolResult(use)));
        },
      });
      runs.push(done);
      session = done.session;
      if (done.end !== "done") break;
    }
  } finally {
    await provider.close();
    await server.close();
    if (run.ledger === undefined) await ledger.close();
  }
  return {
    calls: runs.flatMap(({ calls }) => calls),
    simulated: simulator.calls(),
    turns: runs,
    session,
  };
}

/** The message of a successful tool result. */
export function toResult({ id }: ToolUseBlock, text: string): Message {
  const content = [{ type: "text" as const, text }];
  return {
    role: "tool",
    content: [{ type: "tool_result", toolUseId: id, content, isError: false }],
  };
}
