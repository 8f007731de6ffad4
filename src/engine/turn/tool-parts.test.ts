import { expect, test } from "vitest";
import type { Message, ToolUseBlock } from "../../core/message/message.ts";
import { watchTools } from "./answer-tools.ts";
import type { RunTools } from "./deps.ts";
import type { TurnPart } from "./turn-handle.ts";

const uses: readonly ToolUseBlock[] = ["u1", "u2", "u3"].map((id) => ({
  type: "tool_use",
  id,
  name: "read",
  inputJson: "{}",
}));

const call = { sessionId: "s1", turnId: "t1", role: "unified" } as const;

function answer(toolUseId: string, isError: boolean): Message {
  const content = [{ type: "text" as const, text: "x" }];
  return { role: "tool", content: [{ type: "tool_result", toolUseId, content, isError }] };
}

function watch(runTools: RunTools): { readonly run: RunTools; readonly told: string[] } {
  const told: string[] = [];
  const tell = (part: TurnPart): void => {
    if (part.type !== "tool") return;
    const has = part.use !== undefined ? " use" : part.result === undefined ? "" : " result";
    told.push(`${part.toolUseId} ${part.status}${has}`);
  };
  return { run: watchTools(runTools, tell), told };
}

test("each use is told when it runs and how it ended; one without a result has failed", async () => {
  const messages = [answer("u1", false), answer("u2", true)];
  const { run, told } = watch(() => Promise.resolve(messages));
  expect(await run(uses, call)).toBe(messages);
  expect(told).toEqual([
    "u1 running use",
    "u2 running use",
    "u3 running use",
    "u1 succeeded result",
    "u2 failed result",
    "u3 failed",
  ]);
});

test("tools that throw are told as failed, and it is thrown on", async () => {
  const { run, told } = watch(() => Promise.reject(new Error("gone")));
  await expect(run(uses.slice(0, 1), call)).rejects.toThrow("gone");
  expect(told).toEqual(["u1 running use", "u1 failed"]);
});

test("a use is told as running when it begins, not while another one is before it", async () => {
  const runInOrder: RunTools = (asked, { onUse }) => {
    for (const { id: toolUseId } of asked.slice(0, 2)) {
      onUse?.({ toolUseId, isOver: false });
      told.push(`${toolUseId} works`);
      onUse?.({ toolUseId, isOver: true });
    }
    // The third one is refused: it never begins, and is told at the end.
    onUse?.({ toolUseId: "u3", isOver: true });
    return Promise.resolve([answer("u1", false), answer("u2", false), answer("u3", true)]);
  };
  const seen: string[] = [];
  const { run, told } = watch(runInOrder);
  await run(uses, {
    ...call,
    onUse: ({ toolUseId, isOver }) => seen.push(`${toolUseId} ${isOver}`),
  });
  expect(told).toEqual([
    "u1 running use",
    "u1 works",
    "u2 running use",
    "u2 works",
    "u3 running use",
    "u1 succeeded result",
    "u2 succeeded result",
    "u3 failed result",
  ]);
  expect(seen).toEqual(["u1 false", "u1 true", "u2 false", "u2 true", "u3 true"]);
});
