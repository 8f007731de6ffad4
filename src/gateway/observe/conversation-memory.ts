// The memory of conversations: bounded in number, bytes and time; what is forgotten is counted.
import { weightOf, withoutTexts, type Conversation } from "./conversation.ts";

export interface ConversationLimits {
  readonly conversationsMax: number;
  /** Bodies, their texts and blocks, of all conversations together. */
  readonly memoryBytesMax: number;
  readonly idleMsMax: number;
}

export interface Forgotten {
  /** Conversations that were idle for too long, or one too many. */
  readonly conversations: number;
  /** Bodies that made room: the next call of their conversation is read whole. */
  readonly bodies: number;
}

export interface ConversationMemory {
  /** Takes a conversation in after a call, as the latest, and makes room for it. */
  keep(conversation: Conversation, nowMs: number): void;
  has(conversation: Conversation): boolean;
  /** The latest first. */
  membersOf(tenant: string): readonly Conversation[];
  readonly forgotten: Forgotten;
  readonly size: { readonly conversations: number; readonly bytes: number };
}

export function openConversationMemory(limits: ConversationLimits): ConversationMemory {
  // Maps keep the order of insertion: the first one was unused for longest.
  const all = new Map<string, Conversation>();
  const byTenant = new Map<string, Map<string, Conversation>>();
  const weights = new Map<Conversation, number>();
  const counts = { conversations: 0, bodies: 0 };
  let bytes = 0;

  const weigh = (conversation: Conversation): void => {
    const weight = weightOf(conversation);
    bytes += weight - (weights.get(conversation) ?? 0);
    weights.set(conversation, weight);
  };
  const forget = (conversation: Conversation): void => {
    const { id, tenant } = conversation;
    all.delete(id);
    byTenant.get(tenant)?.delete(id);
    if (byTenant.get(tenant)?.size === 0) byTenant.delete(tenant);
    bytes -= weights.get(conversation) ?? 0;
    weights.delete(conversation);
    counts.conversations += 1;
  };
  const dropBodies = (): void => {
    for (const oldest of all.values()) {
      if (bytes <= limits.memoryBytesMax) return;
      if (!dropBody(oldest)) continue;
      counts.bodies += 1;
      weigh(oldest);
    }
    // Blocks without bodies are left.
    for (const oldest of all.values()) {
      if (bytes <= limits.memoryBytesMax || all.size === 1) return;
      forget(oldest);
    }
  };
  return {
    keep: (conversation, nowMs) => {
      conversation.touchedMs = nowMs;
      const tenant = byTenant.get(conversation.tenant) ?? new Map<string, Conversation>();
      byTenant.set(conversation.tenant, tenant);
      for (const map of [all, tenant]) {
        map.delete(conversation.id);
        map.set(conversation.id, conversation);
      }
      weigh(conversation);
      for (const oldest of all.values()) {
        const isIdle = nowMs - oldest.touchedMs > limits.idleMsMax;
        if (oldest === conversation || (!isIdle && all.size <= limits.conversationsMax)) break;
        forget(oldest);
      }
      dropBodies();
    },
    has: ({ id }) => all.has(id),
    membersOf: (tenant) => [...(byTenant.get(tenant)?.values() ?? [])].toReversed(),
    get forgotten() {
      return { ...counts };
    },
    get size() {
      return { conversations: all.size, bytes };
    },
  };
}

/** Whether there was one. */
function dropBody(conversation: Conversation): boolean {
  if (conversation.branches.every(({ document }) => document === null)) return false;
  conversation.branches = conversation.branches.map(withoutTexts);
  conversation.lastBlocks = conversation.branches.at(-1)?.blocks ?? [];
  return true;
}
