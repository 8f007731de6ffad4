// The thread that reads for the API, because `node:sqlite` blocks while it reads. This file has both sides: it starts the thread and runs in it.
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { messageOf } from "../../core/strata-error.ts";
import { refuseWith } from "../answer/api-error.ts";
import {
  createQuestionReader,
  type AnswerBytes,
  type QuestionOf,
  type ReaderOptions,
} from "./answer-question.ts";

export interface ReaderThread {
  /** Answers one question after the other. Rejects if too many wait, or if the thread died; the next question then gets a new one. */
  ask(question: QuestionOf): Promise<AnswerBytes>;
  stop(): Promise<void>;
}

/** More would wait longer than a client does. */
const waitingMax = 200;

interface Sent {
  readonly number: number;
  readonly question: QuestionOf;
}

interface Received {
  readonly number: number;
  readonly answer: AnswerBytes;
}

/** Sums could not be stored. */
interface Troubled {
  readonly problem: string;
}

/** Started with its first question; at once if it keeps sums up to date. */
export function openReaderThread(
  options: ReaderOptions,
  onProblem: (problem: string) => void,
): ReaderThread {
  const start = (): RunningThread => startThread(options, onProblem);
  let running = options.keepsUp === true ? start() : null;
  let isStopped = false;
  return {
    ask: async (question) => {
      if (isStopped) throw new Error("the thread that reads the ledger was stopped");
      if (running?.hasEnded() !== false) running = start();
      return running.ask(question);
    },
    stop: async () => {
      isStopped = true;
      await running?.stop();
    },
  };
}

interface RunningThread extends ReaderThread {
  hasEnded(): boolean;
}

function startThread(options: ReaderOptions, onProblem: (problem: string) => void): RunningThread {
  const worker = new Worker(new URL(import.meta.url), { workerData: { apiReader: options } });
  const asked = new Map<number, PromiseWithResolvers<AnswerBytes>>();
  let number = 0;
  let hasEnded = false;
  let fault = "it ended";
  worker.on("message", (received: Received | Troubled) => {
    if ("problem" in received) return onProblem(received.problem);
    asked.get(received.number)?.resolve(received.answer);
    asked.delete(received.number);
  });
  worker.on("error", (error) => {
    fault = messageOf(error);
  });
  worker.on("exit", () => {
    hasEnded = true;
    const error = new Error(`the thread that reads the ledger died: ${fault}`);
    for (const { reject } of asked.values()) reject(error);
    asked.clear();
  });
  // A question that is still open holds the process no longer than its server does.
  worker.unref();
  return {
    hasEnded: () => hasEnded,
    ask: (question) => {
      if (asked.size >= waitingMax) {
        throw refuseWith(
          "too_busy",
          `${waitingMax} questions wait already`,
          "ask again in a second, or for less at once",
        );
      }
      number += 1;
      worker.postMessage({ number, question } satisfies Sent, []);
      const waiting = Promise.withResolvers<AnswerBytes>();
      asked.set(number, waiting);
      return waiting.promise;
    },
    stop: async () => {
      await worker.terminate();
    },
  };
}

if (!isMainThread && parentPort !== null && isReading(workerData)) {
  serve(parentPort, workerData.apiReader);
}

function serve(port: NonNullable<typeof parentPort>, options: ReaderOptions): void {
  const reader = createQuestionReader(options);
  let turn: Promise<void> = Promise.resolve();
  port.on("message", ({ number, question }: Sent) => {
    turn = turn.then(async () => {
      const answer = await reader.answer(question);
      port.postMessage({ number, answer } satisfies Received, []);
    });
  });
  if (options.keepsUp !== true) return;
  let isTold = false;
  const keepUp = async (): Promise<void> => {
    try {
      const isMore = await reader.catchUp();
      keepUpLater(isMore ? keepUpPauseMs : keepUpEveryMs);
    } catch (error) {
      const problem = `stored sums are not kept up to date: ${messageOf(error)}`;
      if (!isTold) port.postMessage({ problem } satisfies Troubled, []);
      isTold = true;
      keepUpLater(keepUpEveryMs);
    }
  };
  const keepUpLater = (ms: number): void => {
    setTimeout(() => {
      turn = turn.then(keepUp);
    }, ms).unref();
  };
  turn = turn.then(keepUp);
}

const keepUpEveryMs = 15_000;
/** For questions that wait. */
const keepUpPauseMs = 200;

/** Another program may load this file in its own thread, where it must do nothing. */
function isReading(data: unknown): data is { readonly apiReader: ReaderOptions } {
  return typeof data === "object" && data !== null && "apiReader" in data;
}
