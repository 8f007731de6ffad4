// Requests beside a conversation, and conversations beside one another: what does not belong together is kept apart.
import { expect, describe, test } from "vitest";
import {
  answer,
  coded,
  model,
  next,
  opening,
  rules,
  session,
  tools,
  usage,
  marker,
  saidInStream,
  saidWhole,
  startWatching,
  textOf,
  type Exchange,
  type Message,
} from "./test-kit.ts";

describe("what belongs to a conversation and is none of its calls", () => {
  test("a sub-agent of opencode has a session of its own and is shown under the one that started it", () => {
    const { pass } = startWatching();
    const opencode = { "user-agent": "opencode/1.18.33 ai-sdk/provider-utils/4.0.46" };
    const own = { system: "You search.", tools: [tools[1]] };
    const task = { role: "user", content: "Find the test." };
    const main = pass({
      ...coded([opening]),
      headers: { ...opencode, "x-session-id": "ses_1" },
      ...saidInStream(["x"], usage(0, 3600), "m1"),
    });
    const started = pass({
      ...coded([task], own),
      headers: { ...opencode, "x-session-id": "ses_2", "x-parent-session-id": "ses_1" },
      ...saidInStream(["x"], usage(0, 0, 90), "m2"),
    });
    const nested = pass({
      ...coded([{ role: "user", content: "Look in src." }], own),
      headers: { ...opencode, "x-session-id": "ses_3", "x-parent-session-id": "ses_2" },
      ...saidInStream(["x"], usage(0, 0, 90), "m3"),
    });
    const stray = pass({
      ...coded([{ role: "user", content: "Look in test." }], own),
      headers: { ...opencode, "x-session-id": "ses_4", "x-parent-session-id": "never seen" },
      ...saidInStream(["x"], usage(0, 0, 90), "m4"),
    });
    expect([main, started, nested, stray].map((call) => call?.conversation)).toMatchObject([
      { id: "conversation 1", kind: "conversation", client: "opencode", parentId: null },
      { id: "conversation 2", kind: "sub-agent", parentId: "conversation 1" },
      { id: "conversation 3", kind: "sub-agent", parentId: "conversation 2" },
      { id: "conversation 4", kind: "conversation", parentId: null },
    ]);
  });

  test("a sub-agent is a conversation of its own under its parent", () => {
    const { pass } = startWatching();
    const agent = { ...session, "x-claude-code-agent-id": "a-7" };
    const nested = {
      ...session,
      "x-claude-code-agent-id": "a-8",
      "x-claude-code-parent-agent-id": "a-7",
    };
    const task = { role: "user", content: "Find the test." };
    const own = { system: "You search.", tools: [tools[1]] };
    pass({ ...coded([opening]), ...saidInStream(["x"], usage(0, 3600), "m1") });
    const first = pass({
      ...coded([task], own),
      headers: agent,
      ...saidInStream(["x"], usage(0, 0, 90), "m2"),
    });
    const inner = pass({
      ...coded([task], own),
      headers: nested,
      ...saidInStream(["x"], usage(0, 0, 90), "m3"),
    });
    const second = pass({
      ...coded([task, answer, next], own),
      headers: agent,
      ...saidInStream(["x"], usage(0, 0, 99), "m4"),
    });
    expect(first?.conversation).toMatchObject({
      id: "conversation 2",
      parentId: "conversation 1",
      kind: "sub-agent",
    });
    expect(inner?.conversation).toMatchObject({
      id: "conversation 3",
      parentId: "conversation 2",
      kind: "sub-agent",
    });
    expect(second?.conversation).toMatchObject({ id: "conversation 2", callNumber: 2 });
  });

  test("a request for a title is told apart, before its conversation and after", () => {
    const { pass } = startWatching();
    const headers = { "user-agent": "opencode/1.18.33", "x-session-affinity": "ses_1" };
    const title = {
      headers,
      body: {
        model: "claude-haiku-4-5",
        max_tokens: 30,
        system: [{ type: "text", text: "You write titles of conversations.", ...marker }],
        messages: [
          { role: "user", content: [{ type: "text", text: "Fix the build.", ...marker }] },
        ],
      },
    };
    const before = pass({ ...title, ...saidWhole(usage(0, 0, 40), "m1") });
    const main = pass({
      ...coded([opening]),
      headers,
      ...saidInStream(["x"], usage(0, 3600), "m2"),
    });
    const later = pass({
      ...title,
      body: { ...title.body, system: "Name it." },
      ...saidWhole(usage(0, 0, 30), "m3"),
    });
    expect(before?.conversation).toMatchObject({ kind: "title", client: "opencode" });
    expect(main?.conversation).toMatchObject({ kind: "conversation", callNumber: 1 });
    expect(later?.conversation).toMatchObject({ kind: "title", parentId: main?.conversation.id });
  });

  test.each([
    ["counting tokens", "POST", "/v1/messages/count_tokens?beta=true"],
    ["a list of models", "GET", "/v1/models"],
    ["a batch", "POST", "/v1/messages/batches"],
    ["a greeting", "HEAD", "/api/hello"],
    ["a file", "POST", "/v1/files"],
    ["embeddings", "POST", "/v1/embeddings"],
  ])("%s is no model call", (_what, method, path) => {
    const { pass, calls } = startWatching();
    const body = path.endsWith("batches")
      ? { requests: [] }
      : { model, messages: undefined, input: "x" };
    pass({ method, path, headers: { "anthropic-version": "2023-06-01" }, body });
    expect(calls).toEqual([]);
  });
});

function greeted(person: string, words: string): Partial<Exchange> {
  const messages = [
    { role: "user", content: "Hello." },
    { role: "assistant", content: "Hello! How can I help?" },
    { role: "user", content: words },
  ];
  return {
    body: { model, max_tokens: 9, system: `You help ${person}. ${rules}`, messages },
    ...saidWhole(usage(0, 0, 3100), person),
  };
}

describe("without any id of the client", () => {
  test("two people who were greeted alike are two conversations, and no miss is claimed", () => {
    const { pass } = startWatching();
    pass(greeted("Ada", "What is my balance?"));
    const second = pass(greeted("Bob", "Where is my parcel?"));
    expect(second).toMatchObject({
      conversation: { id: "conversation 2" },
      explanation: { cause: "first call" },
    });
  });

  test("a conversation whose first message is written anew is still the same, and the miss names that message", () => {
    const { pass } = startWatching();
    const history = [answer, next, answer, next, answer];
    const asks = (listing: string, more: readonly Message[]): Partial<Exchange> => {
      const listed = { role: "user", content: `Files: ${listing} ${textOf(2000)}` };
      const messages = [listed, ...history, ...more, marked(next)];
      const system = [{ type: "text", text: rules, ...marker }];
      return { body: { model, max_tokens: 9, system, messages } };
    };
    pass({ ...asks("a.ts", []), ...saidWhole(usage(0, 5100), "m1") });
    const second = pass({
      ...asks("a.ts b.ts", [next, answer]),
      ...saidWhole(usage(3000, 2200), "m2"),
      atMs: 9000,
    });
    expect(second?.conversation).toMatchObject({ id: "conversation 1", callNumber: 2 });
    expect(second).toMatchObject({
      keptBlocks: 1,
      explanation: {
        cause: "history rewritten",
        block: { section: "user message 0", byteOffset: 12 },
      },
    });
  });
});

test("a call that was sent before the first one had begun to answer could not read what that one wrote", () => {
  const { pass } = startWatching();
  const first = { ...coded([opening]), tookMs: 5000 };
  pass({ ...first, ...saidInStream(["x"], usage(0, 3600), "m1") });
  const second = pass({ ...first, ...saidInStream(["x"], usage(0, 3600), "m2"), atMs: 20 });
  expect(second?.explanation).toMatchObject({ cause: "written concurrently", lostTokens: 3600 });
});

function marked(message: Message): Message {
  return { ...message, content: [{ type: "text", text: message["content"], ...marker }] };
}

describe("two tenants", () => {
  test("never meet: the same prompt of another account or upstream is another first call", () => {
    const { pass } = startWatching();
    pass({ ...coded([opening]), ...saidInStream(["x"], usage(0, 3600), "m1") });
    const long = {
      ...coded([opening, answer, next]),
      ...saidInStream(["x"], usage(0, 3630), "m2"),
    };
    const otherAccount = pass({ ...long, account: "two" });
    const otherUpstream = pass({ ...long, upstream: "elsewhere" });
    const same = pass({ ...long, ...saidInStream(["x"], usage(3600, 30), "m3") });
    expect(
      [otherAccount, otherUpstream].map((call) => [call?.keptBlocks, call?.explanation?.cause]),
    ).toEqual([
      [0, "first call"],
      [0, "first call"],
    ]);
    expect(same?.conversation).toMatchObject({ id: "conversation 1", callNumber: 2 });
  });
});

describe("a history that the provider keeps", () => {
  test("a thread of Anthropic goes on in its conversation, and nothing is compared", () => {
    const { pass } = startWatching();
    const body = {
      model,
      max_tokens: 9,
      system: rules,
      tools,
      messages: [opening],
      thread: { type: "create" },
    };
    pass({ body, ...saidWhole(usage(0, 3600), "msg_a") });
    const result = {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: "t", content: "ok" }],
    };
    const thread = { type: "continue", previous_message_id: "msg_a" };
    const second = pass({
      body: { model, max_tokens: 9, messages: [result], thread },
      ...saidWhole(usage(3600, 10), "msg_b"),
      atMs: 5000,
    });
    const third = pass({
      body: {
        model,
        max_tokens: 9,
        messages: [result],
        thread: { ...thread, previous_message_id: "msg_b" },
      },
      ...saidWhole(usage(3610, 10), "msg_c"),
      atMs: 9000,
    });
    expect(second?.conversation).toMatchObject({ id: "conversation 1", callNumber: 2 });
    expect(third?.conversation).toMatchObject({ id: "conversation 1", callNumber: 3 });
    expect(second).toMatchObject({ explanation: null, usage: { cacheReadTokens: 3600 } });
    expect(second?.notes).toEqual([
      "it goes on from a history that only the provider has: nothing to compare",
    ]);
  });

  test("a response goes on from the one it names", () => {
    const { pass } = startWatching();
    pass({ ...responded("resp_1"), body: { model: "gpt-5.5", input: "Hello." } });
    const second = pass({
      ...responded("resp_2"),
      body: { model: "gpt-5.5", input: "And?", previous_response_id: "resp_1" },
    });
    expect(second?.conversation).toMatchObject({ id: "conversation 1", callNumber: 2 });
  });
});

test("Codex is known by its thread, through tools in its input and random order of its own fields", () => {
  const { pass } = startWatching();
  const headers = { "user-agent": "codex_cli_rs/0.166.0", "session-id": "x", "thread-id": "th-1" };
  const head = [
    { type: "additional_tools", role: "developer", tools: [{ type: "custom", name: "exec" }] },
    { type: "message", role: "developer", content: [{ type: "input_text", text: textOf(3000) }] },
    {
      type: "message",
      role: "user",
      id: "msg_1",
      content: [{ type: "input_text", text: "Fix it." }],
    },
  ];
  const call = {
    type: "custom_tool_call",
    id: "ct_1",
    call_id: "c",
    name: "exec",
    input: "await tools.run()",
  };
  const result = { type: "custom_tool_call_output", call_id: "c", output: "ok" };
  const answered = (id: string, read: number, total: number): Partial<Exchange> => ({
    path: "/v1/responses",
    upstream: "openai",
    headers,
    answer: JSON.stringify({
      id,
      status: "completed",
      model: "gpt-6.1-sol",
      output: [],
      usage: {
        input_tokens: total,
        output_tokens: 9,
        input_tokens_details: { cached_tokens: read },
      },
    }),
  });
  const body = { model: "gpt-6.1-sol", prompt_cache_key: "th-1", store: false };
  pass({
    ...answered("r1", 0, 3100),
    body: { ...body, input: head, client_metadata: { a: "1", b: "2" } },
  });
  const second = pass({
    ...answered("r2", 3072, 3200),
    body: { ...body, input: [...head, call, result], client_metadata: { b: "2", a: "1" } },
    atMs: 9000,
  });
  expect(second?.conversation).toMatchObject({
    id: "conversation 1",
    callNumber: 2,
    client: "codex",
    clientSession: "th-1",
  });
  expect(second).toMatchObject({ keptBlocks: 3, explanation: { cause: "no miss" } });
});

function responded(id: string): Partial<Exchange> {
  return {
    path: "/v1/responses",
    upstream: "openai",
    answer: JSON.stringify({
      id,
      object: "response",
      status: "completed",
      model: "gpt-5.5",
      output: [],
      usage: { input_tokens: 40, output_tokens: 2, input_tokens_details: { cached_tokens: 0 } },
    }),
  };
}

function asked(account: string, more: readonly Message[], read: number): Partial<Exchange> {
  return {
    ...coded([opening, ...more]),
    account,
    ...saidInStream(["x"], usage(read, 3600 - read), `${account} ${read}`),
  };
}

describe("the memory of conversations", () => {
  test("gives up the oldest bodies first, and their conversations still go on", () => {
    const { pass, observer } = startWatching({ limits: { memoryBytesMax: 60_000 } });
    for (const account of ["a", "b", "c"]) pass(asked(account, [], 0));
    expect(observer.state()).toMatchObject({
      conversations: 3,
      forgotten: { conversations: 0, bodies: 2 },
    });
    expect(observer.state().bytes).toBeLessThan(60_000);
    const later = pass({ ...asked("a", [answer, next], 3600), atMs: 9000 });
    expect(later).toMatchObject({
      keptBlocks: 6,
      explanation: { cause: "no miss", expectedReadTokens: 3600 },
    });
  });

  test("forgets what was idle for a day, and what is one too many, and counts both", () => {
    const { pass, observer } = startWatching({ limits: { conversationsMax: 2 } });
    const said = saidInStream(["x"], usage(0, 3600));
    for (const account of ["a", "b", "c"]) pass({ ...coded([opening]), ...said, account });
    expect(observer.state()).toMatchObject({ conversations: 2, forgotten: { conversations: 1 } });
    pass({ ...coded([opening]), ...said, account: "d", atMs: 25 * 3_600_000 });
    expect(observer.state()).toMatchObject({ conversations: 1, forgotten: { conversations: 3 } });
  });
});
