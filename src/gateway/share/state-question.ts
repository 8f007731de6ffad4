// What a call's prompt says of the call before it, and what is asked of the ledger if this gateway did not see that call.
import { foundationEnd } from "../../core/cache/expect-bill.ts";
import {
  conversationsMax,
  prefixKeysMax,
  type StateQuestion,
} from "../../core/ledger/conversation-state.ts";
import type { ForeignBlock } from "../../core/wire/foreign/foreign-request.ts";
import type { CallToSeek } from "./conversation-share.ts";
import { openingOf, type Conversation } from "../observe/conversation.ts";
import type { Conversations } from "../observe/conversations.ts";
import { threadOf } from "./write-state.ts";

/**
 * `known`: it goes on from the latest call that is known here of its conversation, and from none after that.
 * `behind`: it goes on from that call, or an earlier one, and from others after that.
 * `changed`: it goes on from none or from an earlier one, as after a step back.
 * `new`: nothing is known here.
 */
export interface Knowledge {
  readonly kind: "known" | "behind" | "changed" | "new";
  /** The conversation that it is behind, or that may have changed. */
  readonly of: Conversation | null;
}

export function knowledgeOf(call: CallToSeek, conversations: Conversations): Knowledge {
  const { marks, request, tenant } = call;
  if (marks.continues !== null) {
    return conversations.ofReply(tenant, marks.continues) === null ? unknown : known;
  }
  const { blocks } = request;
  const alike = aliveWith(call, conversations);
  const places = answeredPlaces(blocks);
  const before = places.at(-1);
  if (before === undefined) {
    const of = alike.find((each) => isNamedAlike(call, each));
    return of === undefined ? unknown : { kind: "changed", of };
  }
  let behind: Conversation | null = null;
  for (const conversation of alike) {
    for (const line of conversation.branches.toReversed()) {
      const end = line.blocks.length - 1;
      if (line.blocks[end]?.key !== blocks[end]?.key) continue;
      // The same prompt once more is no step back.
      const isNext = end === before || end === blocks.length - 1;
      if (!isNext) {
        behind ??= conversation;
        continue;
      }
      const isLatest = line === conversation.branches.at(-1);
      return isLatest ? known : { kind: "changed", of: conversation };
    }
  }
  if (behind !== null) return { kind: "behind", of: behind };
  const [of] = alike;
  return of === undefined ? unknown : { kind: "changed", of };
}

const known: Knowledge = { kind: "known", of: null };
const unknown: Knowledge = { kind: "new", of: null };

/** Whether it repeats an answer of the model: then it is not the first call of its conversation. */
export function goesOn({ marks, request }: CallToSeek): boolean {
  return marks.continues !== null || answeredPlaces(request.blocks).length > 0;
}

/** For how long the call before it may have ended so lately that its state is still being written. */
export function comingMs(call: CallToSeek, { kind }: Knowledge): number {
  if (kind === "known" || !goesOn(call)) return 0;
  if (kind === "behind") return writingMsMax;
  // Most often the client changed its history, and nothing comes.
  if (kind === "changed") return changedMsMax;
  // Without anything known, only the first call can have been the one before.
  return answeredPlaces(call.request.blocks).length < 2 ? writingMsMax : 0;
}

const writingMsMax = 500;
const changedMsMax = 15;

export function toQuestion(call: CallToSeek, conversations: Conversations): StateQuestion {
  const { tenant, marks, request } = call;
  const { session, agent, parentAgent, parentSession, continues } = marks;
  const { blocks } = request;
  const last = blocks.at(-1)?.key;
  const places = answeredPlaces(blocks).slice(1 - prefixKeysMax);
  const keys = places.flatMap((place) => blocks[place]?.key ?? []);
  const alike = aliveWith(call, conversations);
  const named = session === null ? [] : conversations.inSession(tenant, session);
  const threads =
    session === null
      ? []
      : [threadOf(session, agent), threadOf(session, null), threadOf(session, parentAgent)];
  if (parentSession !== null) threads.push(threadOf(parentSession, null));
  return {
    tenant,
    prefixKeys: last === undefined ? keys : [last, ...keys.toReversed()],
    openingKey: blocks[openingOf(blocks)]?.key ?? null,
    // What others wrote of the same tools and system text matters where nothing is known yet.
    headKey: alike.length > 0 ? null : (blocks[foundationEnd(blocks)]?.key ?? null),
    threads: [...new Set(threads)],
    replyId: continues,
    conversationIds: [...new Set([...alike, ...named])]
      .slice(0, conversationsMax)
      .map(({ id }) => id),
  };
}

/** Conversations known here that begin with the same tools, system text and first block. */
function aliveWith(
  { tenant, request }: CallToSeek,
  conversations: Conversations,
): readonly Conversation[] {
  const key = request.blocks[openingOf(request.blocks)]?.key;
  return key === undefined ? [] : conversations.withOpening(tenant, key);
}

function isNamedAlike({ marks }: CallToSeek, { session, agent }: Conversation): boolean {
  return session === marks.session && agent === marks.agent;
}

/** The last block before each answer of the model: there the prompts of earlier calls ended. */
function answeredPlaces(blocks: readonly ForeignBlock[]): readonly number[] {
  return blocks.flatMap(({ role }, index) =>
    index > 0 && role === "assistant" && blocks[index - 1]?.role !== "assistant" ? [index - 1] : [],
  );
}
