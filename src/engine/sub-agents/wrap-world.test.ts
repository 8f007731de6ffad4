import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { createDispatcher } from "../../edge/tools/dispatch/dispatcher.ts";
import { toolOf } from "../../edge/tools/test-kit.ts";
import { wrapTools } from "./wrap-world.ts";

const use = (id: string, name: string) => ({
  type: "tool_use" as const,
  id,
  name,
  inputJson: "{}",
});

test("what the world's own tools fail at takes no report of a sub-agent with it", async () => {
  const { runAll } = wrapTools({
    inner: {
      context: () => Promise.resolve({ parts: {} }),
      tools: {
        toolsFor: () => ({ tools: [], permissions: [], toolsLeft: [] }),
        runAll: () => Promise.reject(new Error("the dispatcher broke")),
      },
    },
    role: "unified",
    mark: null,
    toolsets: [],
    delegate: toolOf("delegate", () => Promise.resolve({ text: "The report." })),
    shownTools: [],
    atOnceMax: 4,
    events: undefined,
  });
  const answers = await runAll([use("u1", "read"), use("u2", "delegate")], {
    sessionId: "s",
    turnId: "t",
    role: "unified",
  });
  expect(answers.map(({ content: [result] }) => result)).toMatchObject([
    {
      toolUseId: "u1",
      isError: true,
      content: [{ text: "The tool failed: the dispatcher broke" }],
    },
    { toolUseId: "u2", isError: false, content: [{ text: "The report." }] },
  ]);
});

test("a sub-agent begins when the world's tools before it ended, and ends before those after it begin", async () => {
  const log: string[] = [];
  const replies = new Set<number | undefined>();
  const change = toolOf(
    "change",
    async (_, { replyNumber }) => {
      replies.add(replyNumber);
      log.push("change");
      await sleep(5);
      log.push("changed");
      return { text: "" };
    },
    { sideEffects: "write" },
  );
  const delegate = toolOf(
    "delegate",
    async () => {
      log.push("delegate");
      await sleep(5);
      log.push("delegated");
      return { text: "" };
    },
    { sideEffects: "execute", runsTogether: true },
  );
  const { runAll } = wrapTools({
    inner: {
      context: () => Promise.resolve({ parts: {} }),
      tools: createDispatcher({ tools: [change] }),
    },
    role: "unified",
    mark: null,
    toolsets: [],
    delegate,
    shownTools: [],
    atOnceMax: 4,
    events: undefined,
  });
  const names = ["change", "delegate", "delegate", "change"];
  const uses = names.map((name, at) => use(`u${at}`, name));
  await runAll(uses, { sessionId: "s", turnId: "t", role: "unified" });
  expect(log).toEqual([
    "change",
    "changed",
    "delegate",
    "delegate",
    "delegated",
    "delegated",
    "change",
    "changed",
  ]);
  expect([...replies]).toEqual([1]);
});
