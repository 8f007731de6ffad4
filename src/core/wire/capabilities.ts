// What an adapter declares: the model's abilities that its protocol uses.
import type { ModelFacts } from "../models/model-facts.ts";
import type { Protocol } from "./protocol.ts";

export interface AdapterCapabilities {
  readonly supportsThinking: boolean;
  readonly supportsImages: boolean;
  readonly supportsTools: boolean;
  readonly supportsSystemPrompt: boolean;
  readonly supportsStructuredOutput: boolean;
  readonly supportsStreaming: boolean;
  readonly supportsStreamingToolCalls: boolean;
  readonly supportsParallelToolCalls: boolean;
  readonly supportsPromptCaching: boolean;
  readonly supportsSystemMessagesInList: boolean;
  readonly contextTokensMax: number;
  /** Null if the provider publishes no limit. */
  readonly outputTokensMax: number | null;
  readonly acceptedImageMediaTypes: readonly string[];
}

export function declareCapabilities(
  protocol: Pick<Protocol, "writesMarkers">,
  model: ModelFacts,
): AdapterCapabilities {
  const { capabilities: can, windowTokens, outputTokensMax, imageMediaTypes } = model;
  return {
    supportsThinking: can.thinking,
    supportsImages: can.images,
    supportsTools: can.tools,
    supportsSystemPrompt: can.systemPrompt,
    supportsStructuredOutput: can.structuredOutput,
    supportsStreaming: can.streaming,
    supportsStreamingToolCalls: can.streamingToolCalls,
    supportsParallelToolCalls: can.parallelToolCalls,
    supportsPromptCaching: cachesPrompts(protocol.writesMarkers, model),
    supportsSystemMessagesInList: can.midConversationSystem,
    contextTokensMax: windowTokens,
    outputTokensMax,
    acceptedImageMediaTypes: can.images ? imageMediaTypes : [],
  };
}

/** Whether prefixes are cached and a cache read has a price. Without a price no saving is known. */
function cachesPrompts(writesMarkers: boolean, { cache }: ModelFacts): boolean {
  const isKept = (writesMarkers && cache.markers !== null) || cache.automatic !== null;
  return isKept && cache.readMultiplier !== null;
}
