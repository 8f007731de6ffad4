// The conversations that are going on, found again by what their calls begin with.
import type { Branch, CallToPlace, Conversation } from "./conversation.ts";
import {
  openConversationMemory,
  type ConversationLimits,
  type ConversationMemory,
} from "./conversation-memory.ts";
import type { CallMarks } from "./client-marks.ts";
import { findConversation, type Found } from "./find-conversation.ts";
import type { ReadDocument } from "./read-body.ts";

export interface Conversations extends Pick<ConversationMemory, "forgotten" | "size"> {
  /** Finds or begins the conversation of a call; one that begins has the given id. */
  place(call: CallToPlace, id?: string): Found;
  /** After a call: its line goes on, or another one begins. */
  settle(found: Found, branch: Branch, nowMs: number): void;
  /** Remembers which conversation a reply belongs to: the next request may only name the reply. */
  nameReply(conversation: Conversation, replyId: string): void;
  /** The latest bodies of a tenant that a new one may begin like, most likely first. */
  documentsOf(
    tenant: string,
    marks: Pick<CallMarks, "session" | "agent">,
    prints: readonly string[],
  ): readonly ReadDocument[];
  /** Others of the same client session. */
  siblingsOf(conversation: Conversation): readonly Conversation[];
}

/** Further lines of one conversation push out the oldest. */
const branchesMax = 4;
/** More candidates are not worth the comparing. */
const documentsMax = 12;
const replyNamesMax = 20_000;

export function openConversations(limits: ConversationLimits, newId: () => string): Conversations {
  const memory = openConversationMemory(limits);
  // Ids, because what is forgotten must not be held here.
  const byReply = new Map<string, string>();
  return {
    place: (call, id) => {
      const { marks, tenant } = call;
      const named =
        marks.continues === null ? undefined : byReply.get(`${tenant}\n${marks.continues}`);
      const known = named === undefined ? null : memory.withId(named);
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
      // The last print of a body is that of its longest beginning.
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
