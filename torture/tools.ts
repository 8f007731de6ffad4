// Hostile tool inputs against the dispatcher and the path guard, while folders are swapped for links.
import { appendFileSync, readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { createRandom, type Random } from "../harness/random-message.ts";
import {
  atLeast,
  below,
  exactly,
  UsageError,
  wholeNumber,
  type Experiment,
} from "../harness/report.ts";
import type { Message, ToolUseBlock } from "../src/core/message/message.ts";
import { ToolError } from "../src/core/tools/tool.ts";
import { openScope, type ScopedFiles } from "../src/edge/files/guard/scoped-files.ts";
import { isLeftover } from "../src/edge/files/guard/scoped-write.ts";
import { builtInTools } from "../src/edge/tools/built-in-tools.ts";
import { createDispatcher, type Dispatcher } from "../src/edge/tools/dispatch/dispatcher.ts";
import { grepTool } from "../src/edge/tools/files/grep-tool.ts";
import { makeArena, swapped, type Arena } from "./tools/arena.ts";
import { randomPath, randomUse } from "./tools/hostile-inputs.ts";
import { openNaively } from "./tools/naive-files.ts";
import { startSwapper } from "./tools/swapper.ts";

export const experiment: Experiment = {
  summary:
    "hostile tool inputs touch nothing outside the workspace, leak nothing, and never crash or hang",
  options: {
    inputs: "how many inputs, 100000 by default",
    seed: "where to start, 1 by default",
    guard: "ours (default), or naive to see the checks fail, or by-path without swaps",
  },
  async run(settings) {
    const count = wholeNumber(settings, "inputs", 100_000);
    const seed = wholeNumber(settings, "seed", 1);
    const guard = settings.options["guard"] ?? "ours";
    if (!["ours", "naive", "by-path"].includes(guard)) {
      throw new UsageError("--guard must be ours, naive or by-path");
    }
    const arena = makeArena();
    try {
      return await runIn(arena, { count, seed, guard, progress: settings.progress });
    } finally {
      arena.remove();
    }
  },
};

interface Plan {
  readonly count: number;
  readonly seed: number;
  readonly guard: string;
  readonly progress: (line: string) => void;
}

interface Tally {
  inputs: number;
  succeeded: number;
  /** Wrong or missing results. */
  misplaced: number;
  leaks: number;
  crashes: number;
  slowestMs: number;
  readonly refusals: Map<string, number>;
}

async function runIn(arena: Arena, plan: Plan): ReturnType<Experiment["run"]> {
  const { count, seed, guard, progress } = plan;
  const tally: Tally = {
    inputs: 0,
    succeeded: 0,
    misplaced: 0,
    leaks: 0,
    crashes: 0,
    slowestMs: 0,
    refusals: new Map(),
  };
  const onStray = (error: unknown): void => {
    tally.crashes += 1;
    progress(`unhandled: ${String(error)}`);
  };
  process.on("unhandledRejection", onStray).on("uncaughtException", onStray);
  const files =
    guard === "naive"
      ? openNaively(arena.workspace)
      : await openScope(arena.workspace, { byDescriptor: guard !== "by-path" });
  const dispatcher = makeDispatcher(files);
  await runUses(dispatcher, createRandom(seed), arena, tally);
  const before = arena.fingerprint();
  const swapper =
    guard === "by-path"
      ? null
      : startSwapper({ workspace: arena.workspace, canary: arena.canary, ...swapped });
  const random = createRandom(seed + 1);
  let reportedInputs = 0;
  let leftoverCount = 0;
  try {
    while (tally.inputs < count && tally.crashes < 20) {
      const startMs = performance.now();
      await Promise.all(
        Array.from({ length: 4 }, () =>
          random() < 0.6
            ? runUses(dispatcher, random, arena, tally)
            : runGuard(files, random, arena, tally),
        ),
      );
      tally.slowestMs = Math.max(tally.slowestMs, performance.now() - startMs);
      if (tally.inputs - reportedInputs < 5000) continue;
      reportedInputs = tally.inputs;
      leftoverCount += countLeftovers(arena);
      arena.restore();
      progress(`${tally.inputs} of ${count}; ${swapper?.swapCount() ?? 0} swaps`);
    }
  } finally {
    await swapper?.stop();
  }
  process.off("unhandledRejection", onStray).off("uncaughtException", onStray);
  const isTouched = arena.fingerprint() !== before;
  leftoverCount += countLeftovers(arena);
  return {
    figures: {
      inputs: tally.inputs,
      seed,
      guard,
      lookup: files.lookup,
      succeeded: tally.succeeded,
      swaps: swapper?.swapCount() ?? 0,
      "slowest batch (ms)": tally.slowestMs,
      ...Object.fromEntries(tally.refusals),
    },
    checks: [
      atLeast("inputs tried", tally.inputs, count),
      exactly("changes outside the workspace", isTouched ? 1 : 0, 0),
      exactly("results that hold something from outside", tally.leaks, 0),
      exactly("crashes", tally.crashes, 0),
      exactly("uses without exactly their result", tally.misplaced, 0),
      below("slowest batch of inputs in seconds", tally.slowestMs / 1000, 30),
      exactly("temporary files left behind", leftoverCount, 0),
      exactly("descriptors left open", descriptorCount(arena), 0),
      atLeast("inputs that succeeded", tally.succeeded, Math.floor(count / 20)),
      atLeast(
        "swaps meanwhile",
        swapper?.swapCount() ?? 1,
        swapper === null ? 1 : Math.floor(count / 100),
      ),
      exactly("planted offences noticed", plantOffences(arena), 2),
    ],
  };
}

function makeDispatcher(files: ScopedFiles): Dispatcher {
  const tools = builtInTools(files).filter(({ definition }) => definition.name !== "grep");
  return createDispatcher({
    tools: [...tools, grepTool(files, { timeoutMs: 2000 })],
    workspace: files,
    limits: { outputBytesMax: 2000, timeoutMs: 10_000, graceMs: 5000 },
  });
}

/** The tool uses of one reply, sometimes cancelled. */
async function runUses(
  dispatcher: Dispatcher,
  random: Random,
  arena: Arena,
  tally: Tally,
): Promise<void> {
  const uses = Array.from({ length: 1 + Math.floor(random() * 6) }, (): ToolUseBlock => {
    const id = random() < 0.001 ? `../../${tally.inputs}` : `tu_${tally.inputs}`;
    tally.inputs += 1;
    return { type: "tool_use", id, ...randomUse(random, arena.places) };
  });
  const controller = new AbortController();
  if (random() < 0.05) setTimeout(() => controller.abort(), random() * 5);
  try {
    const context = {
      sessionId: `s${Math.floor(random() * 3)}`,
      turnId: "t",
      role: "unified" as const,
    };
    const messages = await dispatcher.runAll(uses, { ...context, signal: controller.signal });
    if (messages.length !== uses.length) tally.misplaced += 1;
    for (const [index, use] of uses.entries()) judge(messages[index], use, arena, tally);
  } catch {
    tally.crashes += 1;
  }
}

function judge(message: Message | undefined, use: ToolUseBlock, arena: Arena, tally: Tally): void {
  const block = message?.content[0];
  if (
    block?.type !== "tool_result" ||
    block.toolUseId !== use.id ||
    message?.content.length !== 1
  ) {
    tally.misplaced += 1;
    return;
  }
  const [said] = block.content;
  const text = said?.type === "text" ? said.text : "";
  if (leaks(text, arena)) tally.leaks += 1;
  if (block.isError) countRefusal(tally, text.slice(0, Math.max(0, text.indexOf(":"))));
  else tally.succeeded += 1;
}

/** Tests the guard itself, with operations that no tool has. */
async function runGuard(
  files: ScopedFiles,
  random: Random,
  arena: Arena,
  tally: Tally,
): Promise<void> {
  tally.inputs += 1;
  const path = randomPath(random, arena.places);
  const kind = Math.floor(random() * 7);
  try {
    const seen = await operate(files, kind, path);
    if (leaks(seen, arena)) tally.leaks += 1;
    tally.succeeded += 1;
  } catch (error) {
    if (error instanceof ToolError) {
      countRefusal(tally, error.errorClass);
      if (leaks(error.message, arena)) tally.leaks += 1;
    } else tally.crashes += 1;
  }
}

async function operate(files: ScopedFiles, kind: number, path: string): Promise<string> {
  switch (kind) {
    case 0: {
      const file = await files.readFile(path, { bytesMax: 10_000 });
      return Buffer.from(file?.bytes ?? []).toString();
    }
    case 1:
      await files.writeFile(path, "one\n");
      return "";
    case 2:
      await files.createFile(path, "one\n");
      return "";
    case 3:
      return JSON.stringify(await files.list(path));
    case 4:
      return JSON.stringify(await files.stat(path));
    case 5:
      await files.remove(path);
      return "";
    default: {
      const pieces: Uint8Array[] = [];
      const take = async (piece: Uint8Array): Promise<boolean> => pieces.push(piece) < 100;
      await files.readPieces(path, { bytesMax: 100, take });
      return Buffer.concat(pieces).toString();
    }
  }
}

function leaks(text: string, { marker }: Arena): boolean {
  return text.includes(marker);
}

function countRefusal({ refusals }: Tally, errorClass: string): void {
  refusals.set(errorClass, (refusals.get(errorClass) ?? 0) + 1);
}

/** Call while nothing is written. */
function countLeftovers({ workspace }: Arena): number {
  return listNames(workspace).filter(isLeftover).length;
}

/** Does not follow links. A folder can be swapped for a link at any time. */
function listNames(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() ? listNames(join(folder, entry.name)) : [entry.name],
    );
  } catch {
    return [];
  }
}

/** Open descriptors for files and folders of the run; threads have their own. */
function descriptorCount({ base }: Arena): number {
  try {
    return readdirSync("/proc/self/fd").filter((fd) => placeOf(fd).startsWith(base)).length;
  } catch {
    return 0;
  }
}

function placeOf(fd: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return "";
  }
}

/** Violates the sandbox on purpose, to prove that the checks detect it. */
function plantOffences(arena: Arena): number {
  const before = arena.fingerprint();
  appendFileSync(join(arena.canary, "secret.txt"), "x");
  const isSeen = arena.fingerprint() !== before;
  const isLeak = leaks(readdirSync(arena.canary).join("\n"), arena);
  return (isSeen ? 1 : 0) + (isLeak ? 1 : 0);
}
