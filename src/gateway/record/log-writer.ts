// Hands whole exchanges to the thread, one at a time. If they come faster than they can be written, some are left out and counted.
import type { Observer } from "../exchange.ts";
import type { LogEntry } from "./log-folder.ts";
import { logRequests } from "./log-requests.ts";
import type { WriterAnswer, WriterTask } from "./writer.ts";

export interface LogWriterOptions {
  readonly ask: (task: WriterTask) => Promise<WriterAnswer>;
  readonly onProblem: (problem: string) => void;
  /** Limit for all exchanges together that wait to be written. */
  readonly waitingBytesMax?: number;
  readonly exchangeBytesMax?: number;
}

export interface LogState {
  readonly writtenCount: number;
  /** Too large, too fast, or refused by the disk. */
  readonly leftOutCount: number;
}

export interface LogWriter {
  readonly observer: Observer;
  /** Resolves when everything seen so far is written or left out. */
  flush(): Promise<void>;
  state(): LogState;
}

const mebibyte = 1024 * 1024;

export function createLogWriter(options: LogWriterOptions): LogWriter {
  const { ask, onProblem } = options;
  const { waitingBytesMax = 64 * mebibyte, exchangeBytesMax = 32 * mebibyte } = options;
  const waiting: { readonly entry: LogEntry; readonly onSettled: () => void }[] = [];
  let [bytes, writtenCount, leftOutCount] = [0, 0, 0];
  let problem: string | null = null;
  let isWriting = false;
  let last: Promise<void> = Promise.resolve();

  const note = (found: string | null): void => {
    if (found !== null && problem === null) {
      onProblem(`requests are not logged: ${found}`);
    }
    if (found === null && problem !== null) onProblem("requests are logged again");
    problem = found;
  };
  const writeAll = async (): Promise<void> => {
    isWriting = true;
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const { entry, onSettled } = next;
      bytes -= sizeOf(entry);
      const answer = await ask({ do: "log", entry }).catch((error: unknown) => error);
      const found = problemIn(answer);
      if (found === null) writtenCount += 1;
      else leftOutCount += 1;
      note(found);
      onSettled();
    }
    isWriting = false;
  };
  const onEntry = (entry: LogEntry): void => {
    if (bytes + sizeOf(entry) > waitingBytesMax) {
      leftOutCount += 1;
      return;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting.push({ entry, onSettled: resolve });
    last = promise;
    bytes += sizeOf(entry);
    if (!isWriting) void writeAll();
  };
  const onSkipped = (): void => {
    leftOutCount += 1;
  };
  return {
    observer: logRequests({ onEntry, onSkipped, exchangeBytesMax }),
    flush: () => last,
    state: () => ({ writtenCount, leftOutCount }),
  };
}

function problemIn(answer: unknown): string | null {
  if (answer instanceof Error) return answer.message;
  const isAnswer = typeof answer === "object" && answer !== null && "problem" in answer;
  return isAnswer && typeof answer.problem === "string" ? answer.problem : null;
}

function sizeOf({ body, answer }: LogEntry): number {
  return [...body, ...answer].reduce((sum, { byteLength }) => sum + byteLength, 1000);
}
