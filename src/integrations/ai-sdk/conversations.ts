// The conversations of one wrapped model. The SDK sends a whole prompt each time, so each call is first
// matched with a known conversation; a changed or unknown history begins a new session.
import { randomUUID } from "node:crypto";
import { buildFoundation, type Foundation } from "../../core/assembly/foundation.ts";
import { appendMessages, openThread } from "../../core/assembly/thread.ts";
import type { Policy } from "../../core/cache/policy.ts";
import type { Ledger } from "../../core/ledger/ledger.ts";
import type { Message } from "../../core/message/message.ts";
import type { TextCounter } from "../../core/tokens/o200k/counter.ts";
import { createTokenCounter } from "../../core/tokens/token-counter.ts";
import type { CallOptions } from "../../core/wire/protocol.ts";
import { openSession } from "../../engine/session/open-session.ts";
import type { Session } from "../../core/session/session.ts";
import { continueEvents, emitResumed } from "../../engine/events/session-events.ts";
import type { Emitter } from "../../engine/events/turn-emitter.ts";
import { resumeSession } from "../../engine/session/stored-session.ts";
import { sessionOf, type Conversation } from "./conversation.ts";
import { findNearest, isAfter } from "./match-conversation.ts";
import type { NamedSdkModel } from "./reach-model.ts";
import type { ReadPrompt } from "./read-prompt.ts";

export interface ConversationOptions {
  readonly policy: Policy;
  readonly counter: TextCounter;
  readonly ledger?: Ledger;
  readonly sessionId?: string;
  readonly agent?: string;
  /** Ends the open turn of a conversation that is given up. */
  readonly end: (conversation: Conversation) => Promise<void>;
  readonly events?: Emitter;
}

export interface FoundConversation {
  readonly conversation: Conversation;
  /** The new messages of its next call. */
  readonly current: readonly Message[];
}

export interface Conversations {
  find(
    prompt: ReadPrompt,
    reached: NamedSdkModel,
    options: CallOptions,
  ): Promise<FoundConversation>;
  drop(conversation: Conversation): void;
  all(): readonly Conversation[];
}

/** The most recently used ones are kept, and all that are busy. The prompt of an older one brings its history again. */
const conversationsMax = 64;

export function createConversations(setup: ConversationOptions): Conversations {
  let open: readonly Conversation[] = [];
  let begunCount = 0;
  const keep = async (conversation: Conversation): Promise<void> => {
    const others = open.filter((each) => each !== conversation);
    const idle = others.filter(({ isBusy }) => !isBusy);
    const tooMany = new Set(idle.slice(0, Math.max(0, others.length + 1 - conversationsMax)));
    open = [...others.filter((each) => !tooMany.has(each)), conversation];
    for (const each of tooMany) await setup.end(each);
  };
  return {
    all: () => open,
    drop: (conversation) => {
      open = open.filter((each) => each !== conversation);
    },
    find: async (prompt, reached, options) => {
      const foundation = layFor(prompt, reached, setup);
      const messages = prompt.messages.map(({ message }) => message);
      const known = open.findLast(
        (each) => !each.isBusy && isAfter(each, messages, foundation, reached.facts),
      );
      if (known !== undefined) {
        known.isBusy = true;
        await keep(known);
        return { conversation: known, current: messages.slice(knownCount(known)) };
      }
      begunCount += 1;
      const place = { foundation, messages, reached, options, number: begunCount };
      const session = (await resumeKnown(place, setup)) ?? (await openNew(place, setup, open));
      const begun = { session, turn: null, isBusy: true };
      await keep(begun);
      return { conversation: begun, current: messages.slice(knownCount(begun)) };
    },
  };
}

function layFor(
  { tools, system }: ReadPrompt,
  { facts: model, protocol }: NamedSdkModel,
  { counter }: ConversationOptions,
): Foundation {
  return buildFoundation({
    tools,
    system,
    spelling: protocol.spelling(model),
    counter: createTokenCounter(counter, model.tokenizer),
    model,
  });
}

function knownCount(conversation: Conversation): number {
  return sessionOf(conversation).thread.messages.length;
}

interface Beginning {
  readonly foundation: Foundation;
  readonly messages: readonly Message[];
  readonly reached: NamedSdkModel;
  readonly options: CallOptions;
  readonly number: number;
}

/** Resumes the named session from the ledger if the prompt continues it. */
async function resumeKnown(
  { foundation, messages, reached, options }: Beginning,
  { ledger, sessionId, policy, counter, events }: ConversationOptions,
): Promise<Session | null> {
  if (ledger === undefined || sessionId === undefined) return null;
  const { facts: model, protocol } = reached;
  const record = await ledger.findSession(sessionId);
  const isOurs = record?.model === model.id && record.provider === model.provider;
  if (record === null || !isOurs || record.openTurnId !== null) return null;
  const setup = { model, protocol, policy, counter, options };
  const session = await resumeSession(ledger, sessionId, setup);
  const known: Conversation = { session, turn: null, isBusy: false };
  if (!isAfter(known, messages, foundation, model)) return null;
  const last = await continueEvents({ ledger, ...(events && { events }) }, sessionId);
  emitResumed(events, session, last);
  return session;
}

async function openNew(
  { foundation, messages, reached, options, number }: Beginning,
  setup: ConversationOptions,
  others: readonly Conversation[],
): Promise<Session> {
  const { facts: model, protocol } = reached;
  const { policy, counter, agent } = setup;
  const nearest = findNearest(others, messages);
  const before = nearest === null ? null : sessionOf(nearest);
  const isSameModel = before?.model.id === model.id;
  const earlier = isSameModel
    ? before
    : others.map(sessionOf).findLast((session) => session.model === model);
  const session = openSession({
    id: await freeId(setup, number),
    model,
    protocol,
    policy: plainly(policy),
    context: { role: "unified" },
    counter,
    options,
    ...(agent === undefined ? {} : { agent }),
    ...(earlier === undefined ? {} : { learned: learnedOf(earlier) }),
  });
  const seen = messages.findLastIndex(({ role }) => role === "assistant") + 1;
  const thread = appendMessages(openThread(foundation), messages.slice(0, seen));
  // What the conversation sent in its former shape is what this one could have read.
  return { ...session, policy, thread, lastCall: before?.lastCall ?? null };
}

function learnedOf({ cache }: Session): Pick<Session["cache"], "entries" | "evidence"> {
  return { entries: cache.entries, evidence: cache.evidence };
}

/** The application writes its own system text: nothing goes before it, and its tools keep their order. */
function plainly(policy: Policy): Policy {
  return { ...policy, layout: { ...policy.layout, padding: "off", toolOrder: "given" } };
}

async function freeId({ ledger, sessionId }: ConversationOptions, number: number): Promise<string> {
  if (sessionId === undefined) return randomUUID();
  for (let next = number; ; next += 1) {
    const id = next === 1 ? sessionId : `${sessionId}/${next}`;
    if (ledger === undefined || (await ledger.findSession(id)) === null) return id;
  }
}
