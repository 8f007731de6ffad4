// `strata-context/core`: the pure parts. Values in, values out; no clock, network, disk or randomness.
export { hashContent, extendPrefixKey, emptyPrefixKey, type ContentHash } from "./core/hash.ts";
export { exitStatusOf, StrataError, type StrataErrorCode } from "./core/strata-error.ts";
export type { AgentRole, AssembledContext } from "./core/message/assembled-context.ts";
export {
  createRequest,
  systemSegments,
  type CanonicalRequest,
  type SystemSegment,
} from "./core/message/canonical-request.ts";
export { decodeBlock, decodeMessage } from "./core/message/decode-message.ts";
export { encodeBlock, encodeMessage } from "./core/message/encode-message.ts";
export { canonicalJsonOf, toCanonicalJson } from "./core/message/json-text.ts";
export type {
  Block,
  BlockType,
  CompactionBlock,
  DocumentBlock,
  ImageBlock,
  JsonText,
  MediaSource,
  Message,
  MessageMetadata,
  MessageRecord,
  OpaqueBlock,
  RedactedThinkingBlock,
  Role,
  TextBlock,
  ThinkingBlock,
  ToolResultBlock,
  ToolUseBlock,
} from "./core/message/message.ts";
export {
  appendSealed,
  emptyPrefix,
  sealedMessages,
  sealMessage,
  type SealedMessage,
  type SealedPrefix,
  type Sealing,
} from "./core/message/seal-message.ts";
export {
  encodeToolDefinition,
  toToolDefinition,
  type ToolDefinition,
} from "./core/message/tool-definition.ts";
export type {
  CompactionSummary,
  StopReason,
  ToolCall,
  TurnFailure,
  TurnResult,
} from "./core/message/turn-result.ts";
export {
  addUsage,
  coverage,
  generatedTokens,
  hitRate,
  lifetimes,
  noUsage,
  promptTokens,
  totalUsage,
  writeShare,
  writtenTokens,
  type Lifetime,
  type Usage,
} from "./core/message/usage.ts";
export { validateConversation } from "./core/message/validate-conversation.ts";
export { validateMessage, validateRecord, validateUsage } from "./core/message/validate-message.ts";
export { validateRequest, validateTool } from "./core/message/validate-request.ts";
export type { Rule, Violation } from "./core/message/violation.ts";
export {
  builtInCatalogue,
  conservativeFacts,
  createCatalogue,
  listModels,
  type Catalogue,
  type CatalogueChanges,
} from "./core/models/catalogue.ts";
export type { AutomaticRules, CacheRules, LifetimeRules } from "./core/models/cache-rules.ts";
export type { Capabilities, CapabilityName } from "./core/models/capabilities.ts";
export {
  costOf,
  findCost,
  savingsOverModel,
  savingsOverNoCache,
  type Cost,
  type CostOptions,
} from "./core/models/cost.ts";
export { describeModel, type ModelDescription } from "./core/models/describe-model.ts";
export type { InvalidationRule, RequestChange } from "./core/models/invalidation.ts";
export type { Carrier, Lookback, MarkerRules } from "./core/models/marker-rules.ts";
export type { ModelFacts, Tokenizer } from "./core/models/model-facts.ts";
export type { Moment } from "./core/models/moment.ts";
export type { AppliedRates, Rates } from "./core/models/prices.ts";
export { formatUsd, formatUsdRounded } from "./core/models/pico-usd.ts";
export {
  findModel,
  nearestIds,
  resolveModel,
  type ResolvedModel,
} from "./core/models/resolve-model.ts";
export {
  anchorAt,
  countHistory,
  observe,
  type Anchor,
  type CountedMessage,
  type History,
  type TokenTotal,
} from "./core/tokens/anchor.ts";
export {
  defaultReserves,
  moveBudget,
  planBudget,
  type BudgetLimits,
  type Reserves,
  type TokenBudget,
} from "./core/tokens/budget.ts";
export { calibrate, learn, uncalibrated, type Calibration } from "./core/tokens/calibration.ts";
export { cheapCounter } from "./core/tokens/cheap-counter.ts";
export { createCountCache, type CountCache } from "./core/tokens/count-cache.ts";
export { estimateTokens } from "./core/tokens/estimate.ts";
export { loadO200k, type TextCounter } from "./core/tokens/o200k/counter.ts";
export { planCuts, recentTurnsMin, type CutPlan, type Cuttable } from "./core/tokens/plan-cuts.ts";
export {
  addRawCounts,
  countMessage,
  countText,
  noRawCount,
  totalRawCount,
  type RawCount,
} from "./core/tokens/raw-count.ts";
export {
  createTokenCounter,
  lengthCounter,
  type TokenCounter,
} from "./core/tokens/token-counter.ts";
export {
  describeEnvironment,
  type Capability,
  type EnvironmentNotes,
} from "./core/layers/environment.ts";
export {
  readEvent,
  type AgentEvent,
  type EventMoment,
  type EventReading,
  type HookData,
} from "./core/layers/event.ts";
export { describeMemoryChange } from "./core/layers/memory-delta.ts";
export { memorySections, type MemoryTexts } from "./core/layers/memory-sections.ts";
export { roleRules, workerTask } from "./core/layers/roles.ts";
export type { Layer, Section, Stability } from "./core/layers/section.ts";
export { itemsOf, type GrowingList, type ListView } from "./core/growing/growing-list.ts";
export { toSections, type ContextFile, type ContextParts } from "./core/layers/to-sections.ts";
export {
  selectTools,
  type LeftTool,
  type OfferedTool,
  type SelectedTools,
} from "./core/tools/select-tools.ts";
export { toAssembledContext, type ContextFrame } from "./core/assembly/assembled-context.ts";
export { assemble, type AssembleParts, type Assembly } from "./core/assembly/assemble.ts";
export {
  assembleRequest,
  toCanonicalRequest,
  type RequestSetting,
} from "./core/assembly/canonical.ts";
export {
  layFoundation,
  type Foundation,
  type FoundationParts,
} from "./core/assembly/foundation.ts";
export type { Layout, PaddingMode, SystemBlocks, VolatilePlace } from "./core/assembly/layout.ts";
export { breakEvenCalls, planPadding, type PaddingPlan } from "./core/assembly/padding.ts";
export type { BlockKind, BlockList, PromptBlock } from "./core/assembly/prompt-block.ts";
export { toSkillIndex, type IndexedSkill } from "./core/assembly/skill-index.ts";
export type { LeftOut, Spelled, SpelledBlock, Spelling } from "./core/assembly/spelling.ts";
export { toSystemBlocks, volatileText, type SystemBlock } from "./core/assembly/system-blocks.ts";
export { appendMessages, openThread, type Thread } from "./core/assembly/thread.ts";
export type {
  CachePlan,
  DroppedMarker,
  DropReason,
  Expectation,
  KeepWarm,
  MarkerSlot,
  PlannedMarker,
} from "./core/cache/cache-plan.ts";
export { openCacheState, type CacheState, type KnownEntry } from "./core/cache/cache-state.ts";
export {
  noEvidence,
  refutedPromises,
  type CachePromise,
  type Evidence,
} from "./core/cache/evidence.ts";
export {
  learnFromReply,
  type AnsweredCall,
  type ReplyLesson,
  type Verdict,
} from "./core/cache/learn-from-reply.ts";
export { learnPace, openPace, type Pace, type PaceKind } from "./core/cache/pace.ts";
export { planCache, type PlanQuestion } from "./core/cache/plan-cache.ts";
export { findPolicy, listPolicies } from "./core/cache/policies.ts";
export { policyNames } from "./core/cache/policy.ts";
export type {
  MarkerPart,
  MarkerPlace,
  MarkerRule,
  Policy,
  PolicyName,
} from "./core/cache/policy.ts";
export { anthropicMessages } from "./core/wire/anthropic-messages/index.ts";
export { openaiChat } from "./core/wire/openai/chat/index.ts";
export { openaiResponses } from "./core/wire/openai/responses/index.ts";
export { declareCapabilities, type AdapterCapabilities } from "./core/wire/capabilities.ts";
export { bodyText, type EncodedRequest, type EncodeNote } from "./core/wire/encoded-request.ts";
export { isRetryable, type ProviderFailure } from "./core/wire/failure.ts";
export type { CallOptions, CallToEncode, Protocol, ServerEvent } from "./core/wire/protocol.ts";
export type { Hit, WireMarker } from "./core/cache/find-hit.ts";
export type { Reply, ReplyStop, ReportedUsage, StreamPart } from "./core/wire/reply.ts";
export {
  eventCatalogue,
  eventTypes,
  isAudit,
  isEventType,
  type Actor,
  type EventSpec,
  type EventType,
  type Sensitivity,
} from "./core/events/event-catalogue.ts";
export type { EventDraft, EventOf, PayloadOf, StrataEvent } from "./core/events/event.ts";
export { checkEvent, isStrataEvent, type EventViolation } from "./core/events/check-event.ts";
export { checkTrace, type TraceViolation } from "./core/events/check-trace.ts";
export { createEventIds, type EventIds } from "./core/events/event-ids.ts";
export { redact } from "./core/events/redact.ts";
export type { CallEntry, CallRecord, ReplyNote } from "./core/ledger/call-entry.ts";
export type {
  CompactionDetails,
  CompactionRecord,
  NewCompaction,
} from "./core/ledger/compaction-record.ts";
export type {
  DeleteOptions,
  Deletion,
  EventQuery,
  CompactionLock,
  Ledger,
  LedgerStats,
  NewFork,
  OpenTurn,
  ThreadOf,
  WithCall,
} from "./core/ledger/ledger.ts";
export type {
  NewSession,
  PointerMove,
  SessionFilter,
  SessionParent,
  SessionRecord,
} from "./core/ledger/session-record.ts";
export type {
  MessageSource,
  NewMessage,
  NewTurn,
  ThreadMessage,
  ToolCallRecord,
  TurnEnd,
  TurnRecord,
  TurnStatus,
  TurnTools,
  UnfinishedTurn,
} from "./core/ledger/turn-record.ts";
export {
  toContextParts,
  toWorkspaceNote,
  type WorkspaceBundle,
  type WorkspaceNote,
} from "./core/layers/workspace-bundle.ts";
export {
  memoryCaps,
  memoryFiles,
  type MemoryCaps,
  type MemoryFile,
} from "./core/memory/memory-file.ts";
export { viewMemory } from "./core/memory/memory-view.ts";
export { fitIndex, type FittedIndex, type ListedSkill } from "./core/skills/fit-index.ts";
export { recoverActivations } from "./core/skills/recover-activations.ts";
export {
  createSkillRegistry,
  type RegistryOptions,
  type SkillActivationRegistry,
} from "./core/skills/skill-registry.ts";
export { readSkill } from "./core/skills/read-skill.ts";
export { skillRules, type SkillRule } from "./core/skills/skill-rules.ts";
export {
  ToolError,
  type SideEffects,
  type Tool,
  type ToolCallContext,
  type ToolErrorClass,
  type ToolInput,
  type ToolOutput,
} from "./core/tools/tool.ts";
export { findToolset, toolsets, type RoleTools, type Toolset } from "./core/tools/toolsets.ts";
export {
  defaultCompactionSettings,
  type CompactionSettings,
} from "./core/compaction/plan/settings.ts";
export type { CompactionOutcome } from "./core/turn/compaction/compacting.ts";
export type { FoundationSetup } from "./core/session/session-foundation.ts";
export type { SectionNote, Session, SessionSetup, SessionSkill } from "./core/session/session.ts";
export {
  defineTool,
  type InputOf,
  type ObjectSchema,
  type ShortInput,
  type ShortType,
  type ToolToDefine,
} from "./core/tools/define-tool.ts";
export { explainMiss, type CallTiming, type MissQuestion } from "./core/diagnosis/explain-miss.ts";
export { missCauses, type Explanation, type MissCause } from "./core/diagnosis/explanation.ts";
export type { LintFinding } from "./core/diagnosis/lint-finding.ts";
export { lintRequest } from "./core/diagnosis/lint-request.ts";
export { readRequest } from "./core/wire/foreign/read-request.ts";
export type { ForeignBlock, ForeignRequest } from "./core/wire/foreign/foreign-request.ts";
export { createTracker, type Tracker } from "./core/diagnosis/tracker.ts";
