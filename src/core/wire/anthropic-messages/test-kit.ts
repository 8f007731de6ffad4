// Assemblies and plans for the tests of this folder, made with the real functions.
import { assemble, type Assembly } from "../../assembly/assemble.ts";
import { buildFoundation } from "../../assembly/foundation.ts";
import type { Layout } from "../../assembly/layout.ts";
import type { SystemBlock } from "../../assembly/system-blocks.ts";
import { appendMessages, openThread, type Thread } from "../../assembly/thread.ts";
import type { CachePlan, PlannedMarker } from "../../cache/cache-plan.ts";
import type { Block, Message, Role } from "../../message/message.ts";
import type { ToolDefinition } from "../../message/tool-definition.ts";
import type { Lifetime } from "../../message/usage.ts";
import type { ModelFacts } from "../../models/model-facts.ts";
import { resolveModel } from "../../models/resolve-model.ts";
import { bodyText } from "../encoded-request.ts";
import type { CallOptions } from "../protocol.ts";
import { encodeRequest } from "./encode.ts";
import { toSpelling } from "./spelling.ts";

/** Takes system messages among the messages; its thinking is bound to its prefix. */
export const sonnet: ModelFacts = resolveModel("claude-sonnet-5-5").facts;
/** Takes none; can be forced to call a tool, and takes a temperature. */
export const haiku: ModelFacts = resolveModel("claude-haiku-4-5").facts;

export function text(words: string): Block {
  return { type: "text", text: words };
}

export function say(role: Role, ...content: readonly (string | Block)[]): Message {
  return {
    role,
    content: content.map((each) => (typeof each === "string" ? text(each) : each)),
  };
}

export function toolUse(id: string, inputJson: string): Block {
  return { type: "tool_use", id, name: "Read", inputJson };
}

export function toolResult(toolUseId: string, words: string): Block {
  return { type: "tool_result", toolUseId, content: [text(words)], isError: false };
}

export function tool(name: string): ToolDefinition {
  return { name, description: "Does it.", inputSchemaJson: '{"type":"object"}' };
}

export interface Setting {
  readonly model?: ModelFacts;
  readonly tools?: readonly ToolDefinition[];
  readonly system?: readonly string[];
  readonly history?: readonly Message[];
  readonly current?: readonly Message[];
  readonly volatile?: string | null;
  readonly place?: Layout["volatile"];
}

export function threadOf({
  model = haiku,
  tools = [],
  system = [],
  history = [],
}: Setting): Thread {
  const foundation = buildFoundation({
    tools,
    system: system.map((words, index): SystemBlock => ({
      label: `block ${index}`,
      tier: "T1",
      text: words,
    })),
    spelling: toSpelling(model),
    counter: { text: (words) => words.length, message: ({ content }) => content.length },
    model,
  });
  return appendMessages(openThread(foundation), history);
}

export function assemblyOf(setting: Setting): Assembly {
  const { model = haiku, current = [say("user", "Hi.")], volatile = null } = setting;
  return assemble({
    thread: threadOf(setting),
    current,
    volatile,
    layout: {
      systemBlocks: "by stability",
      volatile: setting.place ?? "message-tail",
      padding: "off",
      toolOrder: "given",
    },
    can: model.capabilities,
  });
}

/** A plan with markers on these blocks. */
export function planOf(
  marked: Readonly<Record<number, Lifetime>> = {},
  requestMarker: Lifetime | null = null,
): CachePlan {
  return {
    markers: Object.entries(marked).map(([block, lifetime]): PlannedMarker => ({
      block: Number(block),
      key: "",
      lifetime,
      slot: "rule",
      reason: "asked for",
    })),
    requestMarker,
    mode: null,
    cacheKey: null,
    expected: {
      hitBlock: null,
      hit: null,
      written: [],
      spanEnds: {},
      refreshed: [],
      readTokens: 0,
      writeTokens: {},
      uncachedTokens: 0,
      costPicoUsd: null,
    },
    dropped: [],
    keepWarm: { pays: false, afterMs: null, gainTokens: 0, reason: "" },
  };
}

export const plainOptions: CallOptions = { outputTokensMax: 100, stream: false };

export function bodyOf(
  setting: Setting,
  plan: CachePlan = planOf(),
  options: CallOptions = plainOptions,
): string {
  const { model = haiku } = setting;
  return bodyText(encodeRequest({ assembly: assemblyOf(setting), plan, model, options }).pieces);
}
