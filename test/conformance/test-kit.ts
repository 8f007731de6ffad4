// Prompts, and the way from a prompt to a body, for the conformance tests. Made with the real functions.
import { assemble, type Assembly } from "../../src/core/assembly/assemble.ts";
import { buildFoundation } from "../../src/core/assembly/foundation.ts";
import { toSystemBlocks, volatileText } from "../../src/core/assembly/system-blocks.ts";
import { appendMessages, openThread } from "../../src/core/assembly/thread.ts";
import type { CachePlan } from "../../src/core/cache/cache-plan.ts";
import { openCacheState } from "../../src/core/cache/cache-state.ts";
import { openPace } from "../../src/core/cache/pace.ts";
import { planCache, type PlanQuestion } from "../../src/core/cache/plan-cache.ts";
import { findPolicy } from "../../src/core/cache/policies.ts";
import type { MarkerPart, PolicyName } from "../../src/core/cache/policy.ts";
import type { Section } from "../../src/core/layers/section.ts";
import type { Block, Message, Role } from "../../src/core/message/message.ts";
import type { ToolDefinition } from "../../src/core/message/tool-definition.ts";
import type { ModelFacts } from "../../src/core/models/model-facts.ts";
import { resolveModel } from "../../src/core/models/resolve-model.ts";
import { cheapCounter } from "../../src/core/tokens/cheap-counter.ts";
import { createTokenCounter, type TokenCounter } from "../../src/core/tokens/token-counter.ts";
import { selectTools } from "../../src/core/tools/select-tools.ts";
import { anthropicMessages } from "../../src/core/wire/anthropic-messages/index.ts";
import { bodyText, type EncodedRequest } from "../../src/core/wire/encoded-request.ts";
import { openaiChat } from "../../src/core/wire/openai/chat/index.ts";
import { openaiResponses } from "../../src/core/wire/openai/responses/index.ts";
import type { CallOptions, Protocol } from "../../src/core/wire/protocol.ts";

/** About 1,500 tokens: more than the minimum of 1,024 that the models here have. */
export const longText: string = "Read the file before you change it, and run its tests afterwards. "
  .repeat(100)
  .trim();

/** A provider and a model on it. */
export interface Wire {
  readonly protocol: Protocol;
  readonly model: ModelFacts;
}

function wire(protocol: Protocol, model: string): Wire {
  return { protocol, model: resolveModel(model).facts };
}

/** Takes markers for 5m and 1h and one for the whole request; keeps 1,024 tokens and more. */
export const claude: Wire = wire(anthropicMessages, "claude-sonnet-4-6");
/** As above, but none for the whole request, and every block is a position. */
export const bedrock: Wire = wire(anthropicMessages, "bedrock/anthropic.claude-sonnet-4-6");
/** Takes markers for 5m only; no minimum is published. */
export const minimax: Wire = wire(anthropicMessages, "MiniMax-M3");
/** Takes no markers. */
export const claude2: Wire = wire(anthropicMessages, "claude-2.1");
/** Takes markers on content parts, for 30m and 12h; one of four is the provider's own. */
export const solChat: Wire = wire(openaiChat, "gpt-6.1-sol");
export const solResponses: Wire = wire(openaiResponses, "gpt-6.1-sol");
/** Caches by itself and takes no markers. */
export const gptChat: Wire = wire(openaiChat, "gpt-5.5");
export const gptResponses: Wire = wire(openaiResponses, "gpt-5.5");
/** Takes markers on content parts, not on tools. */
export const openrouter: Wire = wire(openaiChat, "openrouter/anthropic/claude-sonnet-4-6");

/** For the tests that hold on every provider. */
export const wires: Readonly<Record<string, Wire>> = {
  claude,
  bedrock,
  minimax,
  "claude-2.1": claude2,
  "gpt-6.1-sol chat": solChat,
  "gpt-6.1-sol responses": solResponses,
  "gpt-5.5 chat": gptChat,
  "gpt-5.5 responses": gptResponses,
  openrouter,
};

export function say(role: Role, ...content: readonly (string | Block)[]): Message {
  return {
    role,
    content: content.map((each) =>
      typeof each === "string" ? { type: "text", text: each } : each,
    ),
  };
}

export function toolUse(id: string, name: string, inputJson: string): Block {
  return { type: "tool_use", id, name, inputJson };
}

export function toolResult(toolUseId: string, text: string): Message {
  const content: readonly Block[] = [{ type: "text", text }];
  return say("tool", { type: "tool_result", toolUseId, content, isError: false });
}

export function tool(name: string, description: string): ToolDefinition {
  return { name, description, inputSchemaJson: '{"type":"object"}' };
}

export function section(
  stability: Section["stability"],
  text: string,
  more: Partial<Section> = {},
): Section {
  return { name: "rules", layer: "workspace", stability, text, ...more };
}

export interface Prompt {
  readonly sections: readonly Section[];
  readonly tools: readonly ToolDefinition[];
  readonly history: readonly Message[];
  readonly current: readonly Message[];
}

/** One section and one message. */
export const small: Prompt = {
  sections: [section("static", longText)],
  tools: [],
  history: [],
  current: [say("user", "Hello.")],
};

/** Tools out of order, sections of every stability out of order, and a second message after a tool loop. */
export const large: Prompt = {
  sections: [
    section("turn", "Current time: 2026-11-16T10:42:00Z\nTimezone: UTC", {
      name: "event",
      layer: "event",
    }),
    section("session", "Project: the billing service.", { name: "project", layer: "session" }),
    section("static", longText),
    section("static", "Skills: pdf-forms.", { name: "skills" }),
  ],
  tools: [tool("search", longText), tool("bash", "Runs it."), tool("read_file", "Reads it.")],
  history: [
    say("user", "Which tests fail?"),
    say(
      "assistant",
      "I will look.",
      toolUse("t1", "bash", '{"command":"npm test"}'),
      toolUse("t2", "read_file", '{"path":"log.txt"}'),
    ),
    toolResult("t1", "2 failed"),
    toolResult("t2", "totals.test.ts, rates.test.ts"),
    say("assistant", "Two tests fail."),
  ],
  current: [say("user", "Repair the first one.")],
};

export const options: CallOptions = { outputTokensMax: 1000, stream: false };

export interface Sent {
  readonly assembly: Assembly;
  readonly plan: CachePlan;
  readonly request: EncodedRequest;
  /** The bytes that are sent, as text. */
  readonly text: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** What a planner is asked besides the blocks. */
export type Asked = Partial<Omit<PlanQuestion, "blocks" | "rules">>;

/** A prompt as a policy lays it out, without padding. */
export function send(
  policyName: PolicyName,
  prompt: Prompt,
  { protocol, model }: Wire = claude,
  asked: Asked = {},
): Sent {
  const { layout } = findPolicy(policyName);
  const { sections, history, current } = prompt;
  const foundation = buildFoundation({
    tools: selectTools({
      offered: prompt.tools.map((definition) => ({ definition, needs: [] })),
      granted: [],
      role: "unified",
      order: layout.toolOrder,
    }).tools,
    system: toSystemBlocks(sections, layout),
    spelling: protocol.spelling(model),
    counter: counterOf(model),
    model,
  });
  const assembly = assemble({
    thread: appendMessages(openThread(foundation), history),
    current,
    volatile: volatileText(sections),
    layout,
    model,
  });
  return encode(policyName, assembly, { protocol, model }, asked);
}

/** An assembly on its way out. */
export function encode(
  policyName: PolicyName,
  assembly: Assembly,
  { protocol, model }: Wire = claude,
  asked: Asked = {},
): Sent {
  const plan = planCache({
    blocks: assembly.blocks,
    rules: model,
    markers: findPolicy(policyName).markers,
    state: openCacheState(),
    pace: openPace("human"),
    now: startMs,
    ...asked,
  });
  const request = protocol.encode({ assembly, plan, model, options });
  const text = bodyText(request.pieces);
  return { assembly, plan, request, text, body: JSON.parse(text) };
}

/** 2026-11-16. */
export const startMs = 1_794_787_200_000;

export function counterOf({ tokenizer }: ModelFacts): TokenCounter {
  return createTokenCounter(cheapCounter, tokenizer);
}

/** Fixed places, the first ranked highest. */
export function rules(
  ...pairs: readonly (readonly [
    Extract<MarkerPart, { kind: "rules" }>["rules"][number]["place"],
    Extract<MarkerPart, { kind: "rules" }>["rules"][number]["lifetime"],
  ])[]
): MarkerPart {
  return { kind: "rules", rules: pairs.map(([place, lifetime]) => ({ place, lifetime })) };
}

/** Every marker of a body by its path, the marker of the whole request under "request". */
export function markersIn(body: unknown): Readonly<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  const walk = (value: unknown, path: string): void => {
    if (typeof value !== "object" || value === null) return;
    for (const [name, inner] of Object.entries(value)) {
      const isMarker = name === "cache_control" || name === "prompt_cache_breakpoint";
      if (isMarker) found[path === "" ? "request" : path] = inner;
      else walk(inner, path === "" ? name : `${path}.${name}`);
    }
  };
  walk(body, "");
  return found;
}
