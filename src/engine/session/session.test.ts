import { describe, expect, test } from "vitest";
import { findPolicy } from "../../core/cache/policies.ts";
import { hashContent } from "../../core/hash.ts";
import { toToolDefinition } from "../../core/message/tool-definition.ts";
import { resolveModel } from "../../core/models/resolve-model.ts";
import { cheapCounter } from "../../core/tokens/cheap-counter.ts";
import type { OfferedTool } from "../../core/tools/select-tools.ts";
import { findToolset, selectFromToolset } from "../../core/tools/toolsets.ts";
import { anthropicMessages } from "../../core/wire/anthropic-messages/index.ts";
import { openaiChat } from "../../core/wire/openai/chat/index.ts";
import { openLedger } from "../../edge/stores/open-ledger.ts";
import { openSession } from "./open-session.ts";
import type { SessionSetup } from "../../core/session/session.ts";
import { recordSession } from "./stored-session.ts";

function tool(name: string, needs: readonly string[] = []): OfferedTool {
  const inputSchema = { type: "object", properties: {} };
  return { definition: toToolDefinition({ name, description: `${name}.`, inputSchema }), needs };
}

const setup: SessionSetup = {
  model: resolveModel("claude-haiku-4-5").facts,
  protocol: anthropicMessages,
  policy: findPolicy("adaptive"),
  context: { role: "unified", workspaceRules: "Rules.", date: "2026-11-15" },
  tools: [tool("write", ["disk"]), tool("read")],
  counter: cheapCounter,
  options: { outputTokensMax: 100, stream: false },
};

describe("an opened session", () => {
  test("has its tools and system text, nothing said and nothing known", () => {
    const session = openSession(setup);
    const { foundation, messages } = session.thread;
    expect(foundation.tools.map(({ name }) => name)).toEqual(["read"]);
    expect(session.toolsLeft).toEqual([{ name: "write", reason: "not granted: disk" }]);
    expect(foundation.system.map(({ label, tier }) => [label, tier])).toEqual([
      ["static", "T1"],
      ["session", "T2"],
    ]);
    expect(foundation.system[1]?.text).toBe("This session started on 2026-11-15.");
    expect([messages.length, session.cache.calls, session.cache.entries]).toEqual([0, 0, []]);
    expect(session.pace).toMatchObject({ kind: "human", gaps: [0, 0, 0, 0, 0, 0] });
  });

  test("is told of a tool it was granted what it needs", () => {
    const { thread, toolsLeft } = openSession({ ...setup, permissions: ["disk"] });
    expect(thread.foundation.tools.map(({ name }) => name)).toEqual(["read", "write"]);
    expect(toolsLeft).toEqual([]);
  });

  test("a worker is told of neither memory tools nor delegate, also where they forget to say so (S-17)", () => {
    const tools = [tool("delegate"), tool("memory_add"), tool("read")];
    const session = openSession({ ...setup, tools, context: { role: "worker" } });
    expect(session.thread.foundation.tools.map(({ name }) => name)).toEqual(["read"]);
    expect(session.toolsLeft.map(({ name }) => name)).toEqual(["delegate", "memory_add"]);
  });

  test("takes what a toolset leaves of its tools, and keeps what was left out before (X-20)", () => {
    const offered = [tool("write", ["files.write"]), tool("read", ["files.read"])];
    const toolset = findToolset("read-only");
    const selected = selectFromToolset({ offered, toolset, role: "unified" });
    const session = openSession({ ...setup, ...selected });
    expect(session.thread.foundation.tools.map(({ name }) => name)).toEqual(["read"]);
    expect(session.permissions).toEqual(["files.read", "skills.read"]);
    expect(session.toolsLeft).toEqual([{ name: "write", reason: "not granted: files.write" }]);
  });

  test("X-22: what the host noted of its sources is in the record, beside the sections", async () => {
    const note = { hash: "abc", files: [] };
    const session = openSession({ ...setup, id: "s1", notes: { workspace: note } });
    expect(session.madeOf.at(-1)).toEqual({
      name: "workspace",
      layer: "session",
      hash: hashContent('{"hash":"abc","files":[]}'),
      bytes: 25,
      note,
    });
    const ledger = await openLedger(":memory:");
    await recordSession(session, { ledger });
    const record = await ledger.findSession("s1");
    await ledger.close();
    expect(record?.contextJson).toContain('"note":{"hash":"abc","files":[]}');
  });

  test("says once where a policy's markers are not taken", () => {
    const model = resolveModel("gpt-5.5").facts;
    const session = openSession({ ...setup, model, protocol: openaiChat });
    expect(session.warnings).toEqual([
      `gpt-5.5 takes no cache markers by ${model.route}: it caches by itself, and the prefix is kept stable`,
    ]);
    expect(openSession(setup).warnings).toEqual([]);
    const none = findPolicy("none");
    expect(openSession({ ...setup, model, protocol: openaiChat, policy: none }).warnings).toEqual(
      [],
    );
  });
});

describe("a prompt too short to be cached", () => {
  const skills = [
    {
      name: "pdf",
      description: "Read PDF files.",
      body: "Open the file and read it. ".repeat(200),
    },
  ];

  test("is padded where the policy always does, and the index marks the skill that is in it (C-9)", () => {
    const session = openSession({ ...setup, skills, policy: findPolicy("metis") });
    const [system] = session.thread.foundation.system;
    expect(session.padding.preactivated).toEqual(["pdf"]);
    expect(system?.text).toContain("- pdf [preloaded]: Read PDF files.");
    expect(session.thread.foundation.end.tokens).toBeGreaterThanOrEqual(4096);
  });

  test("stays as it is where the policy never pads", () => {
    const session = openSession({ ...setup, skills, policy: findPolicy("tail-5m") });
    expect(session.padding.tokens).toBe(0);
    expect(session.thread.foundation.system[0]?.text).toContain("- pdf: Read PDF files.");
  });

  test("puts what holds for the session behind the padding", () => {
    const session = openSession({ ...setup, skills, policy: findPolicy("metis") });
    const text = session.thread.foundation.system[0]?.text ?? "";
    expect(text.endsWith("This session started on 2026-11-15.")).toBe(true);
  });
});
