// Observes one exchange: reads the request when it is whole and the answer as it passes, and gives the verdict at the end.
import type { TierSizes } from "../../core/cache/tier-usage.ts";
import type { Catalogue } from "../../core/models/catalogue.ts";
import type { Explanation } from "../../core/diagnosis/explanation.ts";
import { compareDiagnosis } from "../../core/diagnosis/provider-diagnosis.ts";
import type { ForeignBlock } from "../../core/wire/foreign/foreign-request.ts";
import type { Protocol } from "../../core/wire/protocol.ts";
import type { ExchangeEnd, ExchangeStart, Observation, Rewritten } from "../exchange.ts";
import type { CallSink, ConversationName, ObservedCall } from "../observed-call.ts";
import type { CallRewriter } from "./call-rewriter.ts";
import { addNames, readMarks, type CallMarks } from "./client-marks.ts";
import type { ConversationShare, Seeking, Turns } from "../share/conversation-share.ts";
import { openingOf, type Branch, type Conversation } from "./conversation.ts";
import type { ConversationLimits } from "./conversation-memory.ts";
import type { Conversations } from "./conversations.ts";
import { sharedKeys, type Found } from "./find-conversation.ts";
import { judgeCall } from "./judge-call.ts";
import { StrataError } from "../../core/strata-error.ts";
import { BodyBytes } from "./body-bytes.ts";
import { decodeWhole, isCoded } from "./decode-content.ts";
import { likest, readBody, type ReadDocument } from "./read-body.ts";
import { openRepeatedBytes } from "./repeated-bytes.ts";
import {
  asSent,
  compareCosts,
  factsOf,
  prepareCall,
  type CallToPrepare,
  type Prepared,
} from "./rewriting.ts";
import {
  openReplyReader,
  seenNothing,
  type ReplyLimits,
  type ReplyReader,
  type SeenReply,
} from "./read-reply.ts";

export interface ObserveLimits extends ConversationLimits, ReplyLimits {
  /** A request that is longer after decompression is not read. */
  readonly bodyBytesMax: number;
}

/** What all exchanges share. */
export interface Watched {
  readonly sink: CallSink;
  readonly nowMs: () => number;
  readonly catalogue: Catalogue;
  readonly conversations: Conversations;
  readonly limits: ObserveLimits;
  /** Whether an upstream is the own API of the protocol's vendor. */
  readonly isVendor: (upstream: string, protocol: Protocol) => boolean;
  readonly counts: ObserveCounts;
  /** A fault after the end of an exchange, while decompressing its answer. */
  readonly onFault: (error: unknown) => void;
  /** Null if calls are only observed. */
  readonly rewriter: CallRewriter | null;
  /** Null if only this process knows its conversations. */
  readonly share: ConversationShare | null;
  /** Calls of an account are settled in the order in which they ended. */
  readonly turns: Turns;
}

export interface ObserveCounts {
  /** Bodies of model calls that could not be read. */
  unreadBodies: number;
  /** Calls that were lost after their end by a fault of the observer itself. */
  faults: number;
}

/** `rows`: the protocols that are spoken at this address. */
export function observe(
  start: ExchangeStart,
  rows: readonly Protocol[],
  shared: Watched,
): Observation {
  const tenant = `${start.upstream}\n${start.account}`;
  const marks = readMarks(start.headers);
  let document: ReadDocument | null = null;
  let isRead = false;
  let prepared: Prepared | null = null;
  let seeking: Seeking | null = null;
  let isSent = false;
  let reply: ReplyReader | null = null;
  let responseBytes = 0;
  let known: readonly ReadDocument[] | null = null;
  const { rewriter } = shared;
  const read = (pieces: readonly Uint8Array[]): ReadDocument | null => {
    isRead = true;
    document = readRequestBody(pieces, { start, tenant, marks, rows, known }, shared);
    return document;
  };
  const findEarlier = (begun: BodyBytes): BodyBytes | null => {
    known = shared.conversations.documentsOf(tenant, marks, begun.prints());
    return likest(begun, known.map(originalOf))?.grown?.scanned.bytes ?? null;
  };
  const rewrite = (pieces: readonly Uint8Array[]): Rewritten | Promise<Rewritten> => {
    const asked = read(pieces);
    if (asked === null || rewriter === null) return null;
    const call = { start, marks: addNames(marks, asked.names), document: asked };
    const readAgain = (other: readonly Uint8Array[]): ReadDocument | null =>
      readRequestBody(other, { start, tenant, marks, rows, known, of: asked }, shared);
    const repaired = rewriter.repair({ ...call, read: readAgain });
    seeking = seek({ ...call, tenant, document: repaired?.document ?? asked }, shared);
    const prepare = (): Rewritten | Promise<Rewritten> => {
      // The client's own bytes are on their way already.
      if (isSent) return null;
      const isUnsure = seeking?.isUnsure() ?? false;
      prepared = prepareCall({ ...call, tenant, repaired, isUnsure }, rewriter, shared);
      document = prepared.document;
      const { pieces: other, sent } = prepared;
      const mayGo = sent.turn?.mayGo ?? null;
      return mayGo === null ? other : mayGo.then(() => other ?? pieces);
    };
    return seeking === null ? prepare() : seeking.done.then(prepare);
  };
  return {
    ...(isCoded(start.headers["content-encoding"]) ? {} : { keep: openRepeatedBytes(findEarlier) }),
    ...(rewriter?.wants(start, marks) === true ? { rewrite, waitMsMax: rewriter.waitMsMax } : {}),
    requestBody: (pieces) => {
      isSent = true;
      const asked = pieces !== null && !isRead ? read(pieces) : null;
      if (asked !== null) {
        const named = addNames(marks, asked.names);
        seeking = seek({ start, marks: named, tenant, document: asked }, shared);
      } else if (prepared === null) seeking?.noteLate();
      if (prepared === null) return;
      prepared = asSent(prepared, pieces);
      document = prepared.document;
    },
    responseHead: (status, headers) => {
      prepared?.sent.turn?.begun();
      if (document === null) return;
      const { protocol } = document;
      const { limits, nowMs } = shared;
      reply = openReplyReader({ protocol, status, headers, nowMs, limits });
    },
    responseBytes: (bytes) => {
      responseBytes += bytes.byteLength;
      reply?.feed(bytes);
    },
    end: (end) => {
      prepared?.sent.turn?.begun();
      if (document === null) return;
      const named = addNames(marks, document.names);
      const call = { start, tenant, marks: named, document, end, responseBytes, prepared };
      const inTurn = (seen: SeenReply): void =>
        shared.turns.run(tenant, seeking?.done ?? null, () => settle(call, seen, shared));
      settleWith(end.how, reply, inTurn, shared);
    },
  };
}

/** As its client sent it. */
function originalOf(document: ReadDocument): ReadDocument {
  return document.original ?? document;
}

/** At once, or when the rest of a compressed answer is unpacked. */
function settleWith(
  how: ExchangeEnd["how"],
  reply: ReplyReader | null,
  settleIt: (seen: SeenReply) => void,
  { onFault }: Watched,
): void {
  if (reply === null) return settleIt(seenNothing(how));
  let isLate = false;
  reply.end(how, (seen) => {
    if (!isLate) return settleIt(seen);
    try {
      settleIt(seen);
    } catch (error) {
      onFault(error);
    }
  });
  isLate = true;
}

interface Sent {
  readonly start: ExchangeStart;
  readonly tenant: string;
  readonly marks: CallMarks;
  readonly rows: readonly Protocol[];
  /** Earlier bodies that may begin alike; null if they were not looked for. */
  readonly known: readonly ReadDocument[] | null;
  /** The client's own body, if the bytes are made of it. */
  readonly of?: ReadDocument;
}

/** `marks`: with the names in the body. */
function seek(
  { start, tenant, marks, document }: Omit<CallToPrepare, "repaired" | "isUnsure">,
  { share, conversations }: Watched,
): Seeking | null {
  const { upstream } = start;
  return share?.seek({ tenant, upstream, marks, request: document.request }, conversations) ?? null;
}

/** Null for a body that is no model call or cannot be read: the upstream will say what is wrong with it. */
function readRequestBody(
  pieces: readonly Uint8Array[],
  { start, tenant, marks, rows, known: earlier, of }: Sent,
  { conversations, limits, counts, isVendor }: Watched,
): ReadDocument | null {
  const encoding = start.headers["content-encoding"];
  const whole = isCoded(encoding)
    ? decodeWhole(encoding, Buffer.concat(pieces), limits.bodyBytesMax)
    : null;
  if (isCoded(encoding) && whole === null) {
    counts.unreadBodies += 1;
    return null;
  }
  const bytes = new BodyBytes(whole === null ? pieces : [whole]);
  // A body is found by its client's own bytes.
  const prints = of?.prints ?? bytes.prints();
  const known = earlier ?? conversations.documentsOf(tenant, marks, prints);
  const before = of === undefined ? known.map(originalOf) : known;
  try {
    const found = readBody({
      bytes,
      prints,
      address: start,
      rows,
      before,
      isVendor: (protocol) => isVendor(start.upstream, protocol),
    });
    return found === null || of === undefined ? found : { ...found, original: of };
  } catch (error) {
    if (!(error instanceof StrataError)) throw error;
    counts.unreadBodies += 1;
    return null;
  }
}

interface EndedCall {
  readonly start: ExchangeStart;
  readonly tenant: string;
  readonly marks: CallMarks;
  readonly document: ReadDocument;
  readonly end: ExchangeEnd;
  readonly responseBytes: number;
  readonly prepared: Prepared | null;
}

function settle(call: EndedCall, seen: SeenReply, shared: Watched): void {
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
  const { usage, reportsCache, costPicoUsd, plainCostPicoUsd, explanation, otherPolicies } = judged;
  shared.sink.take({
    id: start.id,
    conversation: nameOf(conversation, marks, conversations, request.blocks),
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
  });
  const { replyId } = seen;
  const replaces = found.goesOn ? (branch?.blocks.at(-1)?.key ?? null) : null;
  const ended = { callId: start.id, replyId, endedMs: nowMs };
  shared.share?.keep({ ...ended, conversation, facts, keptBlocks, replaces });
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
