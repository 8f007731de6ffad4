// The conversations under way, found again by the beginning of each call.
import type { Branch, CallToPlace, Conversation } from "./conversation.ts";
import {
  openConversationMemory,
  type ConversationLimits,
  type ConversationMemory,
} from "./conversation-memory.ts";
import type { CallMarks } from "./client-marks.ts";
import { findConversation, type Found } from "./find-conversation.ts";
import type { ReadDocument } from "./read-body.ts";

export interface Conversations extends Pick<
  ConversationMemory,
  "forgotten" | "size" | "withId" | "withOpening" | "inSession"
> {
  /** Finds the conversation of a call, or begins one with the given id. */
  place(call: CallToPlace, id?: string): Found;
  /** After a call: its line goes on, or another one begins. */
  settle(found: Found, branch: Branch, nowMs: number): void;
  /** Remembers which conversation a reply belongs to, because the next request may only name the reply. */
  nameReply(conversation: Conversation, replyId: string): void;
  /** Adds what another gateway knows of a conversation, or knew before a restart. */
  adopt(conversation: Conversation, touchedMs: number): void;
  ofReply(tenant: string, replyId: string): Conversation | null;
  /** The latest bodies of a tenant that may have the same beginning as a new one, most likely first. */
  documentsOf(
    tenant: string,
    marks: Pick<CallMarks, "session" | "agent">,
    prints: readonly string[],
  ): readonly ReadDocument[];
  /** Others of the same client session. */
  siblingsOf(conversation: Conversation): readonly Conversation[];
}

/** More lines of one conversation replace its oldest. */
export const branchesMax = 4;
/** Comparing more candidates is not worth the time. */
const documentsMax = 12;
const replyNamesMax = 20_000;

export function openConversations(limits: ConversationLimits, newId: () => string): Conversations {
  const memory = openConversationMemory(limits);
  // Ids only, so that a forgotten conversation is not kept alive here.
  const byReply = new Map<string, string>();
  const ofReply = (tenant: string, replyId: string): Conversation | null => {
    const id = byReply.get(`${tenant}\n${replyId}`);
    return id === undefined ? null : memory.withId(id);
  };
  return {
    withId: (id) => memory.withId(id),
    withOpening: (tenant, key) => memory.withOpening(tenant, key),
    inSession: (tenant, session) => memory.inSession(tenant, session),
    ofReply,
    adopt: (conversation, touchedMs) => memory.keep(conversation, touchedMs),
    place: (call, id) => {
      const { continues } = call.marks;
      const known = continues === null ? null : ofReply(call.tenant, continues);
      return findConversation(call, known, memory, id === undefined ? newId : () => id);
    },
    settle: ({ conversation, branch: before, goesOn }, branch, nowMs) => {
      const others = conversation.branches.filter((each) => !(goesOn && each === before));
      conversation.branches = [...others, branch].slice(-branchesMax);
      conversation.lastBlocks = branch.blocks;
      conversation.summarisedMs = null;
      conversation.calls += 1;
      conversation.isContinued ||= before !== null;
      memory.keep(conversation, nowMs);
    },
    nameReply: (conversation, replyId) => {
      byReply.set(`${conversation.tenant}\n${replyId}`, conversation.id);
      for (const oldest of byReply.keys()) {
        if (byReply.size <= replyNamesMax) break;
        byReply.delete(oldest);
      }
    },
    documentsOf: (tenant, { session, agent }, prints) => {
      const named = session === null ? [] : memory.inSession(tenant, session);
      const own = named.filter((each) => each.agent === agent);
      if (own.length > 0) return documentsIn(own);
      // The last checksum of a body covers its longest beginning.
      for (const print of prints.toReversed()) {
        const alike = memory.withPrint(tenant, print);
        if (alike.length > 0) return documentsIn(alike);
      }
      return documentsIn(memory.latestOf(tenant));
    },
    siblingsOf: ({ id, tenant, session }) =>
      session === null ? [] : memory.inSession(tenant, session).filter((each) => each.id !== id),
    get forgotten() {
      return memory.forgotten;
    },
    get size() {
      return memory.size;
    },
  };
}

function documentsIn(conversations: readonly Conversation[]): readonly ReadDocument[] {
  const found: ReadDocument[] = [];
  for (const { branches } of conversations) {
    for (const { document } of branches.toReversed()) if (document !== null) found.push(document);
    if (found.length >= documentsMax) break;
  }
  return found;
}
