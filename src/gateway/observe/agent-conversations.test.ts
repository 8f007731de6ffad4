// The conversation of a coding agent: it goes on over all that its client changes, and what breaks it is named.
import { expect, describe, test } from "vitest";
import {
  answer,
  coded,
  model,
  next,
  opening,
  rules,
  toolNamed,
  tools,
  usage,
  type Message,
  marker,
  saidInStream,
  saidWhole,
  startWatching,
  type Exchange,
} from "./test-kit.ts";

describe("an agent's conversation", () => {
  test("goes on over moving markers and texts that become lists, and each call adds only its own blocks", () => {
    const { pass } = startWatching();
    const first = pass({
      ...coded([opening]),
      ...saidInStream(["I look at it."], usage(0, 3600), "m1"),
    });
    const second = pass({
      ...coded([opening, answer, next]),
      ...saidInStream(["Done."], usage(3600, 30), "m2"),
      atMs: 20_000,
    });
    expect(first?.conversation).toEqual({
      id: "conversation 1",
      parentId: null,
      kind: "conversation",
      client: "claude-code",
      clientSession: "s-1",
      callNumber: 1,
    });
    expect(first?.explanation?.cause).toBe("first call");
    // Its own system text is left out: the vendor takes it out of the prompt.
    expect(first?.addedBlocks.map(({ section }) => section)).toEqual([
      "tool Bash",
      "tool Read",
      "tool Edit",
      "system block 1",
      "system block 2",
      "user message 0",
    ]);
    expect(second).toMatchObject({
      conversation: { id: "conversation 1", callNumber: 2 },
      keptBlocks: 6,
      addedBlocks: [{ section: "assistant message 1" }, { section: "user message 2" }],
      explanation: { cause: "no miss", expectedReadTokens: 3600, reportedReadTokens: 3600 },
    });
  });

  test("of gemini-cli misses nothing in its second call, although the first reply was silent about the cache", () => {
    const { pass } = startWatching();
    const asked = { role: "user", parts: [{ text: "What is in this folder?" }] };
    const said = { role: "model", parts: [{ text: "A README." }] };
    const ask = (contents: readonly object[], usageMetadata: object): ReturnType<typeof pass> =>
      pass({
        path: "/v1beta/models/gemini-2.5-pro:generateContent",
        upstream: "gemini",
        body: {
          systemInstruction: { parts: [{ text: "Tell what you see. ".repeat(800) }] },
          contents,
        },
        answer: JSON.stringify({
          candidates: [{ content: said, finishReason: "STOP" }],
          usageMetadata,
        }),
      });
    // A reply without `cachedContentTokenCount` reports no reads. Our own count of this text is higher.
    ask([asked], { promptTokenCount: 3000, candidatesTokenCount: 5 });
    const second = ask([asked, said, asked], {
      promptTokenCount: 3300,
      cachedContentTokenCount: 2998,
      candidatesTokenCount: 5,
    });
    expect(second).toMatchObject({
      conversation: { callNumber: 2 },
      explanation: { cause: "no miss" },
    });
  });

  test("is found without any id, by its content alone", () => {
    const { pass } = startWatching();
    const one = { role: "user", content: "One." };
    const two = { role: "user", content: "Two." };
    pass({ ...plain([one]), ...saidWhole(usage(0, 0, 3000)) });
    pass({ ...plain([two]), ...saidWhole(usage(0, 0, 3000)) });
    const third = pass({ ...plain([one, answer, next]), ...saidWhole(usage(0, 0, 3010)) });
    const fourth = pass({ ...plain([two, answer, next]), ...saidWhole(usage(0, 0, 3010)) });
    expect(third?.conversation).toMatchObject({
      id: "conversation 1",
      callNumber: 2,
      client: "unknown",
    });
    expect(fourth?.conversation).toMatchObject({ id: "conversation 2", callNumber: 2 });
  });

  test("stays the same one when its tools change, and the miss names the tools", () => {
    const { pass } = startWatching();
    pass({ ...coded([opening]), ...saidInStream(["I look at it."], usage(0, 3600), "m1") });
    const second = pass({
      ...coded([opening, answer, next], { tools: [...tools, toolNamed("Write")] }),
      ...saidInStream(["Done."], usage(0, 3700), "m2"),
      atMs: 20_000,
    });
    expect(second?.conversation).toMatchObject({ id: "conversation 1", callNumber: 2 });
    expect(second?.explanation).toMatchObject({
      cause: "tools changed",
      block: { section: "tool Write" },
    });
    expect(second?.explanation?.lostTokens).toBeGreaterThan(3000);
  });

  test("is not disturbed by tools that are loaded later, and shows them where they are named", () => {
    const { pass } = startWatching();
    const deferred = { ...toolNamed("Grep"), defer_loading: true };
    const found = {
      role: "user",
      content: [
        {
          type: "tool_result",
          tool_use_id: "t",
          content: [{ type: "tool_reference", tool_name: "Grep" }],
        },
      ],
    };
    pass({ ...coded([opening]), ...saidInStream(["I look at it."], usage(0, 3600), "m1") });
    const second = pass({
      ...coded([opening, answer, found, answer, next], {
        tools: [tools[0], deferred, tools[1], tools[2]],
      }),
      ...saidInStream(["Done."], usage(3600, 100), "m2"),
      atMs: 20_000,
    });
    expect(second).toMatchObject({ keptBlocks: 6, explanation: { cause: "no miss" } });
  });

  test("goes on after the client has replaced its history by a summary, although its first text changed", () => {
    const { pass } = startWatching();
    const asked = {
      role: "user",
      content: "Your task is to create a detailed summary of the conversation so far.",
    };
    pass({ ...coded([opening]), ...saidInStream(["I look at it."], usage(0, 3600), "m1") });
    const summary = pass({
      ...coded([opening, answer, asked]),
      ...saidInStream(["We fixed the build."], usage(3600, 20), "m2"),
      atMs: 20_000,
    });
    const compacted = {
      role: "user",
      content: "This goes on from an earlier one: we fixed the build.",
    };
    const after = pass({
      ...coded([compacted]),
      ...saidInStream(["Good."], usage(3050, 10), "m3"),
      atMs: 40_000,
    });
    expect(summary?.conversation).toMatchObject({
      kind: "summary",
      parentId: "conversation 1",
      callNumber: 1,
    });
    expect(summary?.explanation).toMatchObject({ cause: "no miss", expectedReadTokens: 3600 });
    expect(after?.conversation).toMatchObject({
      id: "conversation 1",
      kind: "conversation",
      callNumber: 2,
    });
  });

  test("keeps both lines apart where two calls go on from the same beginning", () => {
    const { pass } = startWatching();
    const other = { role: "assistant", content: "I try something else." };
    pass({ ...coded([opening]), ...saidInStream(["I look at it."], usage(0, 3600), "m1") });
    pass({
      ...coded([opening, answer, next]),
      ...saidInStream(["A"], usage(3600, 30), "m2"),
      atMs: 10_000,
    });
    const fork = pass({
      ...coded([opening, other, next]),
      ...saidInStream(["B"], usage(3600, 32), "m3"),
      atMs: 20_000,
    });
    const again = pass({
      ...coded([opening, answer, next, answer, next]),
      ...saidInStream(["C"], usage(3630, 30), "m4"),
      atMs: 30_000,
    });
    expect(fork?.conversation).toMatchObject({ id: "conversation 1", callNumber: 3 });
    expect(fork?.explanation?.cause).toBe("no miss");
    expect(again?.explanation).toMatchObject({ cause: "no miss", expectedReadTokens: 3630 });
  });
});

describe("the attribution text of Claude Code", () => {
  const changed = { type: "text", text: "x-anthropic-billing-header: cc_version=2.1.325.84a;" };
  const system = [
    changed,
    { type: "text", text: "You are an agent.", ...marker },
    { type: "text", text: rules, ...marker },
  ];

  test("breaks nothing at its own vendor, which takes it out of the prompt", () => {
    const { pass } = startWatching();
    pass({ ...coded([opening]), ...saidInStream(["I look at it."], usage(0, 3600), "m1") });
    const second = pass({
      ...coded([opening, answer, next], { system }),
      ...saidInStream(["Done."], usage(3600, 30), "m2"),
      atMs: 20_000,
    });
    expect(second).toMatchObject({ keptBlocks: 6, explanation: { cause: "no miss" } });
  });

  test("breaks the prefix everywhere else, and the line says at which byte", () => {
    const { pass } = startWatching();
    const upstream = "openrouter";
    pass({
      ...coded([opening]),
      ...saidInStream(["I look at it."], usage(0, 3600), "m1"),
      upstream,
    });
    const second = pass({
      ...coded([opening, answer, next], { system }),
      ...saidInStream(["Done."], usage(0, 3630), "m2"),
      upstream,
      atMs: 20_000,
    });
    expect(second?.explanation).toMatchObject({
      cause: "system changed",
      block: { section: "system block 0", byteOffset: 47 },
    });
  });
});

function plain(messages: readonly Message[]): Partial<Exchange> {
  return { body: { model, max_tokens: 9, system: rules, tools, messages } };
}
