// Assemblies, plans and streams for the tests of both OpenAI protocols, built with the real functions.
import { assemble, type Assembly } from "../../../assembly/assemble.ts";
import { buildFoundation } from "../../../assembly/foundation.ts";
import type { Layout } from "../../../assembly/layout.ts";
import { appendMessages, openThread } from "../../../assembly/thread.ts";
import type { CachePlan, PlannedMarker } from "../../../cache/cache-plan.ts";
import type { Block, Message, Role } from "../../../message/message.ts";
import type { ToolDefinition } from "../../../message/tool-definition.ts";
import type { Lifetime } from "../../../message/usage.ts";
import type { ModelFacts } from "../../../models/model-facts.ts";
import { resolveModel } from "../../../models/resolve-model.ts";
import type { EncodedRequest } from "../../encoded-request.ts";
import type { ProviderFailure } from "../../failure.ts";
import type { CallOptions, Protocol } from "../../protocol.ts";
import type { Reply, StreamPart } from "../../reply.ts";

/** Takes markers for 30m and 12h; thinks; takes no temperature. */
export const sol: ModelFacts = resolveModel("gpt-6.1-sol").facts;
/** Takes no markers; keeps prefixes for 24h on request. */
export const older: ModelFacts = resolveModel("gpt-5.5").facts;
/** Does not think; takes a temperature. */
export const plain: ModelFacts = resolveModel("gpt-4.1").facts;

export function say(role: Role, ...content: readonly (string | Block)[]): Message {
  return {
    role,
    content: content.map((each) =>
      typeof each === "string" ? { type: "text", text: each } : each,
    ),
  };
}

export function toolUse(id: string, inputJson: string): Block {
  return { type: "tool_use", id, name: "Read", inputJson };
}

export function toolResult(toolUseId: string, ...content: readonly (string | Block)[]): Message {
  const { content: inner } = say("tool", ...content);
  return say("tool", { type: "tool_result", toolUseId, content: inner, isError: false });
}

export const readTool: ToolDefinition = {
  name: "Read",
  description: 'Reads a "file".',
  inputSchemaJson: '{"properties":{"path":{"type":"string"}},"type":"object"}',
};

export interface Setting {
  readonly protocol: Protocol;
  readonly model?: ModelFacts;
  readonly tools?: readonly ToolDefinition[];
  readonly system?: readonly string[];
  readonly history?: readonly Message[];
  readonly current?: readonly Message[];
  readonly volatile?: string | null;
  readonly place?: Layout["volatile"];
}

export function assemblyOf({
  protocol,
  model = sol,
  tools = [],
  system = [],
  history = [],
  current = [say("user", "Hi.")],
  volatile = null,
  place = "message-tail",
}: Setting): Assembly {
  const foundation = buildFoundation({
    tools,
    system: system.map((text, index) => ({ label: `block ${index}`, tier: "T1", text })),
    spelling: protocol.spelling(model),
    counter: { text: (words) => words.length, message: ({ content }) => content.length },
    model,
  });
  return assemble({
    thread: appendMessages(openThread(foundation), history),
    current,
    volatile,
    layout: {
      systemBlocks: "by stability",
      volatile: place,
      padding: "off",
      toolOrder: "given",
    },
    can: model.capabilities,
  });
}

/** A plan with markers on these blocks. */
export function planOf(
  marked: Readonly<Record<number, Lifetime>> = {},
  more: Partial<CachePlan> = {},
): CachePlan {
  return {
    markers: Object.entries(marked).map(([block, lifetime]): PlannedMarker => ({
      block: Number(block),
      key: "",
      lifetime,
      slot: "rule",
      reason: "asked for",
    })),
    requestMarker: null,
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
    ...more,
  };
}

export const plainOptions: CallOptions = { outputTokensMax: 100, stream: false };

export function encodeOf(
  setting: Setting,
  plan: CachePlan = planOf(),
  options: Partial<CallOptions> = {},
): EncodedRequest {
  return setting.protocol.encode({
    assembly: assemblyOf(setting),
    plan,
    model: setting.model ?? sol,
    options: { ...plainOptions, ...options },
  });
}

export interface Compacted {
  readonly reply: Reply | ProviderFailure;
  readonly parts: readonly StreamPart[];
}

/** Reads a stream of events given as their data. */
export function foldStream({ stream }: Protocol, events: readonly string[]): Compacted {
  let state = stream.start;
  const parts: StreamPart[] = [];
  for (const data of events) {
    const [next, more] = stream.step(state, { event: undefined, data });
    state = next;
    parts.push(...more);
  }
  return { reply: stream.finish(state), parts };
}

export function asReply(answer: Reply | ProviderFailure): Reply {
  if (answer.kind !== "reply") throw new Error(`${answer.kind}: ${answer.detail}`);
  return answer;
}
