import { expect, test } from "vitest";
import { findPolicy } from "../cache/policies.ts";
import { toSections } from "../layers/to-sections.ts";
import { toToolDefinition } from "../message/tool-definition.ts";
import { resolveModel } from "../models/resolve-model.ts";
import type { OfferedTool } from "../tools/select-tools.ts";
import { cheapCounter } from "../tokens/cheap-counter.ts";
import { anthropicMessages } from "../wire/anthropic-messages/index.ts";
import { contextPieces } from "./context-pieces.ts";
import type { SessionSetup } from "./session.ts";
import { toSession } from "./to-session.ts";

const everything: SessionSetup["context"] = {
  role: "unified",
  system: "Be careful.",
  workspaceRules: "Answer briefly.",
  userIdentity: "Ada.",
  persona: { identity: "I am Bo.", soul: "Kind." },
  permissions: ["files.read"],
  environment: "A shell.",
  runtime: { host: "h", os: "linux", arch: "x64" },
  date: "2026-11-15",
  contextFiles: [{ path: "A.md", text: "Notes." }],
  memory: { globalUser: "Everywhere.", user: "User.", workspace: "Memory." },
};

function piecesOf(more: Partial<SessionSetup>): readonly string[] {
  const adaptive = findPolicy("adaptive");
  const session = toSession({
    id: "s",
    model: resolveModel("claude-sonnet-4-6").facts,
    protocol: anthropicMessages,
    policy: adaptive,
    context: {},
    counter: cheapCounter,
    options: { outputTokensMax: 100, stream: false },
    ...more,
  });
  return contextPieces(session).map(
    ({ tier, name, from, added }) =>
      `${tier} ${name}: ${from}${added === undefined ? "" : ` + ${added}`}`,
  );
}

test("every section of a session says who wrote it", () => {
  const { layout, ...policy } = findPolicy("adaptive");
  const skills = [{ name: "deploy", description: "How to deploy", body: "Carefully." }];
  const padded = { ...policy, layout: { ...layout, padding: "always" as const } };
  const pieces = piecesOf({ context: everything, skills, policy: padded });
  expect(pieces).toEqual([
    "T1 system prompt: user",
    "T1 workspace rules: user",
    "T1 user identity: user + its heading",
    "T1 identity: user",
    "T1 soul: user",
    "T1 permissions: strata",
    "T1 environment: strata",
    "T1 skills: strata",
    "T1 role rules: strata",
    "T1 padding: strata",
    "T2 runtime: strata",
    "T2 date: strata",
    "T2 file A.md: user + its heading",
    "T2 user context everywhere: user + its heading",
    "T2 user context: user + its heading",
    "T2 workspace memory: user + its heading",
  ]);
  // No section is unknown to this test.
  expect(toSections({ ...everything, skillIndex: "x" })).toHaveLength(pieces.length - 1);
});

function tool(name: string): OfferedTool {
  const definition = toToolDefinition({ name, description: "d", inputSchema: { type: "object" } });
  return { definition, needs: [] };
}

test("tools that Strata brings are told apart from the user's, also of the same name", () => {
  const ours = { ...tool("read"), from: "strata" as const };
  expect(piecesOf({ tools: [ours, tool("look")] })).toEqual(["T0 look: user", "T0 read: strata"]);
  expect(piecesOf({ tools: [tool("read"), ours] })).toEqual(["T0 read: user"]);
});
