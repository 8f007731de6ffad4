// The sessions that courses begin with: a layout, a model, and as much history as fits well, hardly, or not at all.
import { findPolicy } from "../../src/core/cache/policies.ts";
import type { PolicyName } from "../../src/core/cache/policy.ts";
import { resolveModel } from "../../src/core/models/resolve-model.ts";
import { nameOf, type SessionSetup } from "../../src/core/session/session.ts";
import type { TextCounter } from "../../src/core/tokens/o200k/counter.ts";
import { anthropicMessages } from "../../src/core/wire/anthropic-messages/index.ts";
import type { Message } from "../../src/core/message/message.ts";

export const stageNames = [
  "empty",
  "some history",
  "a long history",
  "too long a history",
  "text at the head",
  "text after the system",
  "bound thinking",
] as const;

export type StageName = (typeof stageNames)[number];

export interface Stage {
  readonly setup: SessionSetup & { readonly id: string };
  /** Turns that are over, oldest first: what was said in each. */
  readonly turns: readonly (readonly Message[])[];
}

const windowTokens = 10_000;

/** `asked`: another model than the stage's. */
export function toStage(name: StageName, asked?: string): Stage {
  const { model: first, policy, turns } = scenes[name];
  const model = asked ?? first;
  const { facts } = resolveModel(model);
  return {
    setup: {
      id: "demo",
      staysWith: { model: nameOf(facts), chosenBy: null },
      model: { ...facts, windowTokens, inputTokensMax: windowTokens },
      protocol: anthropicMessages,
      policy: findPolicy(policy),
      context: { role: "unified", workspaceRules: "Answer briefly, and name files. ".repeat(20) },
      counter: byLength,
      options: { outputTokensMax: 300, stream: false },
    },
    turns: Array.from({ length: turns }, (_, at) => talk(at, model === bound)),
  };
}

/** The models that go on with a turn, in order. */
export function fallbackOf(name: StageName): readonly string[] {
  return [plain, bound, "claude-haiku-4-5"].filter((model) => model !== scenes[name].model);
}

/** Short texts that take much room: a course is over in no time. */
const byLength: TextCounter = { count: (text) => text.length };

const plain = "claude-sonnet-4-6";
const bound = "claude-opus-5-5";

const scenes: Readonly<
  Record<StageName, { readonly model: string; readonly policy: PolicyName; readonly turns: number }>
> = {
  empty: { model: plain, policy: "adaptive", turns: 0 },
  "some history": { model: plain, policy: "adaptive", turns: 2 },
  "a long history": { model: plain, policy: "tail-5m", turns: 6 },
  "too long a history": { model: plain, policy: "adaptive", turns: 9 },
  "text at the head": { model: plain, policy: "nexus", turns: 5 },
  "text after the system": { model: plain, policy: "metis", turns: 5 },
  "bound thinking": { model: bound, policy: "adaptive", turns: 5 },
};

/** About 1,000 tokens each. */
function talk(at: number, hasThinking: boolean): readonly Message[] {
  const thought = { type: "thinking" as const, text: `On ${at}.`, signature: `s${at}` };
  return [
    {
      role: "user",
      content: [{ type: "text", text: `Look at src/module-${at}.ts. ${fill(460)}` }],
    },
    {
      role: "assistant",
      content: [
        ...(hasThinking ? [thought] : []),
        { type: "text", text: `Module ${at} is fine. ${fill(460)}` },
      ],
    },
  ];
}

/** About so many tokens. */
export function fill(tokens: number): string {
  return "-".repeat(tokens);
}
