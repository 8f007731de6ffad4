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
import type { NamedSdkModel } from "./reach-model.ts";
import type { ReadPrompt } from "./read-prompt.ts";
import type { ListView } from "../../core/growing/growing-list.ts";
import { encodeMessage } from "../../core/message/encode-message.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";

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

/** Whether a prompt has the whole known history, followed by something that is not a reply. */
function isAfter(
  conversation: Conversation,
  messages: readonly Message[],
  { key }: Foundation,
  { id, route }: ModelFacts,
): boolean {
  const { thread, model } = sessionOf(conversation);
  if (model.id !== id || model.route !== route) return false;
  const count = thread.messages.length;
  if (thread.foundation.key !== key || messages.length <= count) return false;
  const current = messages.slice(count);
  if (current.some(({ role }) => role === "assistant")) return false;
  const again = toRepeat(conversation);
  if (again !== null && (again.length !== current.length || !beginsWith(current, again))) {
    return false;
  }
  return beginsWith(messages, thread.messages);
}

/**
 * The conversation that a prompt goes on with in another form: other tools, other system text, a rewritten history or
 * another model. Its last reply stands in the prompt, or else both begin with the same message. The latest one wins.
 * Null for a prompt without a reply: it begins a conversation. Reads the prompt once, and no known history.
 */
function findNearest(
  known: readonly Conversation[],
  messages: readonly Message[],
): Conversation | null {
  const replies = messages.filter(({ role }) => role === "assistant").map(gistOf);
  const [first] = messages;
  if (replies.length === 0 || first === undefined) return null;
  const said = new Set(replies);
  const called = known.filter((each) => sessionOf(each).lastCall !== null);
  const holder = called.findLast((each) => {
    const reply = lastReplyOf(each);
    return reply !== null && said.has(gistOf(reply));
  });
  const alike = (each: Conversation): boolean => {
    const begun = sessionOf(each).thread.messages.at(0);
    return begun !== undefined && isSame(begun, first);
  };
  return holder ?? called.findLast(alike) ?? null;
}

/** Null if its last call brought none. */
function lastReplyOf(conversation: Conversation): Message | null {
  const { messages } = sessionOf(conversation).thread;
  const last = messages.at(messages.length - 1);
  return last?.role === "assistant" ? last : null;
}

/** If its last call failed in the middle of a turn, the next call must repeat these messages; else null. */
function toRepeat({ turn }: Conversation): readonly Message[] | null {
  if (turn === null || turn.turn.calls.at(-1)?.status === "complete") return null;
  return turn.turn.current;
}

/** Compares from the end: conversations that begin alike differ there. */
function beginsWith(messages: readonly Message[], known: ListView<Message>): boolean {
  for (let index = known.length - 1; index >= 0; index -= 1) {
    const one = known.at(index);
    const other = messages[index];
    if (one === undefined || other === undefined || !isSame(one, other)) return false;
  }
  return true;
}

/** The SDK drops some fields of a reply, so only text and tool uses are compared. */
function isSame(one: Message, other: Message): boolean {
  if (one.role !== other.role) return false;
  if (one.role !== "assistant") return encodeMessage(one) === encodeMessage(other);
  return gistOf(one) === gistOf(other);
}

function gistOf({ content }: Message): string {
  const texts = content.flatMap((block) => (block.type === "text" ? [block.text] : []));
  const uses = content.flatMap((block) => (block.type === "tool_use" ? [block.id] : []));
  return JSON.stringify([texts.join(""), uses]);
}
