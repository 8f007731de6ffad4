// What a model can take and do. What a file does not claim, the model cannot.
import { readBoolean, readFields, readOneOf } from "./read-fields.ts";

export const capabilityNames = [
  "tools",
  "parallelToolCalls",
  /** Whether a call of a tool can be demanded. */
  "forcedToolChoice",
  "streaming",
  "streamingToolCalls",
  "systemPrompt",
  "structuredOutput",
  "images",
  "documents",
  /** Whether temperature and the like are accepted. */
  "samplingControls",
  "thinking",
  "thinkingAlwaysOn",
  /** Nothing before a kept thinking block may change any more. */
  "thinkingBoundToPrefix",
  /** Earlier thinking is removed when a user turn without tool results comes. */
  "stripsPriorThinking",
  /** System messages may stand among the messages. */
  "midConversationSystem",
  /** Tools may be added and removed by a message, without a change of the prefix. */
  "midConversationTools",
  "midConversationEffort",
] as const;

export type CapabilityName = (typeof capabilityNames)[number];

export type Capabilities = Readonly<Record<CapabilityName, boolean>>;

/** Reads the claims of a file; every other capability is false. */
export function parseCapabilities(value: unknown, place: string): Capabilities {
  const claims = readFields(value ?? {}, place, capabilityNames);
  const claimed = (name: CapabilityName): boolean =>
    readBoolean(claims[name] ?? false, `${place}.${name}`);
  return {
    tools: claimed("tools"),
    parallelToolCalls: claimed("parallelToolCalls"),
    forcedToolChoice: claimed("forcedToolChoice"),
    streaming: claimed("streaming"),
    streamingToolCalls: claimed("streamingToolCalls"),
    systemPrompt: claimed("systemPrompt"),
    structuredOutput: claimed("structuredOutput"),
    images: claimed("images"),
    documents: claimed("documents"),
    samplingControls: claimed("samplingControls"),
    thinking: claimed("thinking"),
    thinkingAlwaysOn: claimed("thinkingAlwaysOn"),
    thinkingBoundToPrefix: claimed("thinkingBoundToPrefix"),
    stripsPriorThinking: claimed("stripsPriorThinking"),
    midConversationSystem: claimed("midConversationSystem"),
    midConversationTools: claimed("midConversationTools"),
    midConversationEffort: claimed("midConversationEffort"),
  };
}

/** The name of a capability, as a rule's condition gives it. */
export function readCapabilityName(value: unknown, place: string): CapabilityName {
  return readOneOf(value, capabilityNames, place);
}
