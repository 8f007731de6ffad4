// After a call: its conversation, its cost, the verdict, and the record of all that.
import type { TierSizes } from "../../core/cache/tier-usage.ts";
import type { Explanation } from "../../core/diagnosis/explanation.ts";
import { compareDiagnosis } from "../../core/diagnosis/provider-diagnosis.ts";
import type { ForeignBlock } from "../../core/wire/foreign/foreign-request.ts";
import type { ExchangeEnd, ExchangeStart } from "../exchange.ts";
import type { ConversationName, ObservedCall } from "../observed-call.ts";
import { type CallMarks } from "./client-marks.ts";
import { openingOf, type Branch, type Conversation } from "./conversation.ts";
import type { Conversations } from "./conversations.ts";
import { sharedKeys, type Found } from "./find-conversation.ts";
import { judgeCall } from "./judge-call.ts";
import { type ReadDocument } from "./read-body.ts";
import { compareCosts, factsOf, type Prepared } from "./rewriting.ts";
import { type SeenReply } from "./read-reply.ts";
import type { Watched } from "./watched.ts";

export interface EndedCall {
  readonly start: ExchangeStart;
  readonly tenant: string;
  readonly marks: CallMarks;
  readonly document: ReadDocument;
  readonly end: ExchangeEnd;
  readonly responseBytes: number;
  readonly prepared: Prepared | null;
}

export function settle(call: EndedCall, seen: SeenReply, shared: Watched): void {
  const { start, tenant, marks, document, end, prepared } = call;
  const { conversations, catalogue } = shared;
  const request = prepared?.sent.request ?? document.request;
  const facts = factsOf(request.model, start.upstream, catalogue);
  const model = facts?.id ?? request.model;
  const nowMs = end.endMs;
  const found = conversations.place(
    { tenant, marks, request, model, nowMs },
    prepared?.conversationId,
  );
  const { conversation, branch } = found;
  const { reported } = seen;
  const judged = judgeCall({
    request,
    facts,
    branch,
    accounts: conversation.accounts,
    reported,
    servedBy: seen.servedBy,
    startMs: start.startMs,
    readableMs: end.firstByteMs ?? end.endMs,
  });
  const keptBlocks = sharedKeys(conversation.lastBlocks, request.blocks);
  conversation.accounts = judged.accounts;
  conversations.settle(found, lineAfter(found, call, { judged, seen, model }), nowMs);
  if (seen.replyId !== "") conversations.nameReply(conversation, seen.replyId);
  shared.sink.take(toRecord(call, { found, facts, request, judged, seen, keptBlocks }, shared));
  const { replyId } = seen;
  const replaces = found.goesOn ? (branch?.blocks.at(-1)?.key ?? null) : null;
  const ended = { callId: start.id, replyId, endedMs: nowMs };
  shared.share?.keep({ ...ended, conversation, facts, keptBlocks, replaces });
}

interface Settled {
  readonly found: Found;
  readonly facts: ReturnType<typeof factsOf>;
  /** As it was sent. */
  readonly request: ReadDocument["request"];
  readonly judged: ReturnType<typeof judgeCall>;
  readonly seen: SeenReply;
  readonly keptBlocks: number;
}

function toRecord(call: EndedCall, settled: Settled, shared: Watched): ObservedCall {
  const { start, marks, document, end, prepared } = call;
  const { found, facts, request, judged, seen, keptBlocks } = settled;
  const { conversation } = found;
  const { usage, reportsCache, costPicoUsd, plainCostPicoUsd, explanation, otherPolicies } = judged;
  return {
    id: start.id,
    conversation: nameOf(conversation, marks, shared.conversations, request.blocks),
    startMs: start.startMs,
    firstByteMs: end.firstByteMs,
    endMs: end.endMs,
    upstream: start.upstream,
    account: start.account,
    protocol: document.protocol.name,
    model: request.model,
    factsId: facts?.id ?? null,
    provider: facts?.provider ?? start.upstream,
    status: seen.status,
    stopReason: seen.stopReason,
    failure: seen.failure,
    replyId: seen.replyId,
    servedBy: seen.servedBy,
    usage,
    reportsCache,
    costPicoUsd,
    ...judged.priced,
    plainCostPicoUsd,
    explanation,
    keptBlocks,
    addedBlocks: request.blocks.slice(keptBlocks).map(toObserved),
    markers: request.markers.map(({ block, lifetime }) => ({ block, lifetime })),
    tiers: tiersOf(request.blocks),
    otherPolicies,
    ...compare(call, found, judged, shared),
    ...heard(prepared, seen, explanation),
    requestBytes: document.byteLength,
    responseBytes: call.responseBytes,
    notes: request.continues ? [...seen.notes, continuesNote] : seen.notes,
    wire: toWire(start, document),
  };
}

/** What traces tell of it: where it went, whose trace it belongs to, and what it asked for. */
function toWire(
  { origin, headers }: ExchangeStart,
  { asked }: ReadDocument,
): NonNullable<ObservedCall["wire"]> {
  const { traceparent: parent, tracestate: state } = headers;
  const trace = parent === undefined ? null : { parent, state: state ?? null };
  return { origin: origin ?? null, trace, asked };
}

/** Nothing if the call may not be rewritten. */
function compare(
  { start, tenant, marks, document, prepared }: EndedCall,
  found: Found,
  { usage, reportsCache, costPicoUsd }: ReturnType<typeof judgeCall>,
  { rewriter, catalogue }: Watched,
): ReturnType<typeof compareCosts> & Pick<ObservedCall, "repairs"> {
  if (prepared === null || rewriter === null) return {};
  const { sent, repairs } = prepared;
  const facts = factsOf(document.request.model, start.upstream, catalogue);
  const call = { start, tenant, marks, document, found, facts };
  const compared = compareCosts(rewriter, { ...call, sent, usage, reportsCache, costPicoUsd });
  return repairs.length === 0 ? compared : { ...compared, repairs };
}

/** Nothing if the provider was not asked. */
function heard(
  prepared: Prepared | null,
  { diagnosis, reported }: SeenReply,
  explanation: Explanation | null,
): Pick<ObservedCall, "diagnosis"> {
  if (prepared?.sent.comparesWith === undefined || reported === null) return {};
  const { cause = "no miss", lostTokens = 0 } = explanation ?? {};
  const missed = cause === "no miss" || lostTokens === 0 ? null : cause;
  return {
    diagnosis: compareDiagnosis({ says: diagnosis ?? null, cause: missed, hasOwnEnd: false }),
  };
}

const continuesNote = "it goes on from a history that only the provider has: nothing to compare";

function lineAfter(
  { branch }: Found,
  { document }: EndedCall,
  { judged: { view, remembered, answered }, seen: { servedBy, replyId }, model }: Answered,
): Branch {
  const { request } = document;
  // A request that continues the provider's own copy says nothing about the next whole one.
  if (request.continues && branch !== null) return branch;
  return { model, blocks: request.blocks, remembered, answered, view, document, servedBy, replyId };
}

interface Answered extends Pick<Branch, "model"> {
  readonly seen: SeenReply;
  readonly judged: ReturnType<typeof judgeCall>;
}

function nameOf(
  conversation: Conversation,
  { client }: CallMarks,
  conversations: Conversations,
  blocks: readonly ForeignBlock[],
): ConversationName {
  return {
    id: conversation.id,
    parentId: conversation.parentId,
    kind: kindOf(conversation, conversations, blocks),
    client,
    clientSession: conversation.session,
    callNumber: conversation.calls,
  };
}

function kindOf(
  conversation: Conversation,
  conversations: Conversations,
  blocks: readonly ForeignBlock[],
): ConversationName["kind"] {
  const { role, agent, hasTools, isContinued, parentId } = conversation;
  if (role === "summary") return "summary";
  if (agent !== null) return "sub-agent";
  if (hasTools) return parentId === null ? "conversation" : "sub-agent";
  if (isContinued || blocks.some((block) => block.role === "assistant")) return "conversation";
  const hasMain = conversations.siblingsOf(conversation).some((each) => each.hasTools);
  if (hasMain || namesATitle(blocks)) return "title";
  return blocks.length === 1 ? "single" : "conversation";
}

/** A system text that only asks for a title of the conversation. */
function namesATitle(blocks: readonly ForeignBlock[]): boolean {
  const opening = openingOf(blocks);
  const system = blocks.slice(0, opening === -1 ? blocks.length : opening);
  const tokens = system.reduce((sum, block) => sum + block.tokens, 0);
  return tokens < titleTokensMax && system.some(({ text }) => /\btitles?\b/i.test(text));
}

const titleTokensMax = 2000;

function toObserved({
  hash,
  tier,
  kind,
  role,
  section,
  tokens,
}: ForeignBlock): ObservedCall["addedBlocks"][number] {
  return { hash, tier, kind, role, section, tokens };
}

/** Everything after the first message belongs to the messages. */
function tiersOf(blocks: readonly ForeignBlock[]): TierSizes {
  const opening = openingOf(blocks);
  const head = opening === -1 ? blocks : blocks.slice(0, opening);
  const tokensOf = (tier: ForeignBlock["tier"]): number =>
    head.reduce((sum, block) => sum + (block.tier === tier ? block.tokens : 0), 0);
  const inHead = head.at(-1)?.endTokens ?? 0;
  const sizes: TierSizes = [
    ["T0", tokensOf("T0")],
    ["T1", tokensOf("T1")],
    ["T3", (blocks.at(-1)?.endTokens ?? 0) - inHead],
  ];
  return sizes.filter(([, tokens]) => tokens > 0);
}
