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
