// Goal: the same prompt gives the same bytes, and no input is changed on the way (CF-A).
import { describe, expect, test } from "vitest";
import { policyNames, type PolicyName } from "../../src/core/cache/policy.ts";
import { itemsOf } from "../../src/core/growing/growing-list.ts";
import { decodeBlock, decodeMessage } from "../../src/core/message/decode-message.ts";
import type { Block, Message } from "../../src/core/message/message.ts";
import { deepFreeze } from "../../src/core/models/catalogue.ts";
import {
  large,
  longText,
  markersIn,
  say,
  section,
  send,
  small,
  tool,
  wires,
  type Prompt,
} from "./test-kit.ts";

const fiveMinutes = { type: "ephemeral" };

describe.each(policyNames)("%s", (policy) => {
  test.each(Object.entries(wires))(
    "%s: planned and encoded three times, the bytes are the same (H-10)",
    (_, wire) => {
      const [first, second, third] = [1, 2, 3].map(() => send(policy, large, wire).text);
      expect(first?.length).toBeGreaterThan(2 * longText.length);
      expect(second).toBe(first);
      expect(third).toBe(first);
    },
  );

  test.each(Object.entries(wires))(
    "%s: a frozen prompt is enough, and is as it was afterwards (M-12, H-04)",
    (_, wire) => {
      const prompt = deepFreeze(structuredClone(large));
      const { text } = send(policy, prompt, wire);
      expect(prompt).toEqual(large);
      expect(text).toBe(send(policy, large, wire).text);
    },
  );

  test.each(Object.entries(wires))(
    "%s: an assembly is the same before and after it is encoded (H-04)",
    (_, wire) => {
      const { assembly, plan, request } = send(policy, large, wire);
      const before = JSON.stringify([...itemsOf(assembly.blocks)]);
      const again = wire.protocol.encode({
        assembly,
        plan: deepFreeze(plan),
        model: wire.model,
        options: { outputTokensMax: 1000, stream: false },
      });
      expect(again.toObject()).toEqual(request.toObject());
      expect(JSON.stringify([...itemsOf(assembly.blocks)])).toBe(before);
    },
  );

  test.each(Object.entries(wires))("%s: asks for no beta (N-13)", (_, wire) => {
    const { request } = send(policy, large, wire);
    const isMessages = wire.protocol.name === "anthropic-messages";
    expect(request.headers).toEqual(isMessages ? { "anthropic-version": "2023-06-01" } : {});
  });
});

describe("markers from an earlier request (H-10)", () => {
  const stale = [
    '{"type":"text","text":"Look.","cache_control":{"type":"ephemeral"}}',
    '{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="},"cache_control":{"type":"ephemeral","ttl":"1h"}}',
    '{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}],"cache_control":{"type":"ephemeral"}}',
    '{"type":"tool_use","id":"t2","name":"bash","input":{"cache_control":"of the tool itself"},"cache_control":{"type":"ephemeral"}}',
  ];

  test("are taken out of verbatim blocks; images, inputs and the caller's own blocks stay as they were", () => {
    const content = deepFreeze(stale.map((json): Block => decodeBlock(json)));
    const prompt: Prompt = { ...small, current: [{ role: "user", content }] };
    expect(send("nexo", prompt).body["messages"]).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "Look." },
          {
            type: "image",
            source: { type: "base64", media_type: "image/png", data: "aGk=" },
          },
          {
            type: "tool_result",
            tool_use_id: "t1",
            content: [{ type: "text", text: "x" }],
          },
          {
            type: "tool_use",
            id: "t2",
            name: "bash",
            input: { cache_control: "of the tool itself" },
          },
        ],
      },
    ]);
    expect(content.map(({ json }) => json)).toEqual(stale);
  });

  test.each(["metis", "hermes", "last-n", "tail-1h", "none"] as const)(
    "%s: a body that is read and encoded again three times stays the same to the byte",
    (policy) => {
      const first = send(policy, bare(large.history, large.current));
      let text = first.text;
      for (let round = 0; round < 3; round += 1) {
        const { messages } = JSON.parse(text);
        const read: Message[] = messages.map((each: unknown) =>
          decodeMessage(JSON.stringify(each)),
        );
        text = send(policy, bare(read.slice(0, -1), read.slice(-1))).text;
        expect(text).toBe(first.text);
      }
    },
  );
});

function bare(history: readonly Message[], current: readonly Message[]): Prompt {
  return { ...small, history, current };
}

describe("tools (C-13, N-12)", () => {
  const shuffled = { ...large, tools: large.tools.toReversed() };

  test.each([
    ["adaptive", "sorted"],
    ["metis", "given"],
    ["nexo", "sorted"],
    ["hermes", "given"],
    ["nexus", "given"],
    ["tail-5m", "sorted"],
    ["system-only", "sorted"],
  ] as const)("%s: are sent in the order %s", (policy, order) => {
    const sorted = ["bash", "read_file", "search"];
    expect(names(policy, large)).toEqual(
      order === "sorted" ? sorted : ["search", "bash", "read_file"],
    );
    expect(names(policy, shuffled)).toEqual(
      order === "sorted" ? sorted : ["read_file", "bash", "search"],
    );
  });

  test("in any order give the same bytes where they are sorted", () => {
    expect(send("nexo", shuffled).text).toBe(send("nexo", large).text);
  });

  test("are sorted by code units, the same in every locale", () => {
    const tools = ["b", "a", "_", "Z", "ä"].map((name) => tool(name, "Does it."));
    expect(names("nexo", { ...small, tools })).toEqual(["Z", "_", "a", "b", "ä"]);
  });

  test("of one name go out once, because a provider refuses two", () => {
    const tools = [tool("bash", "Runs it."), tool("bash", "Runs it otherwise.")];
    expect(send("metis", { ...small, tools }).body["tools"]).toEqual([
      { name: "bash", description: "Runs it.", input_schema: { type: "object" } },
    ]);
  });
});

function names(policy: PolicyName, prompt: Prompt): readonly string[] {
  return send(policy, prompt).assembly.thread.foundation.tools.map(({ name }) => name);
}

describe("what holds nothing (N-10, H-03, H-07)", () => {
  test("falls out of the system prompt and uses no marker", () => {
    const sections = [
      section("static", longText),
      section("static", " \n ", { name: "skills" }),
      section("session", "", { name: "project", layer: "session" }),
      section("turn", "\t", { name: "event", layer: "event" }),
    ];
    const { body, plan } = send("hermes", { ...small, sections });
    expect(body["system"]).toEqual([
      { type: "text", text: longText, cache_control: { type: "ephemeral", ttl: "1h" } },
    ]);
    expect(plan.dropped).toEqual([]);
  });

  test("falls out of a message, and the request says so", () => {
    const { body, request } = send("metis", { ...small, current: [say("user", "Hello.", "")] });
    expect(body["messages"]).toEqual([
      { role: "user", content: [{ type: "text", text: "Hello.", cache_control: fiveMinutes }] },
    ]);
    expect(request.notes.map(({ kind }) => kind)).toEqual(["content-left-out"]);
    expect(request.notes[0]?.detail).toMatch(/^a block of type text: the provider refuses /);
  });

  test("adds no empty block where the whole prompt is one prefix", () => {
    const { body } = send("hermes", { ...small, current: [] });
    expect(body["system"]).toHaveLength(1);
    expect(body["messages"]).toEqual([]);
    expect(JSON.stringify(body)).not.toContain('"text":""');
  });

  test("blocks joined by a blank line are the flat system prompt (H-07)", () => {
    const flat = `${longText}\n\nSkills: pdf-forms.\n\nProject: the billing service.`;
    expect([flatOf("metis"), flatOf("hermes"), flatOf("nexo"), flatOf("nexus")]).toEqual([
      flat,
      flat,
      flat,
      flat,
    ]);
  });
});

function flatOf(policy: PolicyName): string {
  const { system } = send(policy, large).assembly.thread.foundation;
  return system.map(({ text }) => text).join("\n\n");
}

test("the place of a marker changes no other byte (C-1)", () => {
  const plain = send("none", large);
  const marked = send("last-n", large);
  expect(Object.keys(markersIn(marked.body))).toHaveLength(4);
  expect(marked.text.replaceAll(',"cache_control":{"type":"ephemeral"}', "")).toBe(plain.text);
});
