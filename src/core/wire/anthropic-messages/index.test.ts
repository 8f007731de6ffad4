import { expect, test } from "vitest";
import { bodyText } from "../encoded-request.ts";
import { anthropicMessages } from "./index.ts";
import { assemblyOf, plainOptions, planOf, say, sonnet, toolResult } from "./test-kit.ts";

const reply =
  '{"type":"message","content":[{"signature":"s","type":"thinking","thinking":"hm"},{"type":"tool_use","id":"t","name":"Read","input":{"2":1.0,"1":12345678901234567890}}],"stop_reason":"tool_use"}';

test("a reply is sent back in the next request with the bytes it came with", () => {
  const decoded = anthropicMessages.decode(reply);
  const said = decoded.kind === "reply" ? [decoded.message] : [];
  const history = [say("user", "Read it."), ...said];
  const current = [say("tool", toolResult("t", "one"))];
  const { pieces, headers } = anthropicMessages.encode({
    assembly: assemblyOf({ model: sonnet, history, current }),
    plan: planOf(),
    model: sonnet,
    options: plainOptions,
  });
  expect(bodyText(pieces)).toBe(
    '{"model":"claude-sonnet-5-5","max_tokens":100,"messages":[{"role":"user","content":[{"type":"text","text":"Read it."}]},' +
      '{"role":"assistant","content":[{"signature":"s","type":"thinking","thinking":"hm"},{"type":"tool_use","id":"t","name":"Read","input":{"2":1.0,"1":12345678901234567890}}]},' +
      '{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"one"}]}]}]}',
  );
  expect(headers).toEqual({ "anthropic-version": "2023-06-01" });
});

test("an event is known by its name where its data does not say", () => {
  const { stream } = anthropicMessages;
  const events = [
    { event: "message_start", data: '{"message":{"id":"msg_1"}}' },
    {
      event: "content_block_start",
      data: '{"index":0,"content_block":{"type":"text","text":"Hi."}}',
    },
    { event: "message_stop", data: "{}" },
  ];
  const end = events.reduce((state, event) => stream.step(state, event)[0], stream.start);
  expect(stream.finish(end)).toMatchObject({
    id: "msg_1",
    status: "complete",
    message: { content: [{ type: "text", text: "Hi." }] },
  });
});
