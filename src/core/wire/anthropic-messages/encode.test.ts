import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { appendMessages } from "../../assembly/thread.ts";
import type { Message } from "../../message/message.ts";
import { deepFreeze } from "../../models/catalogue.ts";
import type { ModelFacts } from "../../models/model-facts.ts";
import { bodyText } from "../encoded-request.ts";
import { encodeRequest } from "./encode.ts";
import {
  assemblyOf,
  bodyOf,
  haiku,
  plainOptions,
  planOf,
  say,
  sonnet,
  threadOf,
  tool,
  toolResult,
  toolUse,
  type MessagesSetting,
} from "./test-kit.ts";

const full: MessagesSetting = {
  tools: [tool("list"), tool("read")],
  system: ["Be brief.", "User: Ada."],
  history: [
    say("user", "Read two."),
    say("assistant", toolUse("t1", '{"2":1.0,"1":12345678901234567890}'), toolUse("t2", "{}")),
  ],
  current: [say("tool", toolResult("t1", "one")), say("tool", toolResult("t2", "two"))],
  volatile: "10:42",
};

const head = '{"model":"claude-haiku-4-5","max_tokens":100';

describe("a body", () => {
  test("has tools, system, messages in this order, and one user message for two results (M-14)", () => {
    expect(bodyOf(full)).toBe(
      '{"model":"claude-haiku-4-5","max_tokens":100,' +
        '"tools":[{"name":"list","description":"Does it.","input_schema":{"type":"object"}},{"name":"read","description":"Does it.","input_schema":{"type":"object"}}],' +
        '"system":[{"type":"text","text":"Be brief."},{"type":"text","text":"User: Ada."}],' +
        '"messages":[{"role":"user","content":[{"type":"text","text":"Read two."}]},' +
        '{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Read","input":{"2":1.0,"1":12345678901234567890}},{"type":"tool_use","id":"t2","name":"Read","input":{}}]},' +
        '{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"one"}]},{"type":"tool_result","tool_use_id":"t2","content":[{"type":"text","text":"two"}]},{"type":"text","text":"10:42"}]}]}',
    );
  });

  test("leaves out tools and system where there are none (M-14)", () => {
    expect(bodyOf({})).toBe(
      `${head},"messages":[{"role":"user","content":[{"type":"text","text":"Hi."}]}]}`,
    );
  });

  test("carries markers on a tool, on system text and on messages (M-10)", () => {
    expect(bodyOf(full, planOf({ 1: "1h", 3: "1h", 5: "5m", 8: "5m" }))).toBe(
      '{"model":"claude-haiku-4-5","max_tokens":100,' +
        '"tools":[{"name":"list","description":"Does it.","input_schema":{"type":"object"}},{"name":"read","description":"Does it.","input_schema":{"type":"object"},"cache_control":{"type":"ephemeral","ttl":"1h"}}],' +
        '"system":[{"type":"text","text":"Be brief."},{"type":"text","text":"User: Ada.","cache_control":{"type":"ephemeral","ttl":"1h"}}],' +
        '"messages":[{"role":"user","content":[{"type":"text","text":"Read two."}]},' +
        '{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Read","input":{"2":1.0,"1":12345678901234567890},"cache_control":{"type":"ephemeral"}},{"type":"tool_use","id":"t2","name":"Read","input":{}}]},' +
        '{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"one"}]},{"type":"tool_result","tool_use_id":"t2","content":[{"type":"text","text":"two"}],"cache_control":{"type":"ephemeral"}},{"type":"text","text":"10:42"}]}]}',
    );
  });

  test("puts a marker behind text that is longer in bytes than in characters", () => {
    expect(bodyOf({ current: [say("user", "é😀", "b")] }, planOf({ 0: "5m" }))).toBe(
      `${head},"messages":[{"role":"user","content":[{"type":"text","text":"é😀","cache_control":{"type":"ephemeral"}},{"type":"text","text":"b"}]}]}`,
    );
  });

  test("carries the marker for the whole request behind the messages", () => {
    expect(bodyOf({}, planOf({}, { requestMarker: "1h" }))).toBe(
      `${head},"messages":[{"role":"user","content":[{"type":"text","text":"Hi."}]}],"cache_control":{"type":"ephemeral","ttl":"1h"}}`,
    );
  });
});

describe("volatile text", () => {
  const said = '{"type":"text","text":"Hi."}';

  test("at the tail of the message comes after everything that is kept", () => {
    expect(bodyOf({ volatile: "10:42" })).toBe(
      `${head},"messages":[{"role":"user","content":[${said},{"type":"text","text":"10:42"}]}]}`,
    );
  });

  test("after an assistant's message opens and closes one of its own", () => {
    expect(
      bodyOf({
        history: [say("user", "Hi."), say("assistant", "Yes?")],
        current: [],
        volatile: "x",
      }),
    ).toBe(
      `${head},"messages":[{"role":"user","content":[${said}]},{"role":"assistant","content":[{"type":"text","text":"Yes?"}]},{"role":"user","content":[{"type":"text","text":"x"}]}]}`,
    );
  });

  test("at the tail of the system prompt stands behind the system blocks (M-01)", () => {
    const setting: MessagesSetting = {
      system: ["Be brief."],
      volatile: "10:42",
      place: "system-tail",
    };
    expect(bodyOf(setting, planOf({ 0: "5m" }))).toBe(
      `${head},"system":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}},{"type":"text","text":"10:42"}],"messages":[{"role":"user","content":[${said}]}]}`,
    );
  });

  test("alone in the system prompt is one unmarked block (M-14)", () => {
    expect(bodyOf({ volatile: "10:42", place: "system-tail" })).toBe(
      `${head},"system":[{"type":"text","text":"10:42"}],"messages":[{"role":"user","content":[${said}]}]}`,
    );
  });

  test("at the head of the message is part of it", () => {
    expect(bodyOf({ volatile: "10:42", place: "message-head" })).toBe(
      `${head},"messages":[{"role":"user","content":[{"type":"text","text":"10:42\\n\\nHi."}]}]}`,
    );
  });

  test.each(["message-tail", "system-message", "system-tail"] as const)(
    "is a kept system message where thinking is bound to its prefix: %s",
    (place) => {
      const assembly = assemblyOf({ model: sonnet, volatile: "10:42", place });
      const request = encodeRequest({
        assembly,
        plan: planOf({ 0: "5m" }),
        model: sonnet,
        options: plainOptions,
      });
      expect(bodyText(request.pieces)).toBe(
        '{"model":"claude-sonnet-5-5","max_tokens":100,"messages":[{"role":"user","content":[{"type":"text","text":"Hi.","cache_control":{"type":"ephemeral"}}]},' +
          '{"role":"system","content":[{"type":"text","text":"10:42"}],"clear_at":"next_user_message"}]}',
      );
      expect(request.headers).toEqual({
        "anthropic-version": "2023-06-01",
        "anthropic-beta": "mid-conversation-system-clear-at-2026-08-21",
      });
    },
  );

  test("that was kept is the same to the byte when the messages are read again", () => {
    const sent = assemblyOf({ model: sonnet, volatile: "10:42" }).thread;
    const history = [...Array(sent.messages.length).keys()].flatMap((index) => {
      const message = sent.messages.at(index);
      return message === undefined ? [] : [message];
    });
    const again = threadOf({ model: sonnet, history });
    const bytesOf = (thread: typeof sent): string =>
      bodyText([thread.bytes.slice(0, thread.bytes.length)]);
    expect(bytesOf(again)).toBe(bytesOf(sent));
    expect(again.end.key).toBe(sent.end.key);
    const later = appendMessages(again, [say("assistant", "Noon?"), say("user", "Yes.")]);
    expect(bytesOf(later)).toBe(
      `${bytesOf(sent)},{"role":"assistant","content":[{"type":"text","text":"Noon?"}]},{"role":"user","content":[{"type":"text","text":"Yes."}`,
    );
    const request = encodeRequest({
      assembly: assemblyOf({ model: sonnet, history }),
      plan: planOf(),
      model: sonnet,
      options: plainOptions,
    });
    expect(request.headers["anthropic-beta"]).toBe("mid-conversation-system-clear-at-2026-08-21");
  });
});

describe("what the model does not take", () => {
  const noMarkers: ModelFacts = { ...haiku, cache: { ...haiku.cache, markers: null } };

  test("of markers is stripped and noted (N-14)", () => {
    const assembly = assemblyOf({ model: noMarkers });
    const plan = planOf({ 0: "5m" }, { requestMarker: "5m" });
    const request = encodeRequest({ assembly, plan, model: noMarkers, options: plainOptions });
    expect(bodyText(request.pieces)).toBe(bodyOf({}));
    expect(request.notes).toEqual([
      { kind: "markers-stripped", detail: "1 left out: the model takes no markers" },
      {
        kind: "markers-stripped",
        detail: "the marker for the whole request left out: the model takes none",
      },
    ]);
  });

  test("of content is noted, once for all of it", () => {
    const history: Message[] = [say("user", "Hi.", ""), say("assistant", "", "Yes?")];
    const assembly = assemblyOf({ history });
    const { notes } = encodeRequest({
      assembly,
      plan: planOf(),
      model: haiku,
      options: plainOptions,
    });
    expect(notes).toEqual([
      {
        kind: "content-left-out",
        detail: "a block of type text: the provider refuses text without a word (and 1 before it)",
      },
    ]);
  });

  test("of a character in tools and system text is noted in every call", () => {
    const tools = [{ ...tool("Read"), description: "\ud800", inputSchemaJson: '{"a":"\\udc00"}' }];
    const { notes } = encodeRequest({
      assembly: assemblyOf({ tools, system: ["Well.", "Cut \ud83d"] }),
      plan: planOf(),
      model: haiku,
      options: { ...plainOptions, stopSequences: ["\ud83d"] },
    });
    const instead = "the provider refuses it; U+FFFD is sent instead";
    expect(notes.map(({ detail }) => detail)).toEqual([
      `half a character in stop_sequences: ${instead}`,
      `2 halves of characters in the tools: ${instead}`,
      `half a character in the system text: ${instead}`,
    ]);
  });

  test.each([
    [{ 7: "5m" }, "marker on block 7 of 1"],
    [{ 0: "5m" }, "a thinking cannot carry one"],
    [{ 1: "24h" }, "no marker lives for 24h here"],
  ] as const)("of a plan is a mistake of ours: %j", (marked, problem) => {
    const thinking = say("assistant", { type: "thinking", text: "hm", signature: "s" }, "Yes?");
    const setting: MessagesSetting = problem.includes("of 1") ? {} : { current: [thinking] };
    expect(() => bodyOf(setting, planOf(marked))).toThrow(problem);
  });
});

describe("encoding", () => {
  const words = fc.string({ minLength: 1, maxLength: 8 });
  const message = fc.record({
    role: fc.constantFrom("user" as const, "assistant" as const, "system" as const),
    content: fc.array(
      words.map((each) => ({ type: "text" as const, text: each })),
      { maxLength: 3 },
    ),
  });

  test("twice gives equal bytes, and changes nothing it was given", () => {
    const call = deepFreeze({
      assembly: assemblyOf(full),
      plan: planOf({ 1: "1h", 8: "5m" }),
      model: haiku,
      options: { ...plainOptions, stopSequences: ["END"], extraJson: { metadata: "{}" } },
    });
    const first = encodeRequest(call);
    const second = encodeRequest(call);
    expect(bodyText(second.pieces)).toBe(bodyText(first.pieces));
    expect(first.byteLength).toBe(new TextEncoder().encode(bodyText(first.pieces)).length);
  });

  test("gives valid JSON with alternating roles for any conversation, wherever the volatile text is", () => {
    fc.assert(
      fc.property(
        fc.array(message, { maxLength: 6 }),
        fc.constantFrom("message-tail" as const, "system-tail" as const, "message-head" as const),
        fc.constantFrom(haiku, sonnet),
        fc.option(words),
        (history, place, model, volatile) => {
          const body: unknown = JSON.parse(bodyOf({ model, history, volatile, place }));
          const { messages } = body as { messages: { role: string; content: unknown[] }[] };
          expect(messages.every(({ content }) => content.length > 0)).toBe(true);
          const isRepeated = messages.some(
            ({ role }, index) => role !== "system" && role === messages[index - 1]?.role,
          );
          expect(isRepeated).toBe(false);
        },
      ),
      { numRuns: 50 },
    );
  });

  test("of a longer conversation begins with the bytes of the shorter one", () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 6 }), message, (history, next) => {
        const before = threadOf({ model: sonnet, history });
        const after = threadOf({ model: sonnet, history: [...history, next] });
        const start = after.bytes.slice(0, before.bytes.length);
        expect(bodyText([start])).toBe(bodyText([before.bytes.slice(0, before.bytes.length)]));
      }),
      { numRuns: 50 },
    );
  });
});
