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
export { openaiChat } from "./core/wire/openai/chat/index.ts";
export { openaiResponses } from "./core/wire/openai/responses/index.ts";
export { ToolError } from "./core/tools/tool.ts";
export { findToolset } from "./core/tools/toolsets.ts";
export { defaultCompactionSettings } from "./core/compaction/plan/settings.ts";
export { defineTool } from "./core/tools/define-tool.ts";
export { explainMiss } from "./core/diagnosis/explain-miss.ts";
export { lintRequest } from "./core/diagnosis/lint-request.ts";
export type { RetryOptions } from "./edge/providers/retry.ts";
export type { Timeouts } from "./edge/providers/timeouts.ts";
export { anthropicEndpoint } from "./core/wire/anthropic-messages/access.ts";
export { openaiEndpoint } from "./core/wire/openai/access.ts";
export type { Endpoint, EndpointOptions } from "./core/wire/access.ts";
export { createProvider, type Provider, type ProviderOptions } from "./edge/providers/provider.ts";
export type { Signing } from "./edge/providers/wire-effects.ts";
export type { Attempt, CallToSend, Sent } from "./edge/providers/run-attempts.ts";
export { openScope, type ScopedFiles } from "./edge/files/guard/scoped-files.ts";
export { openMemoryStore } from "./edge/files/memory/memory-store.ts";
export { openMemorySession } from "./edge/files/memory/memory-session.ts";
export { createSkillStore, type SkillStore } from "./edge/files/skills/skill-store.ts";
export {
  createWorkspaceCache,
  type WorkspaceCache,
  type WorkspaceCacheOptions,
} from "./edge/files/workspace/workspace-cache.ts";
export { toCounters, type WorkspaceCounter } from "./edge/files/workspace/workspace-root.ts";
export { builtInTools, type BuiltInOptions } from "./edge/tools/built-in-tools.ts";
export { createCallEmitter } from "./edge/tools/dispatch/tool-trace.ts";
export type { DispatchContext, DispatcherOptions } from "./edge/tools/dispatch/dispatch-options.ts";
export { createDispatcher, type Dispatcher } from "./edge/tools/dispatch/dispatcher.ts";
export { historyTools, type HistoryToolsOptions } from "./edge/tools/history-tools.ts";
export { memoryTools } from "./edge/tools/memory/memory-tools.ts";
export { skillTools } from "./edge/tools/skills/skill-tools.ts";
export { createEventBus, type EventBus, type EventBusOptions } from "./edge/events/event-bus.ts";
export type { BusProblem } from "./edge/events/problem.ts";
export type { Emitter } from "./engine/events/turn-emitter.ts";
export { openLedger } from "./edge/stores/open-ledger.ts";
export type { LedgerOptions } from "./edge/stores/ledger/create-ledger.ts";
export type { Compaction } from "./engine/turn/deps.ts";
export { withDelegation } from "./engine/sub-agents/sub-agent.ts";
export type { DelegationOptions } from "./engine/sub-agents/delegation.ts";
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
  type Deps,
  type TurnEnding,
  type TurnResult,
  type TurnToResume,
  type TurnToRun,
} from "./engine.ts";
export {
  createEngine,
  type Engine,
  type ForkFrom,
  type OpenOptions,
  type SessionOptions,
} from "./engine/session/create-engine.ts";
export type {
  CompactionAbout,
  CompactionEnd,
  CompactionHook,
} from "./engine/compaction/compaction-hooks.ts";
export type { EngineDeps, Reached } from "./engine/session/engine-deps.ts";
export { openEngine, type OpenedEngine, type OpenEngineOptions } from "./host/open-engine.ts";
export type { EngineConfig } from "./engine/session/engine-config.ts";
export type { EngineSession } from "./engine/session/engine-session.ts";
export type { WarmStatus } from "./engine/warm/keep-warm.ts";
export type { Prewarmed, PrewarmOptions } from "./engine/warm/prewarm.ts";
export type { Unfinished } from "./engine/session/live-session.ts";
export type { RunOptions, TurnHandle, TurnPart } from "./engine/turn/turn-handle.ts";
export type { MemoryProvider, World, WorldContext, WorldOwner } from "./engine/world/world.ts";
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
