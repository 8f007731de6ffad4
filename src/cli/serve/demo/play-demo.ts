// Plays a day of the demo's agents as fast as the gateway takes it, and then goes on at the pace of the wall.
import { setTimeout } from "node:timers/promises";
import { messageOf } from "../../../core/strata-error.ts";
import { createVirtualClock, type Clock } from "../../../simulator/index.ts";
import { demoAgents, type DemoAgent } from "./demo-agents.ts";

export interface Demo {
  /** The time of the simulator and of the gateway. */
  readonly clock: Clock;
  /** Resolves when the day is over. */
  play(url: string): Promise<void>;
  stop(): void;
}

const dayMs = 24 * 3_600_000;

/** Between two calls once the day is over. */
const livePauseMs = 1500;

export function createDemo(nowMs: number, onProblem: (problem: string) => void): Demo {
  const clock = createVirtualClock(nowMs - dayMs);
  const stopped = new AbortController();
  return {
    clock,
    stop: () => stopped.abort(),
    play: async (url) => {
      const waiting = demoAgents(url).map((agent) => ({
        agent,
        dueMs: nowMs - dayMs + agent.startsMs,
      }));
      await playUntil(nowMs, waiting, { clock, signal: stopped.signal });
      void goOn(waiting, { clock, signal: stopped.signal }).catch((error: unknown) => {
        if (!stopped.signal.aborted) onProblem(`the demo ended: ${messageOf(error)}`);
      });
    },
  };
}

interface Waiting {
  readonly agent: DemoAgent;
  dueMs: number;
}

interface Stage {
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

async function playUntil(
  endMs: number,
  waiting: Waiting[],
  { clock, signal }: Stage,
): Promise<void> {
  for (;;) {
    const next = earliest(waiting);
    if (next === undefined || next.dueMs > endMs || signal.aborted) break;
    if (next.dueMs > clock.now()) await clock.set(next.dueMs);
    await step(next, waiting, clock);
  }
  if (endMs > clock.now()) await clock.set(endMs);
}

/** Agents that still have something to do take turns. */
async function goOn(waiting: Waiting[], { clock, signal }: Stage): Promise<void> {
  while (!signal.aborted && waiting.length > 0) {
    await setTimeout(livePauseMs, undefined, { signal, ref: false });
    await clock.set(Math.max(Date.now(), clock.now()));
    const next = earliest(waiting);
    if (next !== undefined) await step(next, waiting, clock);
  }
}

async function step(next: Waiting, waiting: Waiting[], clock: Clock): Promise<void> {
  const { done, value } = await next.agent.steps.next();
  if (done === true) waiting.splice(waiting.indexOf(next), 1);
  else next.dueMs = clock.now() + value;
}

function earliest(waiting: readonly Waiting[]): Waiting | undefined {
  return waiting.toSorted((left, right) => left.dueMs - right.dueMs)[0];
}
