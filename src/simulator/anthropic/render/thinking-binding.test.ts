// Goal: thinking sent back is bound to everything before it (providers.md §1.9). Method: real conversations, edited.
import { describe, expect, test } from "vitest";
import { createClient, marked, text, tool, type Any, type Client } from "../test-kit.ts";

const beta = "thinking-binding-controls-2026-08-01";
const dropBlock = {
  type: "adaptive",
  block_binding: { prefix_mismatch_behavior: "drop_block" },
};

/** Three turns of a conversation, each reply with its thinking. */
function talk(client: Client, extra: object = {}, turns = 3): Any {
  const body: Any = { ...start(), ...extra };
  for (let turn = 1; turn < turns; turn += 1) {
    const { body: reply, text: raw } = client.create(body);
    expect(raw).not.toContain('"type":"error"');
    body.messages = [
      ...body.messages,
      { role: "assistant", content: reply.content },
      { role: "user", content: `question ${turn}` },
    ];
  }
  return body;
}

function start(): Any {
  return {
    model: "claude-opus-5-5",
    max_tokens: 500,
    system: [text("Be brief.")],
    tools: [tool("read")],
    messages: [{ role: "user", content: "question 0" }],
  };
}

function mismatch(path: string, withBeta: boolean): string {
  const sentence = withBeta
    ? ""
    : " That setting requires the `thinking-binding-controls-2026-08-01` value in the `anthropic-beta` header.";
  return `${path}: Invalid \`signature\` in \`thinking\` block. The block is bound to a different conversation. Remove the block, or set \`thinking.block_binding.prefix_mismatch_behavior\` to "drop_block".${sentence}`;
}

function errorOf(client: Client, body: Any): string {
  const { status, body: answer } = client.create(body);
  return status === 200 ? "accepted" : answer.error.message;
}

function effort(level: string): readonly Any[] {
  return [{ role: "system", content: [], output_config: { effort: level } }];
}

/** The first question, and settings for its answer. */
function asked(settings: readonly Any[]): Any {
  return { ...start(), messages: [...start().messages, ...settings] };
}

/** The body with the thinking of one message removed. */
function withoutThinking(body: Any, ...indices: readonly number[]): Any {
  const messages = body.messages.map((message: Any, index: number) =>
    indices.includes(index)
      ? { ...message, content: message.content.filter(({ type }: Any) => type !== "thinking") }
      : message,
  );
  return { ...body, messages };
}

test("a reply of a thinking model has thinking with a signature", () => {
  const { content } = createClient().create(start()).body;
  expect(content.map(({ type }: Any) => type)).toEqual(["thinking", "text"]);
  expect(content[0].signature.length).toBeGreaterThan(50);
});

test("thinking that is not shown still has a signature, and can be sent back", () => {
  const client = createClient();
  const body = talk(client, { thinking: { type: "adaptive", display: "omitted" } });
  expect(body.messages[1].content[0]).toMatchObject({ type: "thinking", thinking: "" });
  expect(errorOf(client, body)).toBe("accepted");
});

describe("an unchanged conversation", () => {
  test("is accepted", () => {
    const client = createClient();
    expect(errorOf(client, talk(client, {}, 5))).toBe("accepted");
  });

  test("stays so when markers move and effort changes", () => {
    const client = createClient();
    const body = talk(client);
    const moved = {
      ...body,
      system: [text("Be brief.", marked)],
      tools: [tool("read", marked)],
      output_config: { effort: "low" },
    };
    expect(errorOf(client, moved)).toBe("accepted");
  });

  test("stays so with tool calls between, in a stream as well", () => {
    const client = createClient();
    client.answer = () => ({
      parts: [
        { kind: "thinking", text: "first" },
        { kind: "text", text: "Looking." },
        { kind: "thinking", text: "second" },
        { kind: "tool use", name: "read", inputJson: '{"path":"a"}' },
      ],
      stop: "tool use",
    });
    const { content } = client.create(start()).body;
    const id = content[3].id;
    const body = {
      ...start(),
      messages: [
        ...start().messages,
        { role: "assistant", content },
        { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: "ok" }] },
      ],
    };
    expect(errorOf(client, body)).toBe("accepted");
  });
});

describe("a changed conversation is refused", () => {
  test.each<readonly [string, (body: Any) => Any]>([
    ["system", (body) => ({ ...body, system: "Be long." })],
    ["tools", (body) => ({ ...body, tools: [tool("read"), tool("write")] })],
    [
      "an earlier message",
      (body) => ({
        ...body,
        messages: [{ role: "user", content: "other" }, ...body.messages.slice(1)],
      }),
    ],
    [
      "the start cut off",
      (body) => ({
        ...body,
        messages: [{ role: "user", content: "Summary." }, ...body.messages.slice(1)],
      }),
    ],
  ])("after a change of %s", (_what, change) => {
    const client = createClient();
    const changed = change(talk(client));
    expect(errorOf(client, changed)).toBe(mismatch("messages.1.content.0", false));
    client.betas = [beta];
    expect(errorOf(client, changed)).toBe(mismatch("messages.1.content.0", true));
  });

  test("at the first block behind the change", () => {
    const client = createClient();
    const body = talk(client);
    body.messages[2] = { role: "user", content: "edited" };
    expect(errorOf(client, body)).toBe(mismatch("messages.3.content.0", false));
  });

  test("when an effort sent before it was edited or deleted", () => {
    const client = createClient();
    client.betas = ["mid-conversation-output-config-2026-07-01"];
    const { content } = client.create(asked(effort("low"))).body;
    const after = (settings: readonly Any[]): string => {
      const { messages, ...body } = asked(settings);
      const more = [
        { role: "assistant", content },
        { role: "user", content: "next" },
      ];
      return errorOf(client, { ...body, messages: [...messages, ...more] });
    };
    expect(after(effort("low"))).toBe("accepted");
    expect(after(effort("high"))).toBe(mismatch("messages.2.content.0", false));
    expect(after([])).toBe(mismatch("messages.1.content.0", false));
  });

  test("when the thinking itself was edited", () => {
    const client = createClient();
    const body = talk(client);
    body.messages[1].content[0].thinking = "I never said that.";
    expect(errorOf(client, body)).toBe(mismatch("messages.1.content.0", false));
  });

  test("when its signature is of another maker", () => {
    const client = createClient();
    const body = talk(client);
    body.messages[1].content[0].signature = "EqoBCkgIARABGAIiQL2UoU0b1OHYi";
    expect(errorOf(client, body)).toBe(mismatch("messages.1.content.0", false));
  });

  test("by counting too", () => {
    const client = createClient();
    const body = talk(client);
    const { body: answer } = client.count({ ...body, system: "Be long." });
    expect(answer.error.message).toBe(mismatch("messages.1.content.0", false));
  });
});

describe("removing thinking", () => {
  test("oldest first is allowed", () => {
    const client = createClient();
    const body = talk(client, {}, 4);
    expect(errorOf(client, withoutThinking(body, 1))).toBe("accepted");
    expect(errorOf(client, withoutThinking(body, 1, 3))).toBe("accepted");
    expect(errorOf(client, withoutThinking(body, 1, 3, 5))).toBe("accepted");
  });

  test("from the middle is not", () => {
    const client = createClient();
    const body = talk(client, {}, 4);
    expect(errorOf(client, withoutThinking(body, 3))).toBe(mismatch("messages.5.content.0", false));
  });
});

describe("dropping blocks instead of failing", () => {
  test("drops the block and all behind it, says so, and charges nothing for them", () => {
    const client = createClient();
    client.betas = [beta];
    const body = { ...talk(client), system: "Be long.", thinking: dropBlock };
    const { status, body: answer } = client.create(body);
    expect(status).toBe(200);
    expect(answer.input_transformations).toEqual([
      { type: "thinking_dropped", path: "messages.1.content.0", reason: "prefix_binding_mismatch" },
      { type: "thinking_dropped", path: "messages.3.content.0", reason: "prefix_binding_mismatch" },
    ]);
    const bare = client.count(withoutThinking(body, 1, 3)).body.input_tokens;
    expect(client.count(body).body.input_tokens).toBe(bare);
  });

  test("an edited block takes those that stood on it with it", () => {
    const client = createClient();
    client.betas = [beta];
    const body = { ...talk(client), thinking: dropBlock };
    body.messages[1].content[0].thinking = "I never said that.";
    const { input_transformations: dropped } = client.create(body).body;
    expect(dropped.map(({ path }: Any) => path)).toEqual([
      "messages.1.content.0",
      "messages.3.content.0",
    ]);
  });

  test("what is thought after the drop stands on the conversation without the dropped blocks", () => {
    const client = createClient();
    client.betas = [beta];
    const body = { ...talk(client), system: "Be long.", thinking: dropBlock };
    const { content } = client.create(body).body;
    const messages = [
      ...body.messages,
      { role: "assistant", content },
      { role: "user", content: "and?" },
    ];
    const { input_transformations: dropped } = client.create({ ...body, messages }).body;
    expect(dropped.map(({ path }: Any) => path)).toEqual([
      "messages.1.content.0",
      "messages.3.content.0",
    ]);
  });

  test("nothing to report is an empty list, and nothing at all without the beta", () => {
    const client = createClient();
    expect(client.create(start()).body).not.toHaveProperty("input_transformations");
    client.betas = [beta];
    expect(client.create(start()).body.input_transformations).toEqual([]);
  });

  test("is not to be had without its beta", () => {
    const client = createClient();
    expect(errorOf(client, { ...start(), thinking: dropBlock })).toBe(
      "thinking.adaptive.block_binding: Extra inputs are not permitted",
    );
  });
});

describe("other models", () => {
  test("a newer one reads the thinking of an older one", () => {
    const client = createClient();
    client.betas = [beta];
    const body = talk(client, { model: "claude-opus-5", thinking: { type: "adaptive" } });
    const { body: answer } = client.create({ ...body, model: "claude-opus-5-5" });
    expect(answer.input_transformations).toEqual([]);
  });

  test("an older one drops the thinking of a newer one without a word", () => {
    const client = createClient();
    const body = talk(client);
    const older = { ...body, model: "claude-opus-5" };
    expect(errorOf(client, older)).toBe("accepted");
    expect(client.count(older).body).toEqual(client.count(withoutThinking(older, 1, 3)).body);
    client.betas = [beta];
    expect(client.create(older).body.input_transformations[0]).toEqual({
      type: "thinking_dropped",
      path: "messages.1.content.0",
      reason: "model_binding_mismatch",
    });
  });

  test("a conversation may go to an older model and come back", () => {
    const client = createClient();
    const body = talk(client);
    const { content } = client.create({
      ...body,
      model: "claude-opus-5",
      thinking: { type: "adaptive" },
    }).body;
    const messages = [
      ...body.messages,
      { role: "assistant", content },
      { role: "user", content: "and?" },
    ];
    expect(errorOf(client, { ...body, messages })).toBe("accepted");
  });

  test("models without binding take any signature and any change", () => {
    const client = createClient();
    const body = talk(client, { model: "claude-opus-5", thinking: { type: "adaptive" } });
    body.messages[1].content[0].signature = "foreign";
    expect(errorOf(client, { ...body, system: "Be long." })).toBe("accepted");
  });
});
