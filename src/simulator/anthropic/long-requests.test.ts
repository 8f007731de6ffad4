// Goal: work grows with a request, not with its square. Method: requests far longer than any real one.
import { expect, test } from "vitest";
import { cpuMsOf } from "../../../harness/measure.ts";
import { createClient, text, type Answer } from "./test-kit.ts";

const hi = { role: "user", content: "hi" };

function counted(messages: readonly unknown[]): Answer {
  return createClient().count({ model: "claude-opus-5", messages });
}

test("one message of 150,000 blocks is answered", () => {
  const content = Array.from({ length: 150_000 }, () => text("a"));
  expect(counted([{ role: "user", content }]).status).toBe(200);
});

test("60,000 system messages after one another are answered within seconds", () => {
  const notes = Array.from({ length: 60_000 }, () => ({ role: "system", content: "b" }));
  const cpuMs = cpuMsOf(() => expect(counted([hi, ...notes]).status).toBe(200));
  expect(cpuMs).toBeLessThan(4000);
});

test("60,000 tool uses without a result are refused within seconds, each by its id", () => {
  const content = Array.from({ length: 60_000 }, (_, index) => ({
    type: "tool_use",
    id: `t${index}`,
    name: "read",
    input: {},
  }));
  const cpuMs = cpuMsOf(() => {
    const { message } = counted([hi, { role: "assistant", content }]).body.error;
    expect(message.match(/\bt\d+/g)).toHaveLength(60_000);
  });
  expect(cpuMs).toBeLessThan(4000);
});
