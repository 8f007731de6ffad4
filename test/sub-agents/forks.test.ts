// Goal: a fork reads everything its origin's last call sent and can do no more than a worker. Method: engines over
// loopback on the simulator with a virtual clock; the simulator's bills and the ledger are looked at.
import { afterEach, describe, expect, test } from "vitest";
import { anthropicMessages } from "../../src/core/wire/anthropic-messages/index.ts";
import { openaiChat } from "../../src/core/wire/openai/chat/index.ts";
import type { Prompt } from "../../src/simulator/index.ts";
import {
  bills,
  childrenOf,
  closeScenes,
  delegate,
  isAnswered,
  isFork,
  openScene,
  resultsOf,
  runDone,
  runSlowly,
  say,
  slow,
  use,
  written,
  type Answer,
} from "./kit.ts";

afterEach(closeScenes);

describe("forks", () => {
  const forkTask = { task: "Say what you know.", kind: "fork" };

  test.each([
    { model: "claude-sonnet-4-6", protocol: anthropicMessages },
    { model: "claude-opus-5-5", protocol: anthropicMessages },
  ])("on $model read all that the origin's last call sent (N-17)", async (given) => {
    const scene = await openScene(
      talk([forkTask, { ...forkTask, task: "Say less." }], () => say("I know it all.")),
      given,
    );
    const parent = await scene.engine.open();
    await runDone(parent, "Read it.");
    await scene.simulator.clock.advance(30_000);
    await runDone(parent, "Now fork.");
    const all = bills(scene);
    expect(all).toHaveLength(7);
    const [origin, first, second] = all.slice(3, 6);
    const kept = (origin?.readTokens ?? 0) + written(origin);
    expect(kept).toBeGreaterThan(3000);
    expect(first?.readTokens).toBe(kept);
    expect(second?.readTokens).toBe(kept);
  });

  test("go to the model of the turn that asks for them, whatever the session stays with", async () => {
    const scene = await openScene(talk([forkTask], () => say("I know it all.")));
    const parent = await scene.engine.open();
    const { end } = await parent.run("Now fork.", { model: "claude-haiku-4-5" }).result;
    expect(end).toBe("done");
    const forks = await childrenOf(scene, parent);
    expect(forks.map(({ model }) => model)).toEqual(["claude-haiku-4-5"]);
    const [, origin, fork] = bills(scene);
    expect(fork?.readTokens).toBe((origin?.readTokens ?? 0) + written(origin));
  });

  test("do not wait for each other: what they share is written already", async () => {
    const tasks = [forkTask, { ...forkTask, task: "Say less." }];
    const answer = talk(tasks, () => say("I know it all."));
    const scene = await openScene(answer, { simulator: slow });
    await runSlowly(scene, await scene.engine.open(), "Now fork.");
    const [, origin, first, second] = scene.simulator.calls();
    const kept = (origin?.billed?.bill.readTokens ?? 0) + written(origin?.billed?.bill);
    expect([first?.billed?.bill.readTokens, second?.billed?.bill.readTokens]).toEqual([kept, kept]);
    expect((second?.startMs ?? 0) - (first?.startMs ?? 0)).toBeLessThan(2000);
  });

  test("of a session on a provider that caches by itself read as much as it keeps", async () => {
    const scene = await openScene(
      talk([forkTask], () => say("I know it all.")),
      {
        model: "gpt-5",
        protocol: openaiChat,
      },
    );
    const parent = await scene.engine.open();
    await runDone(parent, "Read it.");
    await runDone(parent, "Now fork.");
    const [origin, fork] = bills(scene).slice(3, 5);
    expect(fork?.readTokens).toBeGreaterThan(0.9 * (origin?.totalTokens ?? 0));
  });

  test("are told of all tools and refused what a worker could not use", async () => {
    const seen: Prompt[] = [];
    const scene = await openScene(
      talk([forkTask], (prompt) => {
        seen.push(prompt);
        return isAnswered(prompt)
          ? say("Some were refused.")
          : use(
              ...["read", "memory_add", "message_people", "delegate"].map((name) => ({
                name,
                input: name === "delegate" ? { task: "More." } : {},
              })),
            );
      }),
    );
    const parent = await scene.engine.open();
    await runDone(parent, "Now fork.");
    expect(seen[0]?.tools.map(({ name }) => name)).toEqual([
      "delegate",
      "memory_add",
      "message_people",
      "read",
      "write",
    ]);
    expect(seen.slice(1).flatMap(resultsOf).slice(1)).toEqual([
      refused("memory_add"),
      refused("message_people"),
      refused("delegate"),
    ]);
    expect(scene.ran).toEqual(["read by unified", "read by unified"]);
  });

  test("are resumed with the same limits, and go on from what they were given", async () => {
    const scene = await openScene(
      talk([{ ...forkTask, toolset: "none" }], (prompt) => {
        if (isAnswered(prompt)) return say(resultsOf(prompt).join());
        return prompt.turns.at(-1)?.text.includes("Again") === true
          ? use({ name: "read", input: {} })
          : say("Nothing to add.");
      }),
    );
    const parent = await scene.engine.open();
    await runDone(parent, "Now fork.");
    const [child] = await childrenOf(scene, parent);
    const before = bills(scene).length;
    const fork = await scene.engine.resume(child?.id ?? "");
    const run = await runDone(fork, "Again.");
    expect(JSON.stringify(run.calls.at(-1)?.reply)).toContain("may not be used here");
    expect(bills(scene)[before]?.readTokens).toBeGreaterThan(3000);
  });
});

/** Two turns of talk with a tool, then a task for forks. */
function talk(tasks: readonly object[], fork: Answer): Answer {
  return (prompt) => {
    if (isFork(prompt)) return fork(prompt);
    const last = prompt.turns.at(-1)?.text ?? "";
    if (isAnswered(prompt) && resultsOf(prompt).some((text) => text.includes("read is done"))) {
      return last === "" && prompt.turns.some(({ text }) => text.includes("Now fork"))
        ? use(...tasks.map(delegate))
        : say("I have read it.");
    }
    return isAnswered(prompt) ? say("The forks are done.") : use({ name: "read", input: {} });
  };
}

function refused(name: string): string {
  return `error: permission_denied: the tool ${name} may not be used here: not in the toolset of a fork`;
}
