// Another model for a session: what it had is left as it stands, and gone back to where it can be.
import { appendMessages, messagesFrom, openThread } from "../core/assembly/thread.ts";
import { openCacheState } from "../core/cache/cache-state.ts";
import type { Ledger, ModelName } from "../core/ledger/ledger.ts";
import type { Message } from "../core/message/message.ts";
import { withoutThinking } from "../core/message/without-thinking.ts";
import type { TextCounter } from "../core/tokens/o200k/counter.ts";
import { createTokenCounter } from "../core/tokens/token-counter.ts";
import { findSeat, isSame } from "./recorded-seat.ts";
import { layForSession, type FoundationSetup } from "./session-foundation.ts";
import { firstSeat, type LeftSeat, type OtherSeat, type Session } from "./session.ts";
import { restoreSeat, type ResumeSetup } from "./stored-session.ts";

/** How the other model is called. */
export type SwitchTo = Pick<ResumeSetup, "model" | "protocol" | "policy" | "options">;

export interface SwitchEdges {
  readonly ledger: Ledger;
  readonly counter: TextCounter;
  /** What tools and system text are made of by now. */
  readonly context: () => Promise<Omit<FoundationSetup, "model" | "protocol" | "policy">>;
}

/** A session remembers so many models besides its own; one that it forgot is read or made again. */
const otherSeatsMax = 4;

/** Nothing is recorded until its next turn is. */
export async function switchModel(
  session: Session,
  to: SwitchTo,
  edges: SwitchEdges,
): Promise<Session> {
  const wanted: ModelName = { model: to.model.id, provider: to.model.provider };
  const known = session.otherSeats.find((each) => isSame(each, wanted));
  const seat =
    (await goBack(session, to, known?.left ?? null, edges)) ?? (await lay(session, to, edges));
  const others = session.otherSeats.filter((each) => each !== known);
  const { keptVolatile } = session.thread;
  return {
    ...session,
    ...seat,
    thread: { ...seat.thread, keptVolatile },
    cache: known?.cache ?? openCacheState(),
    pace: known?.pace ?? session.pace,
    toldVolatile: known?.toldVolatile ?? null,
    // Sizes are another model's.
    folding: { ...session.folding, noPlace: null },
    otherSeats: session.isRecorded ? [leave(session), ...others].slice(0, otherSeatsMax) : others,
  };
}

function leave(session: Session): OtherSeat {
  const { model, protocol, policy, options, thread, seat, cache, pace, toldVolatile } = session;
  const { padding, preactivated, toolsLeft, permissions, madeOf } = session;
  const made = { padding, preactivated, toolsLeft, permissions, madeOf };
  // One that no turn was completed with is in no ledger, and is made again as things are then.
  const left = seat.isRecorded ? { model, protocol, policy, options, thread, seat, ...made } : null;
  return { model: model.id, provider: model.provider, cache, pace, toldVolatile, left };
}

/** With what was said since, without anybody's thoughts. Markers and limits are as they are configured now. */
async function goBack(
  session: Session,
  to: SwitchTo,
  left: LeftSeat | null,
  { ledger, counter }: SwitchEdges,
): Promise<LeftSeat | null> {
  if (!session.isRecorded) return null;
  if (left !== null) {
    const since = messagesFrom(session.thread, left.thread.messages.length);
    const policy = { ...to.policy, layout: left.policy.layout };
    return { ...left, policy, thread: appendMessages(left.thread, since.map(withoutThinking)) };
  }
  const record = await ledger.findSession(session.id);
  if (record === null) return null;
  const name: ModelName = { model: to.model.id, provider: to.model.provider };
  const seat = await findSeat(ledger, record, name);
  if (seat === null || seat.setup === null || !seat.place.isRecorded) return null;
  const { options, protocol, layout = to.policy.layout } = seat.setup.calls;
  // Another way of speaking to it would be other bytes.
  if (protocol !== to.protocol.name) return null;
  return restoreSeat(ledger, record, seat, {
    ...to,
    policy: { ...to.policy, layout },
    options,
    counter,
  });
}

async function lay(
  session: Session,
  to: SwitchTo,
  { counter: textCounter, context }: SwitchEdges,
): Promise<LeftSeat> {
  const setup: FoundationSetup = { ...(await context()), ...to };
  const counter = createTokenCounter(textCounter, to.model.tokenizer);
  const { foundation, ...laid } = layForSession(setup, counter, session.pace);
  const said: readonly Message[] = messagesFrom(session.thread, 0);
  return {
    ...to,
    ...laid,
    thread: appendMessages(openThread(foundation), said.map(withoutThinking)),
    seat: session.isRecorded ? { turnId: null, isRecorded: false } : firstSeat,
  };
}
