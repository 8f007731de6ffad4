// Plays a workload through an integration on the simulator: what it cost, what was asked, and how long it took beside the provider.
import { costOfBill } from "../../harness/cost-of-bill.ts";
import type { WorkStep, Workload } from "../../harness/workloads.ts";
import { findModel } from "../../src/core/models/resolve-model.ts";
import { createScripted, createSimulator, type Simulator } from "../../src/simulator/index.ts";

/** A framework with Strata in it, or a program without a framework. */
export interface Integration {
  readonly name: string;
  /** How programs use it without Strata: unmarked, or marked as its documents say. */
  readonly plays: Readonly<Record<string, Play>>;
}

/** Says what users say, and runs the tools, as the workload has them. */
export type Play = (stage: Stage) => Promise<void>;

export interface Stage {
  readonly workload: Workload;
  readonly withStrata: boolean;
  /** Stands in the place of the provider. */
  readonly fetch: typeof globalThis.fetch;
  readonly now: () => number;
  /** Waits until the next turn of the workload begins. */
  pause(seconds: number): Promise<void>;
  /** The result of the next use of a tool, a few seconds later. */
  useTool(): Promise<string>;
  /** Keeps what is open to the end of the play. */
  readonly toClose: (() => Promise<void>)[];
}

export interface Played {
  readonly costPicoUsd: bigint;
  /** The bodies of all requests. */
  readonly bodies: readonly unknown[];
  /** What the program and its framework took, and what the simulator took to answer, per call. */
  readonly msPerCall: number;
  readonly providerMsPerCall: number;
}

export async function play(
  run: Play,
  { workload, withStrata }: Pick<Stage, "workload" | "withStrata">,
): Promise<Played> {
  const model = createScripted(workload.turns.flatMap(({ steps }) => steps.map(toScript)));
  const simulator = createSimulator({ seed: 1, clock: "virtual", model });
  const { clock } = simulator;
  const bodies: unknown[] = [];
  let providerMs = 0;
  const results = workload.turns
    .flatMap(({ steps }) => steps.flatMap(({ tools }) => tools))
    .values();
  const stage: Stage = {
    workload,
    withStrata,
    fetch: async (input, init) => {
      const from = performance.now();
      bodies.push(JSON.parse(Buffer.from(await new Response(init?.body).arrayBuffer()).toString()));
      const { pathname, search } = new URL(input instanceof Request ? input.url : input);
      const answer = await simulator.fetch(`http://localhost${pathname}${search}`, init);
      // The whole answer, so that none of the simulator's time is counted as the framework's.
      const whole = await answer.arrayBuffer();
      providerMs += performance.now() - from;
      return new Response(whole, answer);
    },
    now: () => clock.now(),
    pause: async (seconds) => {
      await clock.advance(seconds * 1000);
    },
    useTool: async () => {
      await clock.advance(4000);
      return results.next().value?.result ?? "";
    },
    toClose: [],
  };
  const from = performance.now();
  await run(stage);
  const ownMs = performance.now() - from - providerMs;
  for (const close of stage.toClose) await close();
  const calls = Math.max(1, bodies.length);
  return {
    costPicoUsd: costOf(simulator),
    bodies,
    msPerCall: ownMs / calls,
    providerMsPerCall: providerMs / calls,
  };
}

function toScript({ text, tools }: WorkStep): Parameters<typeof createScripted>[0][number] {
  return { text, toolCalls: tools.map(({ name, input }) => ({ name, input })) };
}

function costOf(simulator: Simulator): bigint {
  const calls = simulator.calls();
  const failed = calls.find(({ status }) => status !== 200);
  if (failed !== undefined) throw new Error(`a call failed: ${failed.problem ?? failed.refusal}`);
  return calls.reduce((sum, call) => {
    const facts = findModel(call.billed?.model ?? "")?.facts;
    if (facts === undefined) throw new Error(`a call was not billed: ${call.path}`);
    return sum + costOfBill(call, facts, call.startMs);
  }, 0n);
}

export const rules: string =
  "You work on the project in this folder. Look before you change anything, change as little as you can, and say what you did. ".repeat(
    40,
  );

export const toolNames = ["write", "read", "list", "grep", "edit", "bash"] as const;

export const toolSchema = {
  type: "object",
  properties: {
    path: { type: "string" },
    pattern: { type: "string" },
    command: { type: "string" },
    line: { type: "number" },
    from: { type: "number" },
  },
} as const;

export function describeTool(name: string): string {
  return `The tool ${name}, for files of this project. It takes paths that begin at its root.`;
}

export const models = { anthropic: "claude-sonnet-5-5", openai: "gpt-6.1-sol" } as const;
