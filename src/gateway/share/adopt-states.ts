// Adds states of other gateways to the conversations of this one, so that both observing and optimising go on from them.
import type { ConversationState } from "../../core/ledger/conversation-state.ts";
import type { ConversationPrompt } from "../../core/ledger/gateway-call.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
import type { ForeignBlock } from "../../core/wire/foreign/foreign-request.ts";
import type { CallRewriter } from "../observe/call-rewriter.ts";
import type { CallToSeek } from "./conversation-share.ts";
import type { Branch, Conversation } from "../observe/conversation.ts";
import { branchesMax, type Conversations } from "../observe/conversations.ts";
import { unpackAccounts } from "./pack-entries.ts";
import { findBlocks, fromRecorded, readLine } from "./read-line.ts";
import { readStateForm, type StateForm } from "./state-form.ts";

export interface Adopting {
  readonly conversations: Conversations;
  readonly rewriter: CallRewriter | null;
  readonly factsOf: (model: string, upstream: string) => ModelFacts | null;
  /** What a call sent, from the ledger. Null if it is not there. */
  readonly readPrompt: (
    conversationId: string,
    callId: string,
  ) => Promise<ConversationPrompt | null>;
}

interface FoundState {
  readonly state: ConversationState;
  readonly form: StateForm;
}

/** `states`: the latest first. Returns how many conversations are known better now. */
export async function adoptStates(
  states: readonly ConversationState[],
  call: CallToSeek,
  adopting: Adopting,
): Promise<number> {
  const found = states.flatMap((state): readonly FoundState[] => {
    const form = readStateForm(state.stateJson);
    return form === null ? [] : [{ state, form }];
  });
  const byConversation = Map.groupBy(found, ({ state }) => state.conversationId);
  let adopted = 0;
  // The latest last, as if they had been seen here.
  for (const group of [...byConversation.values()].toReversed()) {
    if (await adopt(group, call, adopting)) adopted += 1;
  }
  return adopted;
}

async function adopt(
  group: readonly FoundState[],
  call: CallToSeek,
  adopting: Adopting,
): Promise<boolean> {
  const { conversations, rewriter } = adopting;
  const [latest] = group;
  if (latest === undefined) return false;
  const { state, form } = latest;
  if (hasHeadOnly(state, call)) {
    const { conversationId, endedMs } = state;
    const { tenant, request } = call;
    rewriter?.joinHead(form.marks, { tenant, conversationId, blocks: request.blocks, endedMs });
    return false;
  }
  if (!isLater(state, conversations.withId(state.conversationId))) return false;
  const lines = await readLines(group, call, adopting);
  // A call of it may have ended here while the ledger was asked.
  const known = conversations.withId(state.conversationId);
  if (!isLater(state, known)) return false;
  const conversation = known ?? begin(latest);
  const unseen = lines.filter(({ found }) => isLater(found.state, known));
  conversation.branches = unseen.reduce(withLine, conversation.branches);
  conversation.calls = Math.max(conversation.calls, state.callNumber);
  conversation.isContinued ||= form.isContinued;
  conversation.summarisedMs = form.summarisedMs;
  const line = lines.at(-1)?.line;
  if (line !== undefined) {
    conversation.lastBlocks = line.blocks;
    const keyAt = (block: number): string | undefined => line.view?.blocks[block]?.key;
    conversation.accounts = unpackAccounts(form.accounts, keyAt, form.fromMs);
    rewriter?.restore(conversation, form.marks, line.blocks);
  }
  conversations.adopt(conversation, state.endedMs);
  if (state.replyId !== null) conversations.nameReply(conversation, state.replyId);
  noteSummary(conversation, state.endedMs, conversations);
  return true;
}

/** It was found because it begins with the same tools and system text, and has nothing else in common. */
function hasHeadOnly(
  { openingKey, thread }: ConversationState,
  { marks, request }: CallToSeek,
): boolean {
  const isNamed =
    thread !== null && marks.session !== null && thread.startsWith(`${marks.session}\n`);
  const isParent =
    thread !== null &&
    marks.parentSession !== null &&
    thread.startsWith(`${marks.parentSession}\n`);
  const begins = request.blocks.some(({ key }) => key === openingKey);
  return !isNamed && !isParent && !begins && marks.continues === null;
}

/** The call that ended later says what comes next. Of calls that ended in one millisecond, the one with the higher number. */
function isLater({ endedMs, callNumber }: ConversationState, known: Conversation | null): boolean {
  if (known === null) return true;
  const { touchedMs, calls } = known;
  return endedMs > touchedMs || (endedMs === touchedMs && callNumber > calls);
}

function begin({ state, form }: FoundState): Conversation {
  const { session, agent, parentId, role, hasTools, isContinued, summarisedMs, accounts } = form;
  return {
    id: state.conversationId,
    tenant: state.tenant,
    session,
    agent,
    parentId,
    role,
    hasTools,
    isContinued,
    summarisedMs,
    calls: state.callNumber,
    lastBlocks: [],
    branches: [],
    accounts: { ...accounts, tails: [] },
    touchedMs: 0,
  };
}

interface FoundLine {
  readonly found: FoundState;
  readonly line: Branch;
}

/** The oldest first. One whose blocks cannot be found is left out. */
async function readLines(
  group: readonly FoundState[],
  call: CallToSeek,
  adopting: Adopting,
): Promise<readonly FoundLine[]> {
  const { conversations, factsOf } = adopting;
  const lines: FoundLine[] = [];
  for (const [index, found] of group.entries()) {
    const { state, form } = found;
    const known = conversations.withId(state.conversationId)?.branches ?? [];
    const all = [...known, ...lines.map(({ line }) => line)];
    const lists = [call.request.blocks, ...all.map(({ blocks }) => blocks)];
    // Earlier lines are of use only if they cost nothing.
    const blocks =
      findBlocks(form.line.blocks, lists) ??
      (index === 0 ? await readBlocks(found, adopting) : null);
    if (blocks === null) continue;
    const line = readLine({
      form: form.line,
      blocks,
      facts: factsOf(form.line.frame.model, call.upstream),
      fromMs: form.fromMs,
      before: known.at(-1) ?? null,
      settings: call.request.settings,
    });
    lines.unshift({ found, line });
  }
  return lines;
}

/** From the calls that were recorded. */
async function readBlocks(
  { state, form }: FoundState,
  { readPrompt }: Adopting,
): Promise<readonly ForeignBlock[] | null> {
  const prompt = await readPrompt(state.conversationId, form.callId);
  if (prompt === null || prompt.unknownCount > 0) return null;
  const recorded = fromRecorded(prompt.blocks);
  return findBlocks(form.line.blocks, [recorded]);
}

/** As if the call had been seen here. */
function withLine(branches: readonly Branch[], { found, line }: FoundLine): readonly Branch[] {
  const { replaces } = found.form;
  const others = branches.filter(({ blocks }) => blocks.at(-1)?.key !== replaces);
  return [...others, line].slice(-branchesMax);
}

/** A summary was asked for at another gateway: the conversation may go on without its history. */
function noteSummary(
  { role, parentId }: Conversation,
  endedMs: number,
  conversations: Conversations,
): void {
  const parent = role === "summary" && parentId !== null ? conversations.withId(parentId) : null;
  if (parent !== null && parent.touchedMs <= endedMs) parent.summarisedMs ??= endedMs;
}
