import { describe, expect, test } from "vitest";
import { createCatalogue } from "../models/catalogue.ts";
import { resolveModel } from "../models/resolve-model.ts";
import type { Block, Message } from "../message/message.ts";
import type { ModelFacts } from "../models/model-facts.ts";
import { nothingWritten, type Spelled } from "../assembly/spelling.ts";
import { anthropicMessages } from "./anthropic-messages/index.ts";
import { bedrockConverse } from "./bedrock/converse/index.ts";
import type { Protocol } from "./protocol.ts";

const opus = resolveModel("claude-opus-5").facts;
const older = resolveModel("claude-sonnet-4-6").facts;
const onBedrock = createCatalogue({
  origin: "strata.yaml",
  override: {
    "claude-opus-5": { can: { midConversationSystem: true, midConversationTools: true } },
  },
}).factsOf("claude-opus-5", { route: "bedrock" });

function opaque(json: string): Block {
  return { type: "opaque", json };
}

/** In the form of the Messages API, in Converse's, and what changes. */
const forms: readonly (readonly [string, string, string])[] = [
  [
    "an addition",
    '{"type":"tool_addition","tool":{"type":"tool_reference","name":"Write"}}',
    '{"toolAddition":{"tool":{"name":"Write"}}}',
  ],
  [
    "a removal",
    '{"type":"tool_removal","tool":{"type":"tool_reference","name":"Write"}}',
    '{"toolRemoval":{"tool":{"name":"Write"}}}',
  ],
  [
    "a removal of a server's tool",
    '{"type":"tool_removal","tool":{"type":"mcp_tool_reference","server_name":"git","name":"log"}}',
    '{"toolRemoval":{"tool":{"name":"log","serverName":"git"}}}',
  ],
];
const definition = '{"name":"Write","description":"Writes.","input_schema":{"type":"object"}}';
const defining = opaque(
  `{"type":"tool_addition","tool":{"type":"tool_definition","definition":${definition}}}`,
);

function spell(
  protocol: Protocol,
  model: ModelFacts,
  block: Block,
  role: Message["role"] = "system",
): Spelled {
  const spelling = protocol.spelling(model);
  const { written } = spelling.message(
    { role: "user", content: [{ type: "text", text: "Hi." }] },
    nothingWritten,
  );
  return spelling.message({ role, content: [block] }, written);
}

function shown({ blocks, leftOut }: Spelled): readonly string[] {
  return [
    ...blocks.map(({ json }) => json.replace(/^\]\},\{"role":"system","content":\[/, "")),
    ...leftOut.map(({ what, reason }) => `${what}: ${reason}`),
  ];
}

describe.each(forms)("%s of a tool in the middle of a conversation", (_name, own, converse) => {
  test("is written in each protocol's own form, from either", () => {
    for (const json of [own, converse]) {
      expect(shown(spell(anthropicMessages, opus, opaque(json)))).toEqual([own]);
      expect(shown(spell(bedrockConverse, onBedrock, opaque(json)))).toEqual([converse]);
    }
  });

  test("asks for the provider's beta feature where it needs one", () => {
    expect(spell(anthropicMessages, opus, opaque(own)).written.betas).toEqual([
      "mid-conversation-tool-changes-2026-07-01",
    ]);
    expect(spell(bedrockConverse, onBedrock, opaque(own)).written.betas).toBeUndefined();
  });
});

test("a tool that comes with its definition is added on the Messages API, and named as left out on Converse", () => {
  const written = spell(anthropicMessages, opus, defining);
  expect(shown(written)[0]).toContain(definition);
  expect(written.written.betas).toEqual([
    "mid-conversation-tool-changes-2026-07-01",
    "inline-tools-2026-09-15",
  ]);
  expect(shown(spell(bedrockConverse, onBedrock, defining))).toEqual([
    "the addition of a tool: the provider takes a tool by its name only",
  ]);
});

test("a model that takes no changes, and a message of the user, are not sent one: it is named", () => {
  const [[, own] = ["", ""]] = forms;
  const capabilities = { ...opus.capabilities, midConversationTools: false };
  for (const protocol of [anthropicMessages, bedrockConverse]) {
    expect(shown(spell(protocol, { ...opus, capabilities }, opaque(own)))).toEqual([
      "the addition of Write: the model takes no change of its tools on its route",
    ]);
    expect(shown(spell(protocol, older, opaque(own), "user"))).toEqual([
      "the addition of Write: the model takes no change of its tools on its route",
    ]);
    expect(shown(spell(protocol, { ...opus, ...onBedrock }, opaque(own), "user"))).toEqual([
      "the addition of Write: only a system message may change the tools",
    ]);
  }
});

test("nothing of it is claimed for Bedrock, but what a user says a model can holds on every route", () => {
  const usual = resolveModel("bedrock/claude-opus-5").facts;
  expect(usual.capabilities).toMatchObject({
    midConversationSystem: false,
    midConversationTools: false,
  });
  expect(usual.notes.join(" ")).toContain("live calls of 2026-09-10 were refused");
  expect(onBedrock.capabilities).toMatchObject({
    midConversationSystem: true,
    midConversationTools: true,
    compactsOnDemand: false,
  });
});
