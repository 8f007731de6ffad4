// What a model can take and do. What a file does not claim, the model cannot.
import { assert } from "../assert.ts";
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
  /** The provider sums up a conversation itself when it is asked to. */
  "compactsOnDemand",
] as const;

export type CapabilityName = (typeof capabilityNames)[number];

export type Capabilities = Readonly<Record<CapabilityName, boolean>>;

/** Reads the claims of a file; every other capability is false. */
export function parseCapabilities(value: unknown, place: string): Capabilities {
  const claims = readFields(value ?? {}, place, capabilityNames);
  const can = Object.fromEntries(
    capabilityNames.map((name) => [name, readBoolean(claims[name] ?? false, `${place}.${name}`)]),
  );
  assert(hasAllNames(can), "every capability was read");
  return can;
}

function hasAllNames(can: Readonly<Record<string, boolean>>): can is Capabilities {
  return capabilityNames.every((name) => Object.hasOwn(can, name));
}

/** The name of a capability, as a rule's condition gives it. */
export function readCapabilityName(value: unknown, place: string): CapabilityName {
  return readOneOf(value, capabilityNames, place);
}
