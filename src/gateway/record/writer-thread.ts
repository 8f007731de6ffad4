// The thread that writes, because `node:sqlite` blocks while it waits for the disk. This file has both sides: it starts the thread and runs in it.
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { assert } from "../../core/assert.ts";
import { messageOf } from "../../core/strata-error.ts";
import {
  createStateRunner,
  isOfStates,
  type StateAnswer,
  type StateTask,
} from "../share/state-tasks.ts";
import { createWriter, type WriterAnswer, type WriterOptions, type WriterTask } from "./writer.ts";

export interface WriterThread {
  /** Runs one task after the other. Rejects if the task failed or the thread died; the next task then gets a new thread. */
  ask(task: WriterTask): Promise<WriterAnswer>;
  /** Runs beside the others. */
  askStates(task: StateTask): Promise<StateAnswer>;
  stop(): Promise<void>;
}

interface Sent {
  readonly number: number;
  readonly task: WriterTask | StateTask;
}

type Answer = WriterAnswer | StateAnswer;

type Received =
  | { readonly number: number; readonly answer: Answer }
  | { readonly number: number; readonly problem: string };

/** Started with its first task. */
export function openWriterThread(options: Omit<WriterOptions, "runId">): WriterThread {
  let running: RunningThread | null = null;
  let runId: string | null = null;
  let isStopped = false;
  const thread = (): RunningThread => {
    if (isStopped) throw new Error("the thread that writes the ledger was stopped");
    if (running?.hasEnded() !== false) running = startThread({ ...options, runId });
    return running;
  };
  return {
    ask: async (task) => {
      const answer = await thread().ask(task);
      assert(!isStateAnswer(answer), "the thread answers what it was asked");
      if (answer.done === "record") ({ runId } = answer);
      return answer;
    },
    askStates: async (task) => {
      const answer = await thread().ask(task);
      assert(isStateAnswer(answer), "the thread answers what it was asked");
      return answer;
    },
    stop: async () => {
      isStopped = true;
      await running?.stop();
    },
  };
}

function isStateAnswer(answer: Answer): answer is StateAnswer {
  return isOfStates(answer.done);
}

function isStateTask(task: Sent["task"]): task is StateTask {
  return isOfStates(task.do);
}

interface RunningThread {
  hasEnded(): boolean;
  ask(task: WriterTask | StateTask): Promise<Answer>;
  stop(): Promise<void>;
}

function startThread(options: WriterOptions): RunningThread {
  const worker = new Worker(new URL(import.meta.url), { workerData: { gatewayWriter: options } });
  const asked = new Map<number, PromiseWithResolvers<Answer>>();
  let number = 0;
  let hasEnded = false;
  let fault = "it ended";
  worker.on("message", (received: Received) => {
    const waiting = asked.get(received.number);
    asked.delete(received.number);
    if ("problem" in received) waiting?.reject(new Error(received.problem));
    else waiting?.resolve(received.answer);
  });
  worker.on("error", (error) => {
    fault = messageOf(error);
  });
  worker.on("exit", () => {
    hasEnded = true;
    const error = new Error(`the thread that writes the ledger died: ${fault}`);
    for (const { reject } of asked.values()) reject(error);
    asked.clear();
  });
  return {
    hasEnded: () => hasEnded,
    ask: (task) => {
      number += 1;
      // Throws at once for values that cannot be copied.
      worker.postMessage({ number, task } satisfies Sent, []);
      const waiting = Promise.withResolvers<Answer>();
      asked.set(number, waiting);
      return waiting.promise;
    },
    stop: async () => {
      await worker.terminate();
    },
  };
}

if (!isMainThread && parentPort !== null && isWriting(workerData)) {
  serve(parentPort, workerData.gatewayWriter);
}

function serve(port: NonNullable<typeof parentPort>, options: WriterOptions): void {
  const writer = createWriter(options);
  const states = createStateRunner(options.store);
  let turn: Promise<void> = Promise.resolve();
  let later: NodeJS.Timeout | undefined;
  const catchUpLater = (ms: number): void => {
    later ??= setTimeout(() => {
      later = undefined;
      turn = turn.then(async () => {
        if (await writer.catchUp()) catchUpLater(catchUpPauseMs);
      });
    }, ms).unref();
  };
  port.on("message", ({ number, task }: Sent) => {
    const answer = async (work: Promise<Answer>): Promise<void> => {
      port.postMessage(await answerTo(number, work), []);
    };
    if (isStateTask(task)) return void answer(states.run(task));
    turn = turn.then(async () => {
      if (task.do === "end") await states.close();
      await answer(writer.run(task));
      if (task.do === "record") catchUpLater(catchUpEveryMs);
    });
  });
}

const catchUpEveryMs = 15_000;
/** For what waits to be written. */
const catchUpPauseMs = 200;

async function answerTo(number: number, answer: Promise<Answer>): Promise<Received> {
  try {
    return { number, answer: await answer };
  } catch (error) {
    return { number, problem: messageOf(error) };
  }
}

/** Another program may load this file in its own thread, where it must do nothing. */
function isWriting(data: unknown): data is { readonly gatewayWriter: WriterOptions } {
  return typeof data === "object" && data !== null && "gatewayWriter" in data;
}
