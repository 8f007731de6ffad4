// The memory of conversations: bounded in number, bytes and time; what is forgotten is counted.
import { openingOf, weightOf, withoutTexts, type Conversation } from "./conversation.ts";
import { createTenants } from "./tenants.ts";

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
  withId(id: string): Conversation | null;
  /** Those with a line whose opening has this key; the latest first, like all of the following. */
  withOpening(tenant: string, key: string): readonly Conversation[];
  inSession(tenant: string, session: string): readonly Conversation[];
  /** One of its bodies begins with these bytes. */
  withPrint(tenant: string, print: string): readonly Conversation[];
  latestOf(tenant: string): readonly Conversation[];
  readonly forgotten: Forgotten;
  readonly size: { readonly conversations: number; readonly bytes: number };
}

export function openConversationMemory(limits: ConversationLimits): ConversationMemory {
  // A map keeps the order of insertion: the first one was unused for longest.
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
    // Blocks without bodies are left.
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

/** What it is found by. A dropped body leaves its prints behind until the next one. */
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

/** More are not worth the comparing. */
const foundMax = 64;

/** Whether there was one. */
function dropBody(conversation: Conversation): boolean {
  if (conversation.branches.every(({ document }) => document === null)) return false;
  conversation.branches = conversation.branches.map(withoutTexts);
  conversation.lastBlocks = conversation.branches.at(-1)?.blocks ?? [];
  return true;
}
