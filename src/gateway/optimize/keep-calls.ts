// After a call: has its conversation kept warm, or the head of a single question written for the next ones.
import { foundationEnd } from "../../core/cache/expect-bill.ts";
import { learnFromReply } from "../../core/cache/learn-from-reply.ts";
import { planRefresh } from "../../core/cache/plan-warm.ts";
import { writtenTokens } from "../../core/message/usage.ts";
import type { AnsweredCall } from "../observe/call-rewriter.ts";
import { planOfClient, planSharedHead, usageOf } from "./choose-markers.ts";
import { keepWarm, writeHead, type Keeping } from "./keep-conversations.ts";
import type { MarkQuestion } from "./mark-question.ts";
import { openMarkedState, type MarkedState } from "./marked-state.ts";
import type { Markable } from "./may-mark.ts";
import type { SharedHeads } from "./shared-heads.ts";
import { spliceMarkers } from "./splice-markers.ts";

interface AnsweredQuestion {
  readonly answered: AnsweredCall;
  readonly body: Markable;
  readonly question: MarkQuestion;
  readonly keeping: Keeping;
  readonly heads: SharedHeads;
}

export interface AnsweredConversation extends AnsweredQuestion {
  readonly state: MarkedState;
  /** The states of the conversation, by model. */
  readonly own: Map<string, MarkedState>;
}

export function keepAwake({
  answered,
  body,
  question,
  keeping,
  state,
  own,
}: AnsweredConversation): void {
  const { facts } = body;
  const { kind } = question.toMark.pace;
  const plan = answered.sent.plan ?? planOfClient(question.toMark);
  keepWarm(
    {
      answered,
      facts,
      plan,
      state,
      paceOf: ({ pace }) => ({ ...pace, kind }),
      current: () => own.get(facts.id),
      take: (next) => void own.set(facts.id, next),
    },
    keeping,
  );
}

/** Where none of the questions may pay for the others. */
export function writeAhead({ answered, body, question, keeping, heads }: AnsweredQuestion): void {
  const { place } = question;
  // The next question will have siblings, if this one has one.
  const pace = { ...question.toMark.pace, kind: "worker" as const };
  const toMark = { ...question.toMark, hasSiblings: true, pace };
  const { request } = toMark;
  const wished = answered.sent.plan === null ? planSharedHead(toMark) : null;
  if (wished === null || writtenTokens(usageOf(wished)) === 0 || !heads.mayWrite(place)) return;
  const { facts, marking } = body;
  const head = request.blocks.slice(0, foundationEnd(request.blocks) + 1);
  const words = marking.words({ ...wished, cacheKey: null }, facts);
  const wanted = wished.markers.map(({ block, lifetime }) => ({
    path: request.blocks[block]?.path ?? "",
    lifetime,
  }));
  writeHead(
    {
      answered,
      facts,
      plan: wished,
      head,
      toPieces: () =>
        spliceMarkers(body.body, { present: [], marksRequest: false, wanted, words, marking })
          ?.pieces ?? null,
      learn: ({ usage, reportsCache, startMs }) => {
        const at = { ...place, nowMs: startMs };
        const { state } = heads.join(at, openMarkedState());
        const situation = { blocks: head, rules: facts, state: state.sent, now: startMs };
        const known = { plan: planRefresh(wished, situation), blocks: head, rules: facts.cache };
        const answer = { ...known, usage, reportsCache, startMs, state: state.sent };
        const sent = learnFromReply({ ...answer, isWarming: true }).state;
        heads.learn(at, { ...state, sent });
      },
    },
    keeping,
  );
}
