// A process that says things to one session until it is killed, in every mode, also while others do. Reports on stdout what was
// accepted and what came of it.
import { setTimeout as wait } from "node:timers/promises";
import { createRandom, type Random } from "../../harness/random-message.ts";
import { reportEvent } from "../../harness/worker-process.ts";
import type { QueueMode } from "../../src/core/config/schema/queue.ts";
import type { EngineSession, TurnHandle } from "../../src/index.ts";
import { openSpeaking, sessionId } from "./speaking.ts";

export interface SpeakerTask {
  readonly store: string;
  readonly name: string;
  readonly seed: number;
}

export type SpeakerEvent =
  | { readonly at: "ready" }
  | { readonly at: "said"; readonly id: string; readonly mode: QueueMode }
  /** In the queue, or in a turn: it must not be lost from now on. */
  | { readonly at: "accepted"; readonly id: string }
  | { readonly at: "done"; readonly id: string; readonly turnId: string }
  | { readonly at: "refused"; readonly id: string; readonly message: string };

const report: (event: SpeakerEvent) => void = reportEvent;

/** Below the cap, so that only other processes fill the queue. */
const atOnceMax = 6;

const task = JSON.parse(process.argv[2] ?? "") as SpeakerTask;
const engine = await openSpeaking(task.store);
const session = await engine.session(sessionId);
report({ at: "ready" });
// What processes before this one left waiting.
for (const handle of await session.runWaiting()) handle.result.catch(() => {});
await speak(session, task.name, createRandom(task.seed));

async function speak(to: EngineSession, name: string, random: Random): Promise<never> {
  const open = new Set<Promise<void>>();
  for (let n = 1; ; n += 1) {
    const id = `${name}-${n}`;
    const mode = modeOf(random());
    report({ at: "said", id, mode });
    const words = random() < 0.4 ? `Hold [${id}]` : `Say [${id}]`;
    const end = watch(to.run(words, { id, mode }), id).finally(() => open.delete(end));
    open.add(end);
    if (open.size >= atOnceMax) await Promise.race(open);
    await wait(random() * 40);
  }
}

function modeOf(chance: number): QueueMode {
  if (chance < 0.4) return "follow-up";
  if (chance < 0.65) return "steer";
  return chance < 0.9 ? "collect" : "interrupt";
}

async function watch(handle: TurnHandle, id: string): Promise<void> {
  try {
    for await (const part of handle) {
      // A call is sent after its turn is recorded.
      const isInTurn = part.type === "phase" && part.phase === "calling";
      if (part.type === "queued" || isInTurn) report({ at: "accepted", id });
    }
    report({ at: "done", id, turnId: (await handle.result).turnId });
  } catch (error) {
    report({
      at: "refused",
      id,
      message: error instanceof Error ? String(error.stack) : String(error),
    });
  }
}
