import { expect, test } from "vitest";
import type { Message, ToolUseBlock } from "../../core/message/message.ts";
import { watchTools, withoutSecrets } from "./answer-tools.ts";

const use = (id: string): ToolUseBlock => ({ type: "tool_use", id, name: id, inputJson: "{}" });
const resultOf = (toolUseId: string, text: string): Message => ({
  role: "tool",
  content: [{ type: "tool_result", toolUseId, content: [{ type: "text", text }], isError: false }],
});

test("a tool is over as soon as it is, without its secrets, while another one still runs", async () => {
  const slow = Promise.withResolvers<void>();
  const said: string[] = [];
  const tools = withoutSecrets(
    async (_, { onUse }) => {
      onUse?.({ toolUseId: "slow", isOver: false });
      onUse?.({ toolUseId: "quick", isOver: false });
      onUse?.({ toolUseId: "quick", isOver: true, message: resultOf("quick", "the key is k3y") });
      await slow.promise;
      return [resultOf("slow", "done"), resultOf("quick", "the key is k3y")];
    },
    (text) => text.replaceAll("k3y", "[secret]"),
  );
  const watched = watchTools(tools, (part) => {
    if (part.type === "tool")
      said.push(`${part.name} ${part.status} ${JSON.stringify(part.result?.content ?? "")}`);
  });
  const call = { sessionId: "s", turnId: "t", role: "unified" } as Parameters<typeof watched>[1];
  const ended = watched([use("slow"), use("quick")], call);
  expect(said).toEqual([
    'slow running ""',
    'quick running ""',
    'quick succeeded [{"type":"text","text":"the key is [secret]"}]',
  ]);
  slow.resolve();
  await ended;
  expect(said.slice(3)).toEqual(['slow succeeded [{"type":"text","text":"done"}]']);
});
