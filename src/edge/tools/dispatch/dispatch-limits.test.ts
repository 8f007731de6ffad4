import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ToolError, type ToolCallContext } from "../../../core/tools/tool.ts";
import { builtInTools } from "../built-in-tools.ts";
import { createDispatcher } from "./dispatcher.ts";
import { keepInWorkspace } from "./keep-output.ts";
import { context, makeWorkspace, runOne, toolOf, type TestWorkspace } from "../test-kit.ts";

let workspace: TestWorkspace;

beforeEach(async () => {
  workspace = await makeWorkspace();
});

afterEach(() => workspace.remove());

const echo = toolOf("echo", async ({ text }) => ({ text: String(text) }));

async function waitForEver(_input: unknown, { signal }: ToolCallContext): Promise<never> {
  await sleep(60_000, null, { signal });
  throw new Error("nobody ended it");
}

async function untilSignalled(signal: AbortSignal): Promise<void> {
  await sleep(60_000, null, { signal }).catch(() => {});
}

describe("time limits and cancellation", () => {
  const limits = { timeoutMs: 20, longTimeoutMs: 60, graceMs: 30 };

  test("a tool is signalled when its time is up, by its own limit or that of its kind", async () => {
    const tools = [
      toolOf("short", waitForEver),
      toolOf("long", waitForEver, { sideEffects: "execute" }),
      toolOf("own", waitForEver, { timeoutMs: 1 }),
    ];
    const dispatcher = createDispatcher({ tools, limits });
    expect(await runOne(dispatcher, "short")).toBe("error: timeout: not done within 20 ms");
    expect(await runOne(dispatcher, "long")).toBe("error: timeout: not done within 60 ms");
    expect(await runOne(dispatcher, "own")).toBe("error: timeout: not done within 1 ms");
  });

  test("what a tool says within the grace counts", async () => {
    const tools = [
      toolOf("finishes", async (_input, { signal }) => {
        await untilSignalled(signal);
        return { text: "done after all" };
      }),
      toolOf("explains", async (_input, { signal }) => {
        await untilSignalled(signal);
        throw new ToolError("timeout", "got as far as line 3");
      }),
    ];
    const dispatcher = createDispatcher({ tools, limits });
    expect(await runOne(dispatcher, "finishes")).toBe("done after all");
    expect(await runOne(dispatcher, "explains")).toBe("error: timeout: got as far as line 3");
  });

  test("a tool that cannot listen to a signal is cancelled by its own means (D-10)", async () => {
    const calls: string[] = [];
    const problems: unknown[] = [];
    const ends = new Map<string, () => void>();
    const tool = toolOf(
      "own",
      (_input, { signal, toolUseId }) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => calls.push("signal"));
          ends.set(toolUseId, () => resolve({ text: "stopped halfway" }));
        }),
      {
        cancel: (toolUseId) => {
          calls.push("cancel");
          ends.get(toolUseId)?.();
          throw new Error("and then it failed");
        },
      },
    );
    const onProblem = (problem: unknown): void => void problems.push(problem);
    const dispatcher = createDispatcher({ tools: [tool], limits, onProblem });
    expect(await runOne(dispatcher, "own")).toBe("stopped halfway");
    expect(calls).toEqual(["signal", "cancel"]);
    expect(problems.map(String)).toEqual(["Error: and then it failed"]);
  });

  test("a tool that does not listen is abandoned, says so, and gives its place back", async () => {
    const deaf = toolOf("deaf", () => new Promise(() => {}));
    const dispatcher = createDispatcher({
      tools: [deaf, echo],
      limits: { ...limits, atOnceMax: 1 },
    });
    expect(await runOne(dispatcher, "deaf")).toBe(
      "error: timeout: not done within 20 ms; it did not stop within 30 ms and was abandoned; it may still have an effect",
    );
    expect(await runOne(dispatcher, "echo", { text: "next" })).toBe("next");
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 5);
    const cancelled = await runOne(
      dispatcher,
      "deaf",
      {},
      { ...context, signal: controller.signal },
    );
    expect(cancelled).toContain("error: cancelled: cancelled while it ran; it did not stop");
  });
});

describe("long outputs", () => {
  const lines = Array.from({ length: 1000 }, (_, index) => `line ${index + 1}`).join("\n");
  const long = toolOf("long", async () => ({ text: lines }));

  test("are cut with a note, and the rest is read with the read tool", async () => {
    const { files } = workspace;
    const tools = [long, ...builtInTools(files)];
    const dispatcher = createDispatcher({
      tools,
      workspace: files,
      limits: { outputBytesMax: 900 },
    });
    const shown = await runOne(dispatcher, "long");
    const note =
      /\[(\d+) of 8892 bytes are left out here, lines 89 to (\d+). The result is kept in (\S+): read it with offset 89\]/.exec(
        shown,
      );
    expect(note?.[1]).toBe("7992");
    const path = note?.[3] ?? "";
    expect(path).toMatch(/^\.strata\/outputs\/tu_\d+-[0-9a-f]{16}\.txt$/);
    expect(readFileSync(join(workspace.root, path), "utf8")).toBe(lines);
    const rest = await runOne(dispatcher, "read", { path, offset: 89, limit: 2 });
    expect(rest).toBe("line 89\nline 90\n[lines 89 to 90 of 1000; go on with offset 91]");
  });

  test("go to the folder that is there, never making a second one", async () => {
    await mkdir(join(workspace.root, ".metis"));
    const limits = { outputBytesMax: 100 };
    const dispatcher = createDispatcher({ tools: [long], workspace: workspace.files, limits });
    expect(await runOne(dispatcher, "long")).toContain("in .metis/outputs/");
    expect(readdirSync(workspace.root)).toEqual([".metis"]);
  });

  test("that cannot be kept say so", async () => {
    const limits = { outputBytesMax: 100 };
    expect(await runOne(createDispatcher({ tools: [long], limits }), "long")).toContain(
      "they were not kept",
    );
    writeFileSync(join(workspace.root, ".strata"), "in the way");
    const problems: unknown[] = [];
    const blocked = createDispatcher({
      tools: [long],
      workspace: workspace.files,
      limits,
      onProblem: (problem) => problems.push(problem),
    });
    expect(await runOne(blocked, "long")).toContain("they were not kept");
    expect(problems).toHaveLength(1);
  });

  test("of errors are cut as well", async () => {
    const tool = toolOf("fails", async () => {
      throw new ToolError("execution_error", lines);
    });
    const limits = { outputBytesMax: 100 };
    const text = await runOne(createDispatcher({ tools: [tool], limits }), "fails");
    expect(text).toContain("bytes are left out here");
    expect(text.length).toBeLessThan(300);
  });
});

describe("limits that make no sense", () => {
  test.each([
    [
      { confirmationMs: Infinity },
      "confirmationMs of the dispatcher is Infinity, but must be at least 1",
    ],
    [{ graceMs: Number.NaN }, "graceMs of the dispatcher is NaN, but must be at least 0"],
    [{ atOnceMax: 0 }, "atOnceMax of the dispatcher is 0, but must be at least 1"],
    [{ timeoutMs: -1 }, "timeoutMs of the dispatcher is -1, but must be at least 1"],
    [
      { outputBytesMax: Number.NaN },
      "outputBytesMax of the dispatcher is NaN, but must be at least 1",
    ],
  ])("%o is refused with what would", (limits, problem) => {
    expect(() => createDispatcher({ tools: [echo], limits })).toThrow(problem);
  });

  test("of a tool are refused with its name", () => {
    const tool = toolOf("odd", async () => ({ text: "" }), { timeoutMs: 0 });
    expect(() => createDispatcher({ tools: [tool] })).toThrow(
      "timeoutMs of the tool odd is 0, but must be at least 1",
    );
  });

  test("a time longer than a timer can hold is not no time", async () => {
    const dispatcher = createDispatcher({
      tools: [toolOf("slow", async () => ({ text: "done" }), { sideEffects: "execute" })],
      confirm: async () => {
        await sleep(20);
        return true;
      },
      limits: {
        confirmationMs: 3_000_000_000,
        longTimeoutMs: 3_000_000_000,
        graceMs: 3_000_000_000,
      },
    });
    expect(await runOne(dispatcher, "slow")).toBe("done");
  });

  test("a grace longer than a timer can hold is waited for", async () => {
    const late = toolOf("late", async (_input, { signal }) => {
      await untilSignalled(signal);
      await sleep(20);
      return { text: "after all" };
    });
    const limits = { timeoutMs: 1, graceMs: 3_000_000_000 };
    expect(await runOne(createDispatcher({ tools: [late], limits }), "late")).toBe("after all");
  });
});

describe("kept outputs", () => {
  const about = { sessionId: "s1", turnId: "t1", toolUseId: "call_0" };

  test("have names made of their ids, however hostile, and the oldest go", async () => {
    const keep = keepInWorkspace(workspace.files, { bytesMax: 1000, filesMax: 2 });
    const paths: string[] = [];
    for (const toolUseId of ["../../etc/x", "a/b", "\ud83d\ude00", "x".repeat(500)]) {
      const { path } = await keep({ ...about, toolUseId }, toolUseId);
      paths.push(path);
      await sleep(10);
    }
    expect(
      paths.every((path) =>
        /^\.strata\/outputs\/[A-Za-z0-9_-]{0,40}-[0-9a-f]{16}\.txt$/.test(path),
      ),
    ).toBe(true);
    const names = readdirSync(join(workspace.root, ".strata/outputs"));
    expect(names.map((name) => `.strata/outputs/${name}`).toSorted()).toEqual(
      paths.slice(2).toSorted(),
    );
  });

  test("that are too long even for a file lose their end and say so", async () => {
    const keep = keepInWorkspace(workspace.files, { bytesMax: 5, filesMax: 2 });
    const { path, bytes } = await keep(about, "ab\u00e9\u00e9\u00e9");
    expect(readFileSync(join(workspace.root, path), "utf8")).toBe(
      "ab\u00e9\n\n[4 more bytes were not kept]\n",
    );
    expect(bytes).toBe(4);
  });

  test("of two sessions, or two turns, do not meet where a provider numbers its uses", async () => {
    const keep = keepInWorkspace(workspace.files);
    const uses = [about, { ...about, sessionId: "s2" }, { ...about, turnId: "t2" }];
    const kept: string[] = [];
    for (const use of uses) kept.push((await keep(use, use.sessionId + use.turnId)).path);
    const texts = kept.map((path) => readFileSync(join(workspace.root, path), "utf8"));
    expect(texts).toEqual(["s1t1", "s2t1", "s1t2"]);
  });

  test("say how much of a result a file holds where it is not the whole", async () => {
    const huge = toolOf("huge", async () => ({ text: "0123456789\n".repeat(800_000) }));
    const dispatcher = createDispatcher({ tools: [huge], workspace: workspace.files });
    expect(await runOne(dispatcher, "huge")).toContain(
      "Its first 8000000 bytes are kept in .strata/outputs/",
    );
  });
});
