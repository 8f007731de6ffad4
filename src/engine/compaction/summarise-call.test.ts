import { expect, test } from "vitest";
import { findPolicy } from "../../core/cache/policies.ts";
import { resolveModel } from "../../core/models/resolve-model.ts";
import { cheapCounter } from "../../core/tokens/cheap-counter.ts";
import { anthropicMessages } from "../../core/wire/anthropic-messages/index.ts";
import type { CallOptions } from "../../core/wire/protocol.ts";
import { openSession } from "../session/open-session.ts";
import type { Session } from "../../core/session/session.ts";
import { optionsFor } from "./summarise-call.ts";

function open(options: Partial<CallOptions>, model = "claude-sonnet-4-6"): Session {
  return openSession({
    model: resolveModel(model).facts,
    protocol: anthropicMessages,
    policy: findPolicy("adaptive"),
    context: { role: "unified", workspaceRules: "Answer briefly." },
    counter: cheapCounter,
    options: { outputTokensMax: 300, stream: true, ...options },
  });
}

test("a call for a summary has room for it, and what decides the prefix is as it was", () => {
  const options = { toolChoice: "auto", parallelToolUse: false, effort: "low" } as const;
  expect(optionsFor(open(options), 1_500)).toEqual({
    ...options,
    stream: true,
    outputTokensMax: 2_000,
  });
});

test("a model that thinks has room for that, too, and keeps a larger limit", () => {
  const thinkingJson = '{"type":"enabled","budget_tokens":9000}';
  expect(optionsFor(open({ thinkingJson }), 1_500).outputTokensMax).toBe(6_000);
  const much = open({ thinkingJson, outputTokensMax: 10_000 });
  expect(optionsFor(much, 1_500)).toMatchObject({ thinkingJson, outputTokensMax: 10_000 });
  expect(optionsFor(open({}, "claude-opus-5-5"), 1_500).outputTokensMax).toBe(6_000);
});

test("nothing forces a tool, a form or an end on the model", () => {
  const options = { stopSequences: ["##"], outputSchemaJson: "{}", toolChoice: { name: "read" } };
  expect(optionsFor(open(options), 1_500)).toEqual({
    stream: true,
    outputTokensMax: 2_000,
    toolChoice: "none",
  });
});
