import { describe, expect, test } from "vitest";
import { StrataError } from "../../strata-error.ts";
import { readRequest } from "./read-request.ts";
import type { ForeignRequest } from "./foreign-request.ts";
import { tool } from "../../diagnosis/test-kit.ts";

const read = (body: unknown): ForeignRequest => readRequest(JSON.stringify(body));
const lastKey = (body: unknown): string | undefined => read(body).blocks.at(-1)?.key;
const rows = (body: unknown): unknown[] =>
  read(body).blocks.map(({ path, tier, kind, role }) => [path, tier, kind, role]);

describe("the Messages API", () => {
  const body = {
    model: "claude-sonnet-4-6",
    max_tokens: 10,
    tools: [tool("Bash"), tool("Late", { defer_loading: true }), tool("Read")],
    system: "Be brief.",
    messages: [
      { role: "user", content: "Hello" },
      { role: "system", content: "Today is Sunday." },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "Hm", signature: "s" },
          { type: "tool_use", id: "toolu_1", name: "Bash", input: { path: "a" } },
        ],
      },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "ok" }] },
    ],
  };

  test("gives tools, system and messages as blocks; deferred tools are not in the prompt", () => {
    expect(rows(body)).toEqual([
      ["tools.0", "T0", "tool definition", "tools"],
      ["tools.2", "T0", "tool definition", "tools"],
      ["system.0", "T1", "system text", "system"],
      ["messages.0.content.0", "T3", "text", "user"],
      ["messages.1.content.0", "T3", "text", "system"],
      ["messages.2.content.0", "T3", "thinking", "assistant"],
      ["messages.2.content.1", "T3", "tool_use", "assistant"],
      ["messages.3.content.0", "T3", "tool_result", "user"],
    ]);
    expect(read(body).blocks.map(({ section }) => section)).toEqual([
      "tool Bash",
      "tool Read",
      "system block 0",
      "user message 0",
      "system message 1",
      "thinking in assistant message 2",
      "use of Bash in assistant message 2",
      "tool result in user message 3",
    ]);
  });

  test("a text and a list with one text block are the same, and so is a moved marker", () => {
    const flipped = structuredClone(body) as Record<string, unknown>;
    flipped["system"] = [{ text: "Be brief.", type: "text", cache_control: { type: "ephemeral" } }];
    flipped["messages"] = [
      { content: [{ type: "text", text: "Hello" }], role: "user" },
      ...body.messages.slice(1, 3),
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: "toolu_1",
            is_error: false,
            content: [{ type: "text", text: "ok" }],
            cache_control: { type: "ephemeral", ttl: "1h" },
          },
        ],
      },
    ];
    expect(lastKey(flipped)).toBe(lastKey(body));
    expect(read(flipped).markers).toEqual([
      { block: 2, lifetime: "5m", path: "system.0" },
      { block: 7, lifetime: "1h", path: "messages.3.content.0" },
    ]);
  });

  test("a deferred tool that comes in the middle changes nothing until it is referred to", () => {
    const more = { ...body, tools: [tool("Aa", { defer_loading: true }), ...body.tools] };
    expect(lastKey(more)).toBe(lastKey(body));
    const reference = (description: string): unknown => ({
      ...body,
      tools: [...body.tools.slice(0, 1), tool("Late", { defer_loading: true, description })],
      messages: [{ role: "user", content: [{ type: "tool_reference", tool_name: "Late" }] }],
    });
    expect(lastKey(reference("one"))).not.toBe(lastKey(reference("two")));
  });

  test("the order of keys in a tool's input is content, in a block it is not", () => {
    const first = keyOf('{"type":"tool_use","id":"t","name":"n","input":{"a":1.0,"2":1}}');
    expect(keyOf('{"name":"n", "id":"t","input": {"a":1.0, "2":1},"type":"tool_use"}')).toBe(first);
    expect(keyOf('{"type":"tool_use","id":"t","name":"n","input":{"2":1,"a":1.0}}')).not.toBe(
      first,
    );
    expect(keyOf('{"type":"tool_use","id":"t","name":"n","input":{"a":1,"2":1}}')).not.toBe(first);
  });

  test("unknown blocks are kept as they are", () => {
    const unknown = { type: "hologram", shape: { b: 1, a: 2 } };
    const [block] = read({
      ...body,
      tools: [],
      system: "",
      messages: [{ role: "user", content: [unknown] }],
    }).blocks;
    expect(block).toMatchObject({
      kind: "other",
      text: '{"shape":{"b":1,"a":2},"type":"hologram"}',
    });
  });

  test("search results and what the provider's own tools say can be marked", () => {
    const types = [
      "search_result",
      "server_tool_use",
      "web_search_tool_result",
      "mcp_tool_result",
      "tool_reference",
      "container_upload",
    ];
    const content = types.map((type) => ({ type }));
    const { blocks } = read({
      ...body,
      tools: [],
      system: "",
      messages: [{ role: "user", content }],
    });
    expect(blocks.map(({ kind, mayCarryMarker }) => [kind, mayCarryMarker])).toEqual([
      ["document", true],
      ["server tool block", true],
      ["server tool block", true],
      ["server tool block", true],
      ["server tool block", true],
      ["server tool block", true],
    ]);
  });

  test("a message that is cleared costs nothing once the user has spoken again", () => {
    const cleared = { role: "system", content: "Now.", clear_at: "next_user_message" };
    const messages = [{ role: "user", content: "a" }, cleared];
    const later = [
      ...messages,
      { role: "assistant", content: "b" },
      { role: "user", content: "c" },
    ];
    const tokens = [messages, later].map(
      (list) =>
        read({ ...body, messages: list }).blocks.find(({ text }) => text === "Now.")?.tokens,
    );
    expect(tokens).toEqual([2, 0]);
  });

  test("explicit defaults read as absent", () => {
    const said = {
      ...body,
      tool_choice: { type: "auto", disable_parallel_tool_use: false },
      thinking: { type: "disabled" },
      output_config: { effort: "high" },
      speed: "standard",
    };
    expect(read(said).settings).toEqual({});
    const other = {
      ...body,
      tool_choice: { type: "tool", name: "Bash", disable_parallel_tool_use: true },
      thinking: { type: "enabled", budget_tokens: 2048 },
      output_config: { effort: "low" },
      speed: "fast",
    };
    expect(read(other).settings).toEqual({
      "tool choice": "tool Bash",
      "parallel tool use": "off",
      thinking: "2048 tokens",
      effort: "low",
      speed: "fast",
    });
  });

  test("thinking that is always on is the default, and switching it off is not", () => {
    const always = { ...body, model: "claude-opus-5-5" };
    expect(read({ ...always, thinking: { type: "adaptive" } }).settings).toEqual({});
    const off = { ...always, thinking: { type: "disabled" } };
    expect(read(off).settings).toEqual({ thinking: "off" });
  });

  test("images in a tool's result are seen", () => {
    const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "" } };
    const result = { type: "tool_result", tool_use_id: "t", content: [image] };
    expect(read({ ...body, messages: [{ role: "user", content: [result] }] }).settings).toEqual({
      "images appear or vanish": "images",
    });
  });

  test("a continued thread says so", () => {
    const thread = { type: "continue", previous_message_id: "msg_1" };
    expect(read({ ...body, thread }).continues).toBe(true);
    expect(read(body).continues).toBe(false);
  });
});

describe("the Responses API", () => {
  const developer = {
    type: "message",
    role: "developer",
    content: [{ type: "input_text", text: "Be brief." }],
  };
  const body = {
    model: "gpt-6.1-sol",
    input: [
      {
        type: "additional_tools",
        id: "at_1",
        role: "developer",
        tools: [{ type: "function", name: "exec" }],
      },
      { ...developer, id: "msg_1" },
      { type: "message", id: "msg_2", role: "user", content: "Hello" },
      { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "sealed" },
      {
        type: "custom_tool_call",
        id: "ctc_1",
        status: "completed",
        call_id: "call_1",
        name: "exec",
        input: "ls",
      },
      { type: "custom_tool_call_output", id: "fco_1", call_id: "call_1", output: "a.txt" },
    ],
    client_metadata: { b: "1", a: "2" },
    prompt_cache_key: "thread-1",
  };

  test("takes tools among the items for tools, and leading developer messages for the system", () => {
    expect(rows(body)).toEqual([
      ["input.0.tools.0", "T0", "tool definition", "tools"],
      ["input.1.content.0", "T1", "system text", "system"],
      ["input.2.content.0", "T3", "text", "user"],
      ["input.3", "T3", "thinking", "assistant"],
      ["input.4", "T3", "tool_use", "assistant"],
      ["input.5.output.0", "T3", "tool_result", "user"],
    ]);
    expect(read(body).settings).toEqual({ "cache key": "thread-1" });
  });

  test("ids of items and metadata of the client are no content; ids of calls are", () => {
    const again = JSON.stringify(body)
      .replaceAll(/"(at|msg|rs|ctc|fco)_(\d)"/g, '"$1_9$2"')
      .replace('{"b":"1","a":"2"}', '{"a":"2","b":"1"}');
    expect(readRequest(again).blocks.at(-1)?.key).toBe(lastKey(body));
    const other = JSON.stringify(body).replaceAll("call_1", "call_2");
    expect(readRequest(other).blocks.at(-1)?.key).not.toBe(lastKey(body));
  });

  test("a string is one user message; instructions cannot be marked", () => {
    const { blocks, protocol } = read({
      model: "gpt-6.1-sol",
      instructions: "Brief.",
      input: "Hello",
    });
    expect(protocol).toBe("openai-responses");
    expect(blocks.map(({ text, mayCarryMarker }) => [text, mayCarryMarker])).toEqual([
      ["Brief.", false],
      ["Hello", true],
    ]);
  });

  test("markers, mode and lifetime are read where they stand", () => {
    const part = { type: "input_text", text: "Hi", prompt_cache_breakpoint: { mode: "explicit" } };
    const request = read({
      model: "gpt-6.1-sol",
      input: [{ role: "user", content: [part] }],
      prompt_cache_options: { mode: "explicit", ttl: "12h" },
    });
    expect(request.markers).toEqual([{ block: 0, lifetime: "12h", path: "input.0.content.0" }]);
    expect([request.mode, request.ownLifetime]).toEqual(["explicit", "12h"]);
  });
});

describe("Chat Completions", () => {
  const body = {
    model: "gpt-6.1-sol",
    tools: [{ type: "function", function: { name: "exec", parameters: {} } }],
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Hello" },
      {
        role: "assistant",
        content: null,
        tool_calls: [
          { id: "call_1", type: "function", function: { name: "exec", arguments: "{}" } },
        ],
      },
      { role: "tool", tool_call_id: "call_1", content: "done" },
    ],
    reasoning_effort: "medium",
    parallel_tool_calls: true,
    tool_choice: "auto",
    response_format: { type: "text" },
    service_tier: "auto",
    verbosity: "medium",
  };

  test("gives the same kinds of blocks, with defaults read as absent", () => {
    expect(rows(body)).toEqual([
      ["tools.0", "T0", "tool definition", "tools"],
      ["messages.0.content.0", "T1", "system text", "system"],
      ["messages.1.content.0", "T3", "text", "user"],
      ["messages.2.tool_calls.0", "T3", "tool_use", "assistant"],
      ["messages.3.content.0", "T3", "tool_result", "user"],
    ]);
    expect(read(body).settings).toEqual({});
  });

  test("a result can be marked where it is a list of parts, and tools cannot", () => {
    const parts = [{ type: "text", text: "done" }];
    const marks = [body.messages, [{ role: "tool", tool_call_id: "call_1", content: parts }]].map(
      (messages) => read({ ...body, messages }).blocks.map(({ mayCarryMarker }) => mayCarryMarker),
    );
    expect(marks).toEqual([
      [false, true, true, false, false],
      [false, true],
    ]);
  });

  test("a later message of the application is system text, as our own are", () => {
    const messages = [...body.messages, { role: "developer", content: "Be quick." }];
    expect(read({ ...body, messages }).blocks.at(-1)).toMatchObject({
      kind: "system text",
      tier: "T3",
    });
  });

  test("a choice of one tool is named", () => {
    const tool_choice = { type: "function", function: { name: "exec" } };
    expect(read({ ...body, tool_choice }).settings).toEqual({ "tool choice": "tool exec" });
  });

  test("a text and a list with one text part are the same", () => {
    const flipped = {
      ...body,
      messages: body.messages.map((message) =>
        typeof message.content === "string"
          ? { ...message, content: [{ type: "text", text: message.content }] }
          : message,
      ),
    };
    expect(lastKey(flipped)).toBe(lastKey(body));
  });
});

describe("a body that cannot be read", () => {
  test.each([
    ["{", /^the request body is not JSON/],
    ["[]", /not a request that Strata can read/],
    ['{"model":"gpt-6.1-sol"}', /not a request that Strata can read/],
    ['{"messages":"hi"}', /not a request that Strata can read/],
    ['{"input":7}', /"input" is 7/],
  ])("%s is an error with what was expected", (body, message) => {
    expect(() => readRequest(body)).toThrow(message);
    expect(() => readRequest(body)).toThrow(StrataError);
  });

  test("strange fields inside a request are not", () => {
    const strange =
      '{"messages":[null,7,{"role":5,"content":{"a":[]}},{"content":[1,null,"x",{"type":8}]}],"tools":[3,{"name":{}}],"system":[false],"cache_control":"yes","thinking":[],"model":4,"stop_sequences":1}';
    expect(readRequest(strange).blocks).toHaveLength(8);
  });

  test("JSON that is nested too deep is refused", () => {
    const deep = `{"input":[{"type":"x","a":${"[".repeat(3000)}${"]".repeat(3000)}}]}`;
    expect(() => readRequest(deep)).toThrow("nested deeper than 500 levels");
  });
});

function bodyWith(block: string): string {
  return `{"model":"claude-sonnet-4-6","max_tokens":1,"messages":[{"role":"assistant","content":[${block}]}]}`;
}

/** What is read from a message of the model with this one block. */
function keyOf(block: string): string | undefined {
  return readRequest(bodyWith(block)).blocks[0]?.key;
}
