// A whole session over loopback: our engine on one side, the simulator on the other, and both sides' records.
import { plantedKey } from "./planted-key.ts";
import { anthropicEndpoint } from "../src/core/wire/anthropic-messages/access.ts";
import { openaiEndpoint } from "../src/core/wire/openai/access.ts";
import { createProvider } from "../src/edge/providers/provider.ts";
import { openLedger } from "../src/edge/stores/open-ledger.ts";
import { runTurn, type TurnRun } from "../src/engine.ts";
import { openSession } from "../src/engine/open-session.ts";
import type { Session, SessionSetup } from "../src/core/session/session.ts";
import type { AgentEvent } from "../src/core/layers/event.ts";
import type { Section } from "../src/core/layers/section.ts";
import type { Ledger } from "../src/core/ledger/ledger.ts";
import type { Emitter } from "../src/engine/tell.ts";
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
  /** How long after the turn before it begins. */
  readonly afterMs: number;
  readonly text: AgentEvent["content"];
  /** What the model answers, call by call: with tools until the last. */
  readonly replies: readonly ScriptStep[];
  readonly volatile?: readonly Section[];
}

export interface SimulatedSession {
  readonly setup: SessionSetup;
  readonly turns: readonly SimulatedTurn[];
  /** What a tool gives back. */
  readonly toolResult: (use: ToolUseBlock) => string;
  /** Time that passes between the calls of a turn. */
  readonly callMs?: number;
  readonly simulator?: SimulatorOptions;
  /** Told what happens. */
  readonly events?: Emitter;
  /** One that ends with the run by default. */
  readonly ledger?: Ledger;
}

export interface SimulatedRun {
  /** Our record. */
  readonly calls: readonly CallEntry[];
  /** The simulator's. */
  readonly simulated: readonly Call[];
  /** Calls of each turn, and how it ended. */
  readonly turns: readonly TurnRun[];
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
  const endpoint = isAnthropic ? anthropicEndpoint : openaiEndpoint;
  const provider = createProvider({
    protocol: setup.protocol,
    ...endpoint({ apiKey: plantedKey, baseUrl: isAnthropic ? server.url : `${server.url}/v1` }),
    retries: { attemptsMax: 1 },
  });
  const ledger = run.ledger ?? (await openLedger(":memory:"));
  let session = openSession(setup);
  const runs: TurnRun[] = [];
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

function toResult({ id }: ToolUseBlock, text: string): Message {
  const content = [{ type: "text" as const, text }];
  return {
    role: "tool",
    content: [{ type: "tool_result", toolUseId: id, content, isError: false }],
  };
}
