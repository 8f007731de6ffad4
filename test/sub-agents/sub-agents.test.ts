// Goal: workers read what their siblings wrote and can do no more than they may. Method: engines over loopback on the
// simulator with a virtual clock; the simulator's bills and the ledger are looked at.
import { afterEach, describe, expect, test } from "vitest";
import { checkTrace } from "../../harness/check-trace.ts";
import type { StrataEvent } from "../../src/core/events/event.ts";
import { createEventBus } from "../../src/edge/events/event-bus.ts";
import type { Prompt, Reply } from "../../src/simulator/index.ts";
import {
  advanceWhenSent,
  bills,
  childrenOf,
  closeScenes,
  delegate,
  isAnswered,
  isWorker,
  openScene,
  resultsOf,
  runDone,
  runSlowly,
  say,
  slow,
  untilSent,
  use,
  written,
  type Scene,
} from "./kit.ts";

afterEach(closeScenes);

describe("workers", () => {
  test("four siblings write what they share once: the others wait for its response and read it", async () => {
    const tasks = ["alpha", "beta", "gamma", "delta"].map((task) => delegate({ task }));
    const scene = await openScene(
      (prompt) => {
        if (isWorker(prompt)) return say("Done as asked.");
        return isAnswered(prompt) ? say("All four are done.") : use(...tasks);
      },
      { simulator: slow },
    );
    await runSlowly(scene, await scene.engine.open(), "Do it.");
    const [, first, ...rest] = bills(scene);
    const others = rest.slice(0, 3);
    expect(first?.readTokens).toBe(0);
    expect(written(first)).toBeGreaterThan(3000);
    for (const bill of others) {
      expect(bill.readTokens).toBeGreaterThan(3000);
      // Its own task, and nothing of the foundation.
      expect(bill.readTokens).toBeGreaterThan(0.95 * (first?.totalTokens ?? 0));
      expect(written(bill)).toBeLessThan(200);
    }
  });

  test("a sibling of a later turn reads what an earlier one wrote", async () => {
    const scene = await openScene((prompt) => {
      if (isWorker(prompt)) return say("Done.");
      return isAnswered(prompt) ? say("Good.") : use(delegate({ task: "one thing" }));
    });
    const parent = await scene.engine.open();
    await runDone(parent, "First.");
    await scene.simulator.clock.advance(60_000);
    await runDone(parent, "Second.");
    const [, first, , , second] = bills(scene);
    expect(first?.readTokens).toBe(0);
    expect(second?.readTokens).toBeGreaterThan(0.95 * (first?.totalTokens ?? 0));
  });

  test("have their task and environment in the first message, the rules of a worker, and neither memory tools nor delegate (C-12, S-17)", async () => {
    const seen: Prompt[] = [];
    const scene = await openScene((prompt) => {
      if (isWorker(prompt)) seen.push(prompt);
      if (isWorker(prompt)) return say("Found three.");
      return isAnswered(prompt) ? say("Three.") : use(delegate({ task: "Count the files." }));
    });
    await runDone(await scene.engine.open(), "How many?");
    const [prompt] = seen;
    expect(prompt?.tools.map(({ name }) => name)).toEqual(["read", "write"]);
    expect(prompt?.turns[0]?.text).toContain(
      "## Environment\n\nmail ready\n\n## Your task\n\nCount the files.",
    );
    expect(prompt?.system).not.toContain("Count the files.");
    expect(prompt?.system).not.toContain("mail ready");
  });

  test("learn only of the part of the environment that the task's scope names; an unknown name is refused with those there are (X-20)", async () => {
    const seen: string[] = [];
    const results: string[] = [];
    const scene = await openScene(
      (prompt) => {
        if (isWorker(prompt)) {
          seen.push(prompt.turns[0]?.text ?? "");
          return say("Sent.");
        }
        results.push(...resultsOf(prompt));
        if (results.length === 0) return use(delegate({ task: "Write.", scope: ["mial"] }));
        if (results.length === 1) return use(delegate({ task: "Write.", scope: ["mail"] }));
        return say("Done.");
      },
      { environment: true },
    );
    await runDone(await scene.engine.open(), "Write to Kim.");
    expect(results[0]).toContain(
      "names mial, which is no capability here; there are Mail, mail-send, Social, news",
    );
    expect(seen).toHaveLength(1);
    expect(seen[0]).toContain("Mail: mail-send ✅");
    expect(seen[0]).not.toContain("news");
  });

  test("can use only what is in their toolset, also where they were not told of it", async () => {
    const scene = await openScene((prompt) => {
      if (isWorker(prompt)) {
        if (!isAnswered(prompt))
          return use({ name: "write", input: {} }, { name: "read", input: {} });
        return say(resultsOf(prompt).join(" | "));
      }
      if (isAnswered(prompt)) return say(resultsOf(prompt).join());
      return use(delegate({ task: "Look.", toolset: "read-only" }));
    });
    const run = await runDone(await scene.engine.open(), "Look.");
    expect(scene.ran).toEqual(["read by worker"]);
    expect(JSON.stringify(run.calls.at(-1)?.reply)).toContain(
      "error: permission_denied: the tool write may not be used here",
    );
  });

  test("are in the ledger with who asked for them, in which turn and tool use, and with their own cost (X-31)", async () => {
    const scene = await openScene((prompt) => {
      if (isWorker(prompt)) return say("Done.");
      return isAnswered(prompt) ? say("Good.") : use(delegate({ task: "Count." }));
    });
    const parent = await scene.engine.open();
    const run = await runDone(parent, "Go.");
    const [child] = await childrenOf(scene, parent);
    const asked = run.calls[0]?.reply?.content.find((block) => block.type === "tool_use");
    expect(child).toMatchObject({
      role: "worker",
      task: "Count.",
      parent: {
        sessionId: parent.id,
        turnId: run.calls[0]?.turnId,
        toolUseId: asked?.type === "tool_use" ? asked.id : "none",
      },
      turnCount: 1,
    });
    expect(child?.costPicoUsd).toBeGreaterThan(0n);
    const own = await scene.ledger.findSession(parent.id);
    const spent = run.calls.reduce((sum, call) => sum + (call.costPicoUsd ?? 0n), 0n);
    expect(own?.costPicoUsd).toBe(spent);
  });

  test("that fail are an error for whoever asked, which says what to do; the next sibling goes first", async () => {
    const scene: Scene = await openScene(
      (prompt) => {
        if (isWorker(prompt)) return say("Done.");
        if (isAnswered(prompt)) return say(resultsOf(prompt).join(" | "));
        scene.simulator.fault({ kind: "overloaded" });
        return use(...["one", "two", "three"].map((task) => delegate({ task })));
      },
      { simulator: slow },
    );
    const run = await runSlowly(scene, await scene.engine.open(), "Go.");
    const said = JSON.stringify(run.calls.at(-1)?.reply);
    expect(said).toContain("error: execution_error: The worker failed (overloaded)");
    expect(said).toContain("Give the task again, or do it yourself.");
    const [, first, second] = bills(scene);
    expect([first?.readTokens, (second?.readTokens ?? 0) > 3000]).toEqual([0, true]);
  });

  test("long reports are cut, and read on by their session, by nobody else", async () => {
    const report = Array.from({ length: 400 }, (_, index) => `Line ${index}.`).join("\n");
    const scene = await openScene(
      (prompt) => {
        if (isWorker(prompt)) return say(report);
        if (!isAnswered(prompt)) return use(delegate({ task: "Write." }));
        const [result = ""] = resultsOf(prompt);
        const next = /Read on: delegate (\{.*\})\]$/.exec(result)?.[1];
        return next === undefined
          ? say(result)
          : use({ name: "delegate", input: JSON.parse(next) });
      },
      { delegation: { reportCharactersMax: 1500 } },
    );
    const parent = await scene.engine.open();
    const run = await runDone(parent, "Write.");
    const pages = Math.ceil(report.length / 1500);
    expect(run.calls).toHaveLength(pages + 1);
    expect(JSON.stringify(run.calls.at(-1)?.reply)).toContain("Line 399.");
    expect(await childrenOf(scene, parent)).toHaveLength(1);
  });

  test("end with the turn that asked for them, those that wait too", async () => {
    const scene = await openScene(
      (prompt) => {
        if (isWorker(prompt)) return say("Too late.");
        return use(...["a", "b", "c", "d", "e"].map((task) => delegate({ task })));
      },
      { simulator: { latency: { firstByteMs: 1000 } } },
    );
    const parent = await scene.engine.open();
    const handle = parent.run("Go.");
    const { clock } = scene.simulator;
    for await (const part of handle) {
      if (part.type === "phase" && part.phase === "running tools") break;
      if (part.type === "phase" && part.phase === "calling") void advanceWhenSent(scene, 1);
    }
    await untilSent(scene, 2);
    handle.abort("enough");
    const run = await handle.result;
    expect(run.end).toBe("cancelled");
    await clock.advance(5000);
    // The parent's call, and the first worker's; the other four were never sent.
    expect(scene.simulator.calls()).toHaveLength(2);
  });
});

describe("sub-agents of sub-agents", () => {
  test("are not there unless the configuration says so", async () => {
    const scene = await openScene(handOn);
    const run = await runDone(await scene.engine.open(), "Go.");
    expect(JSON.stringify(run.calls.at(-1)?.reply)).toContain("the bottom and up");
  });

  test("go three deep where it does, and no deeper", async () => {
    const depths: number[] = [];
    const scene = await openScene(handOn, {
      delegation: { nested: true, onStarted: ({ depth }) => depths.push(depth) },
    });
    const run = await runDone(await scene.engine.open(), "Go.");
    expect(depths).toEqual([1, 2, 3]);
    expect(JSON.stringify(run.calls.at(-1)?.reply)).toContain("the bottom and up and up and up");
  });

  test("can use no more than whoever asked for them", async () => {
    const scene = await openScene(
      (prompt) => {
        const name = isWorker(prompt) ? "delegate_part" : "delegate";
        if (isAnswered(prompt)) return say(resultsOf(prompt).join());
        const task = prompt.turns.at(-1)?.text ?? "";
        if (task.includes("Write it.")) return use({ name: "write", input: {} });
        const next = isWorker(prompt)
          ? { task: "Write it.", toolset: "full" }
          : { task: "Hand it on.", toolset: "read-only" };
        return use({ name, input: next });
      },
      { delegation: { nested: true } },
    );
    const run = await runDone(await scene.engine.open(), "Go.");
    expect(scene.ran).toEqual([]);
    expect(JSON.stringify(run.calls.at(-1)?.reply)).toContain("may not be used here");
  });
});

test("every event of an agent and its workers follows from another one of its session", async () => {
  const events: StrataEvent[] = [];
  const bus = createEventBus({
    strictness: "strict",
    onProblem: (problem) => expect(problem).toBe(null),
  });
  bus.subscribe((event) => void events.push(event));
  const scene = await openScene(
    (prompt) => {
      if (isWorker(prompt)) return say("Done.");
      return isAnswered(prompt)
        ? say("Good.")
        : use(delegate({ task: "a" }), delegate({ task: "b" }));
    },
    { events: bus },
  );
  const parent = await scene.engine.open();
  await runDone(parent, "Go.");
  expect(checkTrace(events)).toEqual([]);
  const called = events.filter(({ type }) => type === "tool.called");
  expect(called.map(({ sessionId }) => sessionId)).toEqual([parent.id, parent.id]);
  expect(new Set(events.map(({ sessionId }) => sessionId)).size).toBe(3);
});

test("without streams siblings wait for the first whole answer, and then go together", async () => {
  const tasks = ["alpha", "beta", "gamma"].map((task) => delegate({ task }));
  const scene = await openScene(
    (prompt) => {
      if (isWorker(prompt)) return say("Done.");
      return isAnswered(prompt) ? say("All done.") : use(...tasks);
    },
    { stream: false, simulator: slow },
  );
  await runSlowly(scene, await scene.engine.open(), "Do it.");
  const [, first, ...others] = bills(scene).slice(0, 4);
  expect(others.map(({ readTokens }) => readTokens > 0.95 * (first?.totalTokens ?? 0))).toEqual([
    true,
    true,
  ]);
});

test("siblings go as soon as the first answer begins, whether or not a word of it has come (N-17)", async () => {
  const tasks = ["alpha", "beta", "gamma"].map((task) => delegate({ task }));
  const scene = await openScene((prompt) => {
    if (isWorker(prompt)) return say("Done.");
    // The first worker's stream begins, and then nothing more comes of it.
    scene.simulator.fault({ kind: "stall", afterEvents: 1 });
    return use(...tasks);
  });
  const session = await scene.engine.open();
  const handle = session.run("Do it.");
  await untilSent(scene, 4);
  const [, first] = scene.simulator.calls();
  expect(first?.outcome).toBe("under way");
  const [, writer, ...readers] = bills(scene);
  expect(writer?.readTokens).toBe(0);
  expect(readers.map(({ readTokens }) => readTokens > 0.95 * (writer?.totalTokens ?? 0))).toEqual([
    true,
    true,
  ]);
  handle.abort();
  expect((await handle.result).end).toBe("cancelled");
});

function handOn(prompt: Prompt): Reply {
  const { tools } = prompt;
  const name = isWorker(prompt) ? "delegate_part" : "delegate";
  if (isAnswered(prompt)) return say(`${resultsOf(prompt).join()} and up`);
  const may = tools.some((tool) => tool.name === name);
  return may ? use({ name, input: { task: "On." } }) : say("the bottom");
}
