// `strata-context/core`: the pure parts. Values in, values out; no clock, network, disk or randomness.
export { hashContent, extendPrefixKey, emptyPrefixKey } from "./core/hash.ts";
export type * from "./core/hash.ts";
export { exitStatusOf, StrataError } from "./core/strata-error.ts";
export type * from "./core/strata-error.ts";
export type * from "./core/message/assembled-context.ts";
export { createRequest, systemSegments } from "./core/message/canonical-request.ts";
export type * from "./core/message/canonical-request.ts";
export { encodeCanonicalRequest } from "./core/wire/canonical-call.ts";
export type * from "./core/wire/canonical-call.ts";
export { decodeBlock, decodeMessage } from "./core/message/decode-message.ts";
export { encodeBlock, encodeMessage } from "./core/message/encode-message.ts";
export { canonicalJsonOf, toCanonicalJson } from "./core/message/json-tree.ts";
export type * from "./core/message/message.ts";
export { encodeToolDefinition, toToolDefinition } from "./core/message/tool-definition.ts";
export type * from "./core/message/tool-definition.ts";
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
} from "./core/message/usage.ts";
export type * from "./core/message/usage.ts";
export { validateConversation } from "./core/message/validate-conversation.ts";
export { validateMessage, validateRecord, validateUsage } from "./core/message/validate-message.ts";
export type * from "./core/message/violation.ts";
export {
  builtInCatalogue,
  conservativeFacts,
  createCatalogue,
  listModels,
} from "./core/models/catalogue.ts";
export type * from "./core/models/catalogue.ts";
export type * from "./core/models/cache-rules.ts";
export type * from "./core/models/capabilities.ts";
export { costOf, findCost, savedTokens, savingsOverNoCache } from "./core/models/cost.ts";
export type * from "./core/models/cost.ts";
export { describeModel } from "./core/models/describe-model.ts";
export type * from "./core/models/describe-model.ts";
export type * from "./core/models/invalidation.ts";
export type * from "./core/models/marker-rules.ts";
export type * from "./core/models/model-facts.ts";
export type * from "./core/models/moment.ts";
export type * from "./core/models/prices.ts";
export type * from "./core/models/wire-rules.ts";
export { formatUsd, formatUsdRounded } from "./core/models/pico-usd.ts";
export { findModel, nearestIds, resolveModel } from "./core/models/resolve-model.ts";
export type * from "./core/models/resolve-model.ts";
export { defaultReserves, planBudget } from "./core/tokens/budget.ts";
export type * from "./core/tokens/budget.ts";
export { calibrate, learn, uncalibrated } from "./core/tokens/calibration.ts";
export type * from "./core/tokens/calibration.ts";
export { cheapCounter } from "./core/tokens/cheap-counter.ts";
export { estimateTokens } from "./core/tokens/estimate.ts";
export { loadCl100k, loadO200k } from "./core/tokens/o200k/counter.ts";
export type * from "./core/tokens/o200k/counter.ts";
export { addRawCounts, countMessage, countText, noRawCount } from "./core/tokens/raw-count.ts";
export type * from "./core/tokens/raw-count.ts";
export { createTokenCounter, lengthCounter } from "./core/tokens/token-counter.ts";
export type * from "./core/tokens/token-counter.ts";
export { describeEnvironment } from "./core/layers/environment.ts";
export type * from "./core/layers/environment.ts";
export { readEvent } from "./core/layers/event.ts";
export type * from "./core/layers/event.ts";
export { describeMemoryChange } from "./core/layers/memory-delta.ts";
export { memorySections } from "./core/layers/memory-sections.ts";
export type * from "./core/layers/memory-sections.ts";
export { roleRules, workerTask } from "./core/layers/roles.ts";
export type * from "./core/layers/section.ts";
export { itemsOf } from "./core/growing/growing-list.ts";
export type * from "./core/growing/growing-list.ts";
export { toSections } from "./core/layers/to-sections.ts";
export type * from "./core/layers/to-sections.ts";
export { selectTools } from "./core/tools/select-tools.ts";
export type * from "./core/tools/select-tools.ts";
export { toAssembledContext } from "./core/assembly/assembled-context.ts";
export type * from "./core/assembly/assembled-context.ts";
export { assemble } from "./core/assembly/assemble.ts";
export type * from "./core/assembly/assemble.ts";
export { assembleRequest } from "./core/assembly/canonical.ts";
export type * from "./core/assembly/canonical.ts";
export { buildFoundation } from "./core/assembly/foundation.ts";
export type * from "./core/assembly/foundation.ts";
export type * from "./core/assembly/layout.ts";
export { breakEvenCalls, planPadding } from "./core/assembly/padding.ts";
export type * from "./core/assembly/padding.ts";
export type * from "./core/assembly/prompt-block.ts";
export { toSkillIndex } from "./core/assembly/skill-index.ts";
export type * from "./core/assembly/skill-index.ts";
export type * from "./core/assembly/spelling.ts";
export { toSystemBlocks, volatileText } from "./core/assembly/system-blocks.ts";
export type * from "./core/assembly/system-blocks.ts";
export { appendMessages, openThread } from "./core/assembly/thread.ts";
export type * from "./core/assembly/thread.ts";
export type * from "./core/cache/cache-plan.ts";
export { openCacheState } from "./core/cache/cache-state.ts";
export type * from "./core/cache/cache-state.ts";
export { noEvidence, refutedPromises } from "./core/cache/evidence.ts";
export type * from "./core/cache/evidence.ts";
export { learnFromReply } from "./core/cache/learn-from-reply.ts";
export type * from "./core/cache/learn-from-reply.ts";
export { learnPace, openPace } from "./core/cache/pace.ts";
export type * from "./core/cache/pace.ts";
export { planCache } from "./core/cache/plan-cache.ts";
export type * from "./core/cache/plan-cache.ts";
export { findPolicy, listPolicies } from "./core/cache/policies.ts";
export { policyNames } from "./core/cache/policy.ts";
export type * from "./core/cache/policy.ts";
export { anthropicMessages } from "./core/wire/anthropic-messages/index.ts";
export { openaiChat } from "./core/wire/openai/chat/index.ts";
export { openaiResponses } from "./core/wire/openai/responses/index.ts";
export type { MessagesRequest } from "./core/wire/anthropic-messages/schema.ts";
export type { ChatRequest } from "./core/wire/openai/chat/schema.ts";
export type { ResponsesRequest } from "./core/wire/openai/responses/schema.ts";
export { declareCapabilities } from "./core/wire/capabilities.ts";
export type * from "./core/wire/capabilities.ts";
export { bodyText } from "./core/wire/encoded-request.ts";
export type * from "./core/wire/encoded-request.ts";
export { isRetryable } from "./core/wire/failure.ts";
export type * from "./core/wire/failure.ts";
export type * from "./core/wire/protocol.ts";
export type * from "./core/cache/find-hit.ts";
export type * from "./core/wire/reply.ts";
export { eventCatalogue, eventTypes, isAudit, isEventType } from "./core/events/event-catalogue.ts";
export type * from "./core/events/event-catalogue.ts";
export type * from "./core/events/event.ts";
export { checkEvent } from "./core/events/check-event.ts";
export type * from "./core/events/check-event.ts";
export { createEventIds } from "./core/events/event-ids.ts";
export type * from "./core/events/event-ids.ts";
export { redact } from "./core/events/redact.ts";
export type * from "./core/ledger/call-entry.ts";
export type * from "./core/ledger/compaction-record.ts";
export type * from "./core/ledger/ledger.ts";
export type * from "./core/ledger/session-record.ts";
export type * from "./core/ledger/turn-record.ts";
export { toContextParts, toWorkspaceNote } from "./core/layers/workspace-bundle.ts";
export type * from "./core/layers/workspace-bundle.ts";
export { memoryCaps, memoryFiles } from "./core/memory/memory-file.ts";
export type * from "./core/memory/memory-file.ts";
export { viewMemory } from "./core/memory/memory-view.ts";
export { fitIndex } from "./core/skills/fit-index.ts";
export type * from "./core/skills/fit-index.ts";
export { recoverActivations } from "./core/skills/recover-activations.ts";
export { createSkillRegistry } from "./core/skills/skill-registry.ts";
export type * from "./core/skills/skill-registry.ts";
export { readSkill } from "./core/skills/read-skill.ts";
export { skillRules } from "./core/skills/skill-rules.ts";
export type * from "./core/skills/skill-rules.ts";
export { ToolError } from "./core/tools/tool.ts";
export type * from "./core/tools/tool.ts";
export { findToolset, toolsets } from "./core/tools/toolsets.ts";
export type * from "./core/tools/toolsets.ts";
export { defaultCompactionSettings } from "./core/compaction/plan/settings.ts";
export type * from "./core/compaction/plan/settings.ts";
export type * from "./core/turn/compaction/compacting.ts";
export type * from "./core/session/session-foundation.ts";
export type * from "./core/session/session.ts";
export { defineTool } from "./core/tools/define-tool.ts";
export type * from "./core/tools/define-tool.ts";
export { explainMiss } from "./core/diagnosis/explain-miss.ts";
export type * from "./core/diagnosis/explain-miss.ts";
export { missCauses } from "./core/diagnosis/explanation.ts";
export type * from "./core/diagnosis/explanation.ts";
export type * from "./core/diagnosis/lint-finding.ts";
export { lintRequest } from "./core/diagnosis/lint-request.ts";
export { markRequest } from "./core/wire/foreign/mark-request.ts";
export type * from "./core/wire/foreign/mark-request.ts";
export { readRequest } from "./core/wire/foreign/read-request.ts";
export type * from "./core/wire/foreign/foreign-request.ts";
export { createTracker } from "./core/diagnosis/tracker.ts";
export type * from "./core/diagnosis/tracker.ts";
