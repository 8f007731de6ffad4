// Runs a command in its own process group, which ends with it: on timeout, on cancellation, and if it leaves
// something behind. A process that leaves the group is lost; if it holds the output open, the result says so.
import { spawn, type ChildProcessByStdio } from "node:child_process";
import type { Readable } from "node:stream";
import { ToolError } from "../../../core/tools/tool.ts";
import { toDelayMs } from "../delay.ts";

export interface CommandToRun {
  readonly command: string;
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** The time between asking the group to end and killing it. */
  readonly killMs: number;
  readonly outputBytesMax: number;
  readonly signal: AbortSignal;
}

export interface CommandEnd {
  readonly how: "ended" | "timed out" | "cancelled";
  readonly status: number | null;
  readonly signal: string | null;
  /** Both streams, in order of arrival. */
  readonly output: string;
  /** Bytes dropped from the middle of the output. */
  readonly droppedBytes: number;
  /** Part of the group still ran after the shell ended, and was killed. */
  readonly hasEndedRest: boolean;
  /** A process outside the group still holds the output: it left the group and runs. */
  readonly isHeldOpen: boolean;
}

/** How long output may still come after the shell ended, and again after its group was killed. */
const drainMs = 200;

export async function runCommand(toRun: CommandToRun): Promise<CommandEnd> {
  const { command, folder, env, timeoutMs, killMs, outputBytesMax, signal } = toRun;
  const child = spawn("bash", ["-c", command], {
    cwd: folder,
    env: { ...env },
    // Its own group: a negative process id reaches everything in it.
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = createBoundedOutput(outputBytesMax);
  child.stdout.on("data", (bytes: Buffer) => output.push(bytes));
  child.stderr.on("data", (bytes: Buffer) => output.push(bytes));
  let how: CommandEnd["how"] = "ended";
  let killTimer: NodeJS.Timeout | undefined;
  const stop = (reason: CommandEnd["how"]): void => {
    if (how !== "ended") return;
    how = reason;
    signalGroup(child.pid, "SIGTERM");
    killTimer = setTimeout(() => signalGroup(child.pid, "SIGKILL"), toDelayMs(killMs));
  };
  const cancel = (): void => stop("cancelled");
  const timer = setTimeout(() => stop("timed out"), toDelayMs(timeoutMs));
  signal.addEventListener("abort", cancel, { once: true });
  if (signal.aborted) cancel();
  try {
    const { status, endedBy } = await shellEnd(child);
    const isDrained = await drained(child);
    // Nothing in the group outlives the command, even if it closed its output.
    const hasEndedRest = signalGroup(child.pid, "SIGKILL");
    const isHeldOpen = !isDrained && !(await drained(child));
    const printed = { output: output.text(), droppedBytes: output.droppedBytes() };
    return { how, status, signal: endedBy, ...printed, hasEndedRest, isHeldOpen };
  } finally {
    clearTimeout(timer);
    clearTimeout(killTimer);
    signal.removeEventListener("abort", cancel);
    child.stdout.destroy();
    child.stderr.destroy();
  }
}

type Child = ChildProcessByStdio<null, Readable, Readable>;

function shellEnd(
  child: Child,
): Promise<{ readonly status: number | null; readonly endedBy: string | null }> {
  return new Promise((resolve, reject) => {
    child.once("exit", (status, endedBy) => resolve({ status, endedBy }));
    child.once("error", (cause) => {
      const code = "code" in cause ? String(cause.code) : "unknown";
      const message = `bash cannot be started (${code})`;
      reject(new ToolError("execution_error", message, { cause, isUserVisible: true }));
    });
  });
}

/** False if another process still holds the output open. */
async function drained(child: Child): Promise<boolean> {
  const ends = [child.stdout, child.stderr].map(
    (stream) =>
      new Promise<void>((resolve) => {
        if (stream.closed || stream.readableEnded) resolve();
        else stream.once("close", () => resolve());
      }),
  );
  const late = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => late.resolve(false), drainMs);
  try {
    return await Promise.race([Promise.all(ends).then(() => true), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Whether there was a process to signal. */
function signalGroup(pid: number | undefined, name: "SIGTERM" | "SIGKILL"): boolean {
  if (pid === undefined) return false;
  try {
    return process.kill(-pid, name);
  } catch {
    return false;
  }
}

interface BoundedOutput {
  push(bytes: Uint8Array): void;
  text(): string;
  /** Dropped so far, between the beginning and the latest part. */
  droppedBytes(): number;
}

/** Half for the beginning, half for the end. The part between is counted. */
function createBoundedOutput(bytesMax: number): BoundedOutput {
  const headMax = Math.ceil(bytesMax / 2);
  const tailMax = bytesMax - headMax;
  const head: Uint8Array[] = [];
  let headBytes = 0;
  let tail: Uint8Array[] = [];
  let tailBytes = 0;
  let droppedBytes = 0;

  function pushTail(bytes: Uint8Array): void {
    tail.push(bytes);
    tailBytes += bytes.length;
    // Trimmed at twice its size, so that printing byte by byte costs no more than printing in blocks.
    if (tailBytes > tailMax * 2 + 65_536 || tail.length > 10_000) trimTail();
  }

  function trimTail(): void {
    const all = Buffer.concat(tail);
    const kept = all.subarray(Math.max(0, all.length - tailMax));
    droppedBytes += all.length - kept.length;
    tail = [Buffer.from(kept)];
    tailBytes = kept.length;
  }

  return {
    push: (bytes) => {
      const room = headMax - headBytes;
      if (room > 0) {
        head.push(bytes.subarray(0, room));
        headBytes += Math.min(room, bytes.length);
      }
      if (bytes.length > room) pushTail(bytes.subarray(Math.max(0, room)));
    },
    text: () => {
      trimTail();
      if (droppedBytes === 0) return decode([...head, ...tail]);
      const gap = `\n\n[${droppedBytes} bytes of output were not kept]\n\n`;
      return decode(head) + gap + decode(tail);
    },
    droppedBytes: () => {
      trimTail();
      return droppedBytes;
    },
  };
}

/** Output need not be text. Invalid bytes become replacement characters. */
function decode(pieces: readonly Uint8Array[]): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(Buffer.concat(pieces));
}
