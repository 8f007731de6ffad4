// Assemblies and plans for the tests of every protocol, made with the real functions.
import { assemble, type Assembly } from "../assembly/assemble.ts";
import { buildFoundation } from "../assembly/foundation.ts";
import type { Layout } from "../assembly/layout.ts";
import { appendMessages, openThread, type Thread } from "../assembly/thread.ts";
import type { CachePlan, PlannedMarker } from "../cache/cache-plan.ts";
import type { Block, Message, Role } from "../message/message.ts";
import type { ToolDefinition } from "../message/tool-definition.ts";
import type { Lifetime } from "../message/usage.ts";
import type { ModelFacts } from "../models/model-facts.ts";
import type { CallOptions, Protocol } from "./protocol.ts";

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

export interface Setting {
  readonly tools?: readonly ToolDefinition[];
  readonly system?: readonly string[];
  readonly history?: readonly Message[];
  readonly current?: readonly Message[];
  readonly volatile?: string | null;
  readonly place?: Layout["volatile"];
}

export interface Wire {
  readonly protocol: Pick<Protocol, "spelling">;
  readonly model: ModelFacts;
}

export function threadOn(
  { protocol, model }: Wire,
  { tools = [], system = [], history = [] }: Setting,
): Thread {
  const foundation = buildFoundation({
    tools,
    system: system.map((text, index) => ({ label: `block ${index}`, tier: "T1", text })),
    spelling: protocol.spelling(model),
    counter: { text: (words) => words.length, message: ({ content }) => content.length },
    model,
  });
  return appendMessages(openThread(foundation), history);
}

export function assemblyOn(wire: Wire, setting: Setting): Assembly {
  const { current = [say("user", "Hi.")], volatile = null, place = "message-tail" } = setting;
  return assemble({
    thread: threadOn(wire, setting),
    current,
    volatile,
    layout: {
      systemBlocks: "by stability",
      volatile: place,
      padding: "off",
      toolOrder: "given",
    },
    model: wire.model,
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
