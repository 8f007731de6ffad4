// What a session sends, as hashes: to be compared between processes.
import { createHash } from "node:crypto";
import { findPolicy } from "../../src/core/cache/policies.ts";
import { resolveModel } from "../../src/core/models/resolve-model.ts";
import { anthropicMessages } from "../../src/core/wire/anthropic-messages/index.ts";
import { openaiChat } from "../../src/core/wire/openai/chat/index.ts";
import { openaiResponses } from "../../src/core/wire/openai/responses/index.ts";
import { createDialogue } from "./dialogue.ts";
import { sendDialogue, workspaceRules } from "./send-dialogue.ts";

const settings = [
  { model: "claude-sonnet-4-6", protocol: anthropicMessages },
  { model: "claude-opus-5-5", protocol: anthropicMessages },
  { model: "gpt-6.1-sol", protocol: openaiChat },
  { model: "gpt-6.1-sol", protocol: openaiResponses },
] as const;

/** Three hashes for each model: of the bodies of the first calls. */
export function hashBodies(seed: number): readonly string[] {
  return settings.flatMap(({ model, protocol }) => {
    const calls = sendDialogue(createDialogue(seed, { callsMax: 40, gaps: "any" }), {
      model: resolveModel(model).facts,
      protocol,
      policy: findPolicy("adaptive"),
      permissions: ["write", "read", "Äther"],
      skills: ["zebra", "Äpfel", "apple", "İstanbul"].map((name) => ({
        name,
        description: `What ${name} is for.`,
        body: `All of ${name}. ${"It is long. ".repeat(40)}`,
      })),
      context: {
        role: "unified",
        workspaceRules,
        permissions: ["write", "read", "Äther"],
        date: "2026-11-15",
        runtime: { host: "desk", os: "Linux", arch: "arm64" },
      },
    });
    return calls
      .slice(0, 3)
      .map(({ body }) => createHash("sha256").update(body, "latin1").digest("hex"));
  });
}
