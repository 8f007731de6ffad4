// What users import.
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
  FoldResult,
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
