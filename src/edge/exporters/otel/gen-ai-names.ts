// Names of OpenTelemetry's GenAI conventions, as of 2026-11-16. They are all in development: a new name is added beside the old one for
// as long as consumers read it. Source: open-telemetry/semantic-conventions-genai, docs/gen-ai. The npm package of the conventions has
// older names.

import known from "./provider-names.json" with { type: "json" };

export const genAi = {
  operation: "gen_ai.operation.name",
  provider: "gen_ai.provider.name",
  conversation: "gen_ai.conversation.id",
  isCompacted: "gen_ai.conversation.compacted",
  agent: "gen_ai.agent.name",
  requestModel: "gen_ai.request.model",
  isStreamed: "gen_ai.request.stream",
  responseId: "gen_ai.response.id",
  responseModel: "gen_ai.response.model",
  finishReasons: "gen_ai.response.finish_reasons",
  timeToFirstChunk: "gen_ai.response.time_to_first_chunk",
  inputTokens: "gen_ai.usage.input_tokens",
  outputTokens: "gen_ai.usage.output_tokens",
  cacheReadTokens: "gen_ai.usage.cache_read.input_tokens",
  cacheWriteTokens: "gen_ai.usage.cache_write.input_tokens",
  /** The name before September 2026, the only one for writes that Langfuse reads. */
  cacheCreationTokens: "gen_ai.usage.cache_creation.input_tokens",
  reasoningTokens: "gen_ai.usage.reasoning.output_tokens",
  modality: "gen_ai.token.modality",
  tool: "gen_ai.tool.name",
  toolCall: "gen_ai.tool.call.id",
  toolType: "gen_ai.tool.type",
} as const;

/** Stable names of the general conventions. */
export const general = {
  errorType: "error.type",
  serverAddress: "server.address",
  serverPort: "server.port",
} as const;

/** What no convention has. */
export const strata = {
  mode: "strata.mode",
  policy: "strata.policy",
  markers: "strata.plan.markers",
  expectedReadTokens: "strata.cache.expected_read_tokens",
  missCause: "strata.cache.miss.cause",
  missBlock: "strata.cache.miss.block",
  missTokens: "strata.cache.miss.tokens",
  missUsd: "strata.cache.miss.cost_usd",
  totalUsd: "strata.cost.total_usd",
  savedUsd: "strata.cost.saved_usd",
  client: "strata.client",
  callId: "strata.call.id",
  turnId: "strata.turn.id",
  kind: "strata.conversation.kind",
  purpose: "strata.purpose",
  upstream: "strata.upstream",
  servedBy: "strata.served_by",
  repairs: "strata.repairs",
  key: "strata.key",
  user: "strata.user",
  team: "strata.team",
  isUnfinished: "strata.unfinished",
  isResumed: "strata.turn.resumed",
  routeReason: "strata.route.reason",
  turnCalls: "strata.turn.llm_calls",
  turnTools: "strata.turn.tool_calls",
  turnInputTokens: "strata.turn.input_tokens",
  turnOutputTokens: "strata.turn.output_tokens",
  turnUsd: "strata.turn.cost_usd",
  toolOutputBytes: "strata.tool.output_bytes",
  compactionTrigger: "strata.compaction.trigger",
  compactionOutcome: "strata.compaction.outcome",
  compactionTurns: "strata.compaction.turns",
  compactionBefore: "strata.compaction.tokens_before",
  compactionAfter: "strata.compaction.tokens_after",
} as const;

/** As `@anthropic-ai/sdk` 0.134 and later name them. */
export const anthropic = {
  write5mTokens: "anthropic.usage.cache_creation.ephemeral_5m_input_tokens",
  write1hTokens: "anthropic.usage.cache_creation.ephemeral_1h_input_tokens",
} as const;

/** OpenInference's names, which Phoenix reads. */
export const openInference = {
  kind: "openinference.span.kind",
  model: "llm.model_name",
  prompt: "llm.token_count.prompt",
  completion: "llm.token_count.completion",
  cacheRead: "llm.token_count.prompt_details.cache_read",
  cacheWrite: "llm.token_count.prompt_details.cache_write",
} as const;

/** Well-known names that differ from ours; every other provider has the name that we give it. */
const providerNames: Readonly<Record<string, string>> = known.names;

const clouds: ReadonlySet<string> = new Set(["bedrock", "vertex", "azure"]);

/** `route`: how the model is reached, which names the provider where it is another vendor's cloud. */
export function toProviderName(provider: string, route: string = provider): string {
  const name = clouds.has(route) ? route : provider;
  return providerNames[name] ?? name;
}

/** Seconds: 0.01 · 2ⁿ, as the conventions ask. */
export const durationBuckets: readonly number[] = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
];

/** Tokens: powers of four, as the conventions ask. */
export const tokenBuckets: readonly number[] = [
  1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216,
  67_108_864,
];
