// Long because every body is written out. Goal: a seed's policy gives the request its document describes.
import { describe, expect, test } from "vitest";
import { readEvent } from "../../src/core/layers/event.ts";
import { large, longText, markersIn, section, send, small, tool } from "./test-kit.ts";

const fiveMinutes = { type: "ephemeral" };
const oneHour = { type: "ephemeral", ttl: "1h" };

const time = "Current time: 2026-11-16T10:42:00Z\nTimezone: UTC";
const bash = { name: "bash", description: "Runs it.", input_schema: { type: "object" } };
const readFile = { name: "read_file", description: "Reads it.", input_schema: { type: "object" } };
const search = { name: "search", description: longText, input_schema: { type: "object" } };

/** The conversation of the large prompt before its second message. */
const history = [
  { role: "user", content: [{ type: "text", text: "Which tests fail?" }] },
  {
    role: "assistant",
    content: [
      { type: "text", text: "I will look." },
      { type: "tool_use", id: "t1", name: "bash", input: { command: "npm test" } },
      { type: "tool_use", id: "t2", name: "read_file", input: { path: "log.txt" } },
    ],
  },
  {
    role: "user",
    content: [
      { type: "tool_result", tool_use_id: "t1", content: [{ type: "text", text: "2 failed" }] },
      {
        type: "tool_result",
        tool_use_id: "t2",
        content: [{ type: "text", text: "totals.test.ts, rates.test.ts" }],
      },
    ],
  },
  { role: "assistant", content: [{ type: "text", text: "Two tests fail." }] },
];

describe("metis", () => {
  test("a small prompt: the stable block and the message are marked, without tools (M-11, M-12)", () => {
    expect(send("metis", small).body).toEqual({
      model: "claude-sonnet-4-6",
      max_tokens: 1000,
      system: [{ type: "text", text: longText, cache_control: fiveMinutes }],
      messages: [
        {
          role: "user",
          content: [{ type: "text", text: "Hello.", cache_control: fiveMinutes }],
        },
      ],
    });
  });

  test("a large prompt: last tool, stable block and tail are marked, the volatile block is not (M-10 to M-14)", () => {
    expect(send("metis", large).body).toEqual({
      model: "claude-sonnet-4-6",
      max_tokens: 1000,
      tools: [search, bash, { ...readFile, cache_control: fiveMinutes }],
      system: [
        {
          type: "text",
          text: `${longText}\n\nSkills: pdf-forms.\n\nProject: the billing service.`,
          cache_control: fiveMinutes,
        },
        { type: "text", text: time },
      ],
      messages: [
        ...history,
        {
          role: "user",
          content: [{ type: "text", text: "Repair the first one.", cache_control: fiveMinutes }],
        },
      ],
    });
  });
});

describe("nexo", () => {
  test("a small prompt: the workspace block for an hour, and no message (N-10, N-11)", () => {
    expect(send("nexo", small).body).toEqual({
      model: "claude-sonnet-4-6",
      max_tokens: 1000,
      system: [{ type: "text", text: longText, cache_control: oneHour }],
      messages: [{ role: "user", content: [{ type: "text", text: "Hello." }] }],
    });
  });

  test("a large prompt: workspace, skills, binding glue, channel; one marker for each run; sorted tools (N-10 to N-12)", () => {
    expect(send("nexo", large).body).toEqual({
      model: "claude-sonnet-4-6",
      max_tokens: 1000,
      tools: [bash, readFile, { ...search, cache_control: oneHour }],
      system: [
        { type: "text", text: longText },
        { type: "text", text: "Skills: pdf-forms." },
        { type: "text", text: "Project: the billing service.", cache_control: oneHour },
        { type: "text", text: time, cache_control: fiveMinutes },
      ],
      messages: [
        ...history,
        { role: "user", content: [{ type: "text", text: "Repair the first one." }] },
      ],
    });
  });
});

describe("hermes", () => {
  test("a small prompt: the static block for an hour, the message for five minutes (H-02 to H-04)", () => {
    expect(send("hermes", small).body).toEqual({
      model: "claude-sonnet-4-6",
      max_tokens: 1000,
      system: [{ type: "text", text: longText, cache_control: oneHour }],
      messages: [
        {
          role: "user",
          content: [{ type: "text", text: "Hello.", cache_control: fiveMinutes }],
        },
      ],
    });
  });

  test("a large prompt: the tool's five minutes become an hour, and one message is left of the budget (H-02 to H-04, B-08, C-5)", () => {
    expect(send("hermes", large).body).toEqual({
      model: "claude-sonnet-4-6",
      max_tokens: 1000,
      tools: [search, bash, { ...readFile, cache_control: oneHour }],
      system: [
        {
          type: "text",
          text: `${longText}\n\nSkills: pdf-forms.`,
          cache_control: oneHour,
        },
        { type: "text", text: "Project: the billing service.", cache_control: fiveMinutes },
        { type: "text", text: time },
      ],
      messages: [
        ...history,
        {
          role: "user",
          content: [{ type: "text", text: "Repair the first one.", cache_control: fiveMinutes }],
        },
      ],
    });
  });

  test("without tools two messages are marked beside two system blocks (H-04)", () => {
    const { body } = send("hermes", { ...large, tools: [] });
    expect(markersIn(body)).toEqual({
      "system.0": oneHour,
      "system.1": fiveMinutes,
      "messages.3.content.0": fiveMinutes,
      "messages.4.content.0": fiveMinutes,
    });
  });
});

describe("nexus", () => {
  const event = {
    content: "Repair the first one.",
    source: "imessage",
    platform: "imessage",
    platformActions: ["send", "react"],
  };

  test("a small prompt: one system prompt and one message (C-1)", () => {
    expect(send("nexus", small).body).toEqual({
      model: "claude-sonnet-4-6",
      max_tokens: 1000,
      system: [{ type: "text", text: longText, cache_control: fiveMinutes }],
      messages: [
        {
          role: "user",
          content: [{ type: "text", text: "Hello.", cache_control: fiveMinutes }],
        },
      ],
    });
  });

  test("a large prompt: one static system prompt, the history, and the event's context before the words (C-1, C-2)", () => {
    const said = readEvent(event, "manager", { iso: "2026-11-16T10:42:00Z" });
    const sections = large.sections.filter(({ stability }) => stability !== "turn");
    const prompt = {
      ...large,
      sections: [...sections, ...said.volatile],
      current: [said.current],
    };
    expect(send("nexus", prompt).body).toEqual({
      model: "claude-sonnet-4-6",
      max_tokens: 1000,
      tools: [search, bash, readFile],
      system: [
        {
          type: "text",
          text: `${longText}\n\nSkills: pdf-forms.\n\nProject: the billing service.`,
          cache_control: fiveMinutes,
        },
      ],
      messages: [
        ...history,
        {
          role: "user",
          content: [
            {
              type: "text",
              text:
                "Current time: 2026-11-16T10:42:00Z\nTimezone: UTC\nPlatform: imessage\n" +
                "Available actions: send, react\n\nRepair the first one.",
              cache_control: fiveMinutes,
            },
          ],
        },
      ],
    });
  });
});

describe("a marker below the model's minimum", () => {
  test("is not sent, and the plan says which and why", () => {
    const { body, plan } = send("metis", { ...small, sections: [section("static", "Be brief.")] });
    expect(body).toEqual({
      model: "claude-sonnet-4-6",
      max_tokens: 1000,
      system: [{ type: "text", text: "Be brief." }],
      messages: [{ role: "user", content: [{ type: "text", text: "Hello." }] }],
    });
    expect(plan.dropped).toEqual([
      { block: 0, lifetime: "5m", slot: "head", reason: "below the provider's minimum" },
      { block: 1, lifetime: "5m", slot: "tail", reason: "below the provider's minimum" },
    ]);
  });

  test("does not take those above it along", () => {
    const { body, plan } = send("hermes", { ...small, tools: [tool("bash", "Runs it.")] });
    expect(markersIn(body)).toEqual({
      "system.0": oneHour,
      "messages.0.content.0": fiveMinutes,
    });
    expect(plan.dropped).toEqual([
      { block: 0, lifetime: "5m", slot: "head", reason: "below the provider's minimum" },
    ]);
  });
});
