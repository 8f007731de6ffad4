// What users import. The pure parts are in `strata-context/core`; their types are here, too.
export type * from "./core-index.ts";
export { StrataError } from "./core/strata-error.ts";
export { decodeMessage } from "./core/message/decode-message.ts";
export { encodeMessage } from "./core/message/encode-message.ts";
export { toToolDefinition } from "./core/message/tool-definition.ts";
export { hitRate } from "./core/message/usage.ts";
export { validateMessage } from "./core/message/validate-message.ts";
export { builtInCatalogue, createCatalogue, listModels } from "./core/models/catalogue.ts";
export { costOf, savingsOverNoCache } from "./core/models/cost.ts";
export { describeModel } from "./core/models/describe-model.ts";
export { formatUsd, formatUsdRounded } from "./core/models/pico-usd.ts";
export { resolveModel } from "./core/models/resolve-model.ts";
export { cheapCounter } from "./core/tokens/cheap-counter.ts";
export { estimateTokens } from "./core/tokens/estimate.ts";
export { loadO200k } from "./core/tokens/o200k/counter.ts";
export { countText } from "./core/tokens/raw-count.ts";
export { findPolicy, listPolicies } from "./core/cache/policies.ts";
export { anthropicMessages } from "./core/wire/anthropic-messages/index.ts";
export { openaiChat } from "./core/wire/openai-chat/index.ts";
export { openaiResponses } from "./core/wire/openai-responses/index.ts";
export { ToolError } from "./core/tools/tool.ts";
export { findToolset } from "./core/tools/toolsets.ts";
export { defaultCompactionSettings } from "./core/compaction/plan/settings.ts";
export { defineTool } from "./core/tools/define-tool.ts";
export { explainMiss } from "./core/diagnosis/explain-miss.ts";
export { lintRequest } from "./core/diagnosis/lint-request.ts";
export type { RetryOptions } from "./edge/providers/retry.ts";
export type { Timeouts } from "./edge/providers/timeouts.ts";
export {
  anthropicEndpoint,
  openaiEndpoint,
  type Endpoint,
  type EndpointOptions,
} from "./edge/providers/endpoints.ts";
export { createProvider, type Provider, type ProviderOptions } from "./edge/providers/provider.ts";
export type { Attempt, CallToSend, Sent } from "./edge/providers/run-attempts.ts";
export { openScope, type ScopedFiles } from "./edge/stores/scoped-files.ts";
export { openMemoryStore } from "./edge/stores/memory/memory-store.ts";
export { openMemorySession } from "./edge/stores/memory/memory-session.ts";
export { createSkillStore, type SkillStore } from "./edge/stores/skills/skill-store.ts";
export {
  createWorkspaceCache,
  type WorkspaceCache,
  type WorkspaceCacheOptions,
} from "./edge/stores/workspace/workspace-cache.ts";
export { toCounters, type WorkspaceCounter } from "./edge/stores/workspace/workspace-counters.ts";
export { builtInTools, type BuiltInOptions } from "./edge/tools/built-in-tools.ts";
export { createCallEmitter } from "./edge/tools/call-events.ts";
export type { DispatchContext, DispatcherOptions } from "./edge/tools/dispatch-options.ts";
export { createDispatcher, type Dispatcher } from "./edge/tools/dispatcher.ts";
export { historyTools, type HistoryToolsOptions } from "./edge/tools/history-tools.ts";
export { memoryTools } from "./edge/tools/memory-tools.ts";
export { skillTools } from "./edge/tools/skill-tools.ts";
export { createEventBus, type EventBus, type EventBusOptions } from "./edge/events/event-bus.ts";
export type { BusProblem } from "./edge/events/problem.ts";
export type { Emitter } from "./engine/events/tell.ts";
export { openLedger } from "./edge/stores/open-ledger.ts";
export type { LedgerOptions } from "./edge/stores/ledger/create-ledger.ts";
export type { Compaction } from "./engine/compaction/compaction.ts";
export { withDelegation, type DelegationOptions } from "./engine/sub-agents/sub-agent.ts";
export { openWorkspaceWorld } from "./engine/world/workspace-world.ts";
export {
  compactSession,
  planCompaction,
  type CompactionPlan,
} from "./engine/compaction/compact-session.ts";
export type { Summariser } from "./engine/compaction/summarise-transcript.ts";
export { openSession } from "./engine/session/open-session.ts";
export { resumeSession, type ResumeSetup } from "./engine/session/stored-session.ts";
export {
  resumeTurn,
  runTurn,
  type Edges,
  type TurnEnding,
  type TurnRun,
  type TurnToResume,
  type TurnToRun,
} from "./engine.ts";
export {
  createEngine,
  type Engine,
  type EngineEdges,
  type ForkFrom,
  type OpenOptions,
  type SessionOptions,
  type Reached,
} from "./engine/session/create-engine.ts";
export { openEngine, type OpenedEngine, type OpenEngineOptions } from "./host/open-engine.ts";
export type { EngineConfig } from "./engine/session/engine-config.ts";
export type { EngineSession, RunOptions, Unfinished } from "./engine/session/engine-session.ts";
export type { TurnHandle, TurnPart } from "./engine/turn/turn-handle.ts";
export type { World, WorldContext, WorldOwner } from "./engine/world/world.ts";
export type {
  NextStep,
  OwnLoop,
  RecordedCall,
  RecordOptions,
  ToolAnswer,
} from "./engine/own-loop/own-loop.ts";
export type { OwnCall } from "./engine/own-loop/own-call.ts";
export { offerTools } from "./engine/own-loop/application-side.ts";
export { sendsNothing } from "./engine/own-loop/application-side.ts";
