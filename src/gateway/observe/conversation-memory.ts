// Remembers conversations, up to a limit in number, bytes and time. Those that are forgotten are counted.
import { openingOf, weightOf, withoutTexts, type Conversation } from "./conversation.ts";
import { createTenants } from "./tenants.ts";

export interface ConversationLimits {
  readonly conversationsMax: number;
  /** Bodies, their texts and blocks, of all conversations together. */
  readonly memoryBytesMax: number;
  readonly idleMsMax: number;
}

export interface Forgotten {
  /** Conversations that were forgotten: idle for too long, or above the limit. */
  readonly conversations: number;
  /** Bodies that were dropped to make room: the next call of their conversation is parsed whole. */
  readonly bodies: number;
}

export interface ConversationMemory {
  /** Stores a conversation after a call, as the latest one, and makes room for it. */
  keep(conversation: Conversation, nowMs: number): void;
  withId(id: string): Conversation | null;
  /** Conversations with a line whose first blocks have this key; the latest first, as below. */
  withOpening(tenant: string, key: string): readonly Conversation[];
  inSession(tenant: string, session: string): readonly Conversation[];
  /** One of its bodies begins with these bytes. */
  withPrint(tenant: string, print: string): readonly Conversation[];
  latestOf(tenant: string): readonly Conversation[];
  readonly forgotten: Forgotten;
  readonly size: { readonly conversations: number; readonly bytes: number };
}

export function openConversationMemory(limits: ConversationLimits): ConversationMemory {
  // A Map keeps the order of insertion, so the first one was unused for longest.
  const all = new Map<string, Conversation>();
  const tenants = createTenants<Conversation>();
  const weights = new Map<Conversation, number>();
  const counts = { conversations: 0, bodies: 0 };
  let bytes = 0;

  const weigh = (conversation: Conversation): void => {
    const weight = weightOf(conversation);
    bytes += weight - (weights.get(conversation) ?? 0);
    weights.set(conversation, weight);
  };
  const forget = (conversation: Conversation): void => {
    all.delete(conversation.id);
    tenants.remove(conversation.tenant, conversation);
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
    // Only blocks are left, without the body.
    for (const oldest of all.values()) {
      if (bytes <= limits.memoryBytesMax || all.size === 1) return;
      forget(oldest);
    }
  };
  return {
    keep: (conversation, nowMs) => {
      conversation.touchedMs = nowMs;
      all.delete(conversation.id);
      all.set(conversation.id, conversation);
      weigh(conversation);
      tenants.put(conversation.tenant, conversation, signsOf(conversation));
      for (const oldest of all.values()) {
        const isIdle = nowMs - oldest.touchedMs > limits.idleMsMax;
        if (oldest === conversation || (!isIdle && all.size <= limits.conversationsMax)) break;
        forget(oldest);
      }
      dropBodies();
    },
    withId: (id) => all.get(id) ?? null,
    withOpening: (tenant, key) => latestFirst(tenants.with(tenant, key)),
    inSession: (tenant, session) => latestFirst(tenants.with(tenant, `session ${session}`)),
    withPrint: (tenant, print) => latestFirst(tenants.with(tenant, print)),
    latestOf: (tenant) => tenants.latestOf(tenant),
    get forgotten() {
      return { ...counts };
    },
    get size() {
      return { conversations: all.size, bytes };
    },
  };
}

/** The checksums it is found by. Those of a dropped body stay until the next body. */
function signsOf({ session, branches }: Conversation): readonly string[] {
  const signs = session === null ? [] : [`session ${session}`];
  for (const { blocks, document } of branches) {
    const key = blocks[openingOf(blocks)]?.key;
    if (key !== undefined && !signs.includes(key)) signs.push(key);
    for (const print of document?.prints ?? []) if (!signs.includes(print)) signs.push(print);
  }
  return signs;
}

function latestFirst(found: readonly Conversation[]): readonly Conversation[] {
  return found.length < 2
    ? found
    : found.toSorted((left, right) => right.touchedMs - left.touchedMs).slice(0, foundMax);
}

/** Comparing more of them is not worth the time. */
const foundMax = 64;

/** Whether there was one. */
function dropBody(conversation: Conversation): boolean {
  if (conversation.branches.every(({ document }) => document === null)) return false;
  conversation.branches = conversation.branches.map(withoutTexts);
  conversation.lastBlocks = conversation.branches.at(-1)?.blocks ?? [];
  return true;
}
