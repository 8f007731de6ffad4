// What a model accepts and can do. A capability that the file does not claim is false.
import { assert } from "../assert.ts";
import * as read from "./read-fields.ts";

export const capabilityNames = [
  "tools",
  "parallelToolCalls",
  /** Whether a request can demand a tool call. */
  "forcedToolChoice",
  "streaming",
  "streamingToolCalls",
  "systemPrompt",
  "structuredOutput",
  "images",
  "documents",
  /** Whether the model accepts temperature and similar settings. */
  "samplingControls",
  "thinking",
  /** Thinks if the request does not say. An explicit default equals leaving it out. */
  "thinkingByDefault",
  /** Cannot be switched off. */
  "thinkingAlwaysOn",
  /** Cannot be switched off at the highest efforts, xhigh and max. */
  "thinkingAtHighestEffort",
  /** The model decides how much to think. */
  "adaptiveThinking",
  /** The request may set how many tokens to think. */
  "budgetedThinking",
  "thinkingBetweenTools",
  /** Nothing before a kept thinking block may change. */
  "thinkingBoundToPrefix",
  /** A user turn without tool results removes earlier thinking. */
  "stripsPriorThinking",
  /** System messages may stand among the messages. */
  "midConversationSystem",
  /** A message may add or remove tools without changing the prefix. */
  "midConversationTools",
  "midConversationEffort",
  /** The first tool call of a reply has a signature, and is refused without one. */
  "signedToolCalls",
  /** The result of a tool may hold images and documents beside its text. */
  "mediaInToolResults",
  /** The provider summarizes the conversation on request. */
  "compactsOnDemand",
  /** Knows a tool named memory without its description. */
  "ownMemoryTool",
] as const;

export type CapabilityName = (typeof capabilityNames)[number];

export type Capabilities = Readonly<Record<CapabilityName, boolean>>;

/** Reads a file's claims. Every other capability is false. */
export function parseCapabilities(value: unknown, place: string): Capabilities {
  const claims = read.fields(value ?? {}, place, capabilityNames);
  const can = Object.fromEntries(
    capabilityNames.map((name) => [name, read.flag(claims[name] ?? false, `${place}.${name}`)]),
  );
  assert(hasAllNames(can), "every capability was read");
  return can;
}

function hasAllNames(can: Readonly<Record<string, boolean>>): can is Capabilities {
  return capabilityNames.every((name) => Object.hasOwn(can, name));
}
