import { expect, test } from "vitest";
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
