import { describe, expect, test } from "vitest";
import { delegatePartTool, delegateTool, type DelegateToolOptions } from "./delegate-tool.ts";
import { createDispatcher, type Dispatcher } from "./dispatch/dispatcher.ts";
import { runOne } from "./test-kit.ts";

const options: DelegateToolOptions = {
  run: (task) => Promise.resolve({ text: JSON.stringify(task) }),
  readReport: (session, offset) => Promise.resolve({ text: `${session} from ${offset}` }),
  toolsets: ["none", "read-only"],
  atOnceMax: 4,
  timeoutMs: 1000,
  outputBytesMax: 10_000,
};

function dispatcherOf(): Dispatcher {
  return createDispatcher({ tools: [delegateTool(options), delegatePartTool(options)] });
}

function namesFor(role: "unified" | "manager" | "worker"): readonly string[] {
  return dispatcherOf()
    .toolsFor(role)
    .tools.map(({ definition }) => definition.name);
}

describe("delegate", () => {
  test("gives a task to a worker unless it says otherwise", async () => {
    expect(JSON.parse(await runOne(dispatcherOf(), "delegate", { task: "Count." }))).toEqual({
      kind: "worker",
      task: "Count.",
      toolset: null,
      scope: null,
    });
    const all = { task: "Count.", kind: "fork", toolset: "none", scope: ["mail"] };
    expect(JSON.parse(await runOne(dispatcherOf(), "delegate", all))).toEqual(all);
  });

  test("reads on in a report from its beginning or a place", async () => {
    expect(await runOne(dispatcherOf(), "delegate", { session: "s" })).toBe("s from 0");
    expect(await runOne(dispatcherOf(), "delegate", { session: "s", offset: 9 })).toBe("s from 9");
  });

  test.each([
    [{}, "give a `task`, or the `session` of a report to read on in"],
    [{ task: "  " }, "give a `task`"],
    [{ task: "Count.", session: "s" }, "give `task` or `session`, not both"],
    [{ task: "Count.", kind: "boss" }, "kind"],
    [{ task: "Count.", toolset: "everything" }, "toolset"],
  ])("refuses %j", async (input, problem) => {
    const said = await runOne(dispatcherOf(), "delegate", input);
    expect(said).toContain("error: validation_error");
    expect(said).toContain(problem);
  });

  test("is for those who speak with people; workers have one of another name, if any (S-17)", () => {
    expect(namesFor("unified")).toEqual(["delegate"]);
    expect(namesFor("manager")).toEqual(["delegate"]);
    expect(namesFor("worker")).toEqual(["delegate_part"]);
  });
});
