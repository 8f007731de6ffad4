// The next call of a turn, recorded and ready to be sent; the history shortened first where that is due.
import type { Section } from "../core/layers/section.ts";
import type { EncodedRequest } from "../core/wire/encoded-request.ts";
import type { Edges } from "./edges.ts";
import { isMemory } from "../core/session/compaction-rules.ts";
import { countWhereClose } from "./count-prompt.ts";
import { foldWhereDue, type FoldRequest } from "./fold-session.ts";
import { volatileText } from "../core/assembly/system-blocks.ts";
import { prepareCall, type PreparedCall } from "../core/turn/prepare-call.ts";
import type { Shadow } from "./shadow.ts";
import { recordSent, type RunningTurn } from "./record-turn.ts";
import type { Teller } from "./tell.ts";

export interface ReadyCall extends PreparedCall {
  readonly request: EncodedRequest;
}

export interface NextCall {
  readonly turn: RunningTurn;
  readonly startMs: number;
  /** False for the one that is sent after the provider found the prompt too long. */
  readonly mayFold: boolean;
  /** Called once what will be sent is recorded, before anything else happens. */
  readonly onRecorded: (recorded: RunningTurn, prepared: PreparedCall) => void;
  readonly shadow: Shadow;
}

export async function readyCall(
  { turn, startMs, mayFold, onRecorded, shadow }: NextCall,
  edges: Edges,
  teller: Teller,
): Promise<{ readonly turn: RunningTurn; readonly call: ReadyCall }> {
  shadow.expect("refresh");
  const volatile = await volatileOf(turn, startMs);
  shadow.refreshed(turn.session, startMs, volatile, edges);
  const { session, current } = turn;
  const step = shadow.expect("prepare");
  shadow.same(step.current, current, "current");
  shadow.same(step.volatile, toText(volatile), "volatile");
  shadow.same(step.nowMs, startMs, "nowMs");
  const estimated = prepareCall({ session, current, volatile: toText(volatile), startMs });
  shadow.apply({ did: "prepare", assembly: estimated.assembly, plan: estimated.plan });
  if (!turn.isStaged) shadow.same(shadow.expect("record").opens, turn.open === null, "opens");
  const recorded = await record(turn, estimated, startMs, edges);
  if (!turn.isStaged) shadow.apply({ did: "record" });
  onRecorded(recorded, estimated);
  if (!mayFold) return { turn: recorded, call: encode(recorded, estimated) };
  const toRequest = (call: PreparedCall): EncodedRequest => encode(recorded, call).request;
  const prepared = await countWhereClose(session, estimated, toRequest, edges);
  if (prepared.countedTokens !== undefined) {
    shadow.expect("count");
    shadow.apply({ did: "count", tokens: prepared.countedTokens });
  }
  const wasDue = shadow.is("compact");
  const run = await fold(recorded, { prepared, nowMs: startMs }, edges, teller);
  if (wasDue) shadow.compacted(run);
  else
    shadow.same(
      run.isFolded || run.isTight || run.turn.session !== recorded.session,
      false,
      "not due",
    );
  // What is recorded has its head already, and is sent as it is recorded.
  const hasHead = session.policy.layout.volatile === "message-head";
  if (!run.isFolded && (!run.isTight || hasHead)) {
    return { turn: run.turn, call: encode(run.turn, prepared) };
  }
  const rest = run.turn.current;
  // Memory is the first thing that goes; what changed in it is in the system text if that was made anew.
  const isTold = rest.length > 0 && !hasHead;
  const told = isTold ? (volatile?.filter((each) => !isMemory(each)) ?? null) : null;
  const { session: after } = run.turn;
  const again = prepareCall({
    session: after,
    current: rest,
    volatile: toText(told),
    startMs: edges.now(),
  });
  const later = shadow.expect("prepare");
  shadow.same(later.current, rest, "current again");
  shadow.same(later.volatile, toText(told), "volatile again");
  shadow.same(later.nowMs, null, "nowMs again");
  shadow.apply({ did: "prepare", assembly: again.assembly, plan: again.plan });
  return { turn: run.turn, call: encode(run.turn, again) };
}

function toText(sections: readonly Section[] | null): string | null {
  return sections === null ? null : volatileText(sections);
}

export interface TurnFold {
  readonly turn: RunningTurn;
  readonly isFolded: boolean;
  /** Nothing remains, and nothing could be folded. */
  readonly isTight: boolean;
}

/** Shortens the history before the running turn, and what of the turn is too long. */
export async function fold(
  turn: RunningTurn,
  why: Pick<FoldRequest, "prepared" | "nowMs" | "asked">,
  edges: Edges,
  teller: Teller,
): Promise<TurnFold> {
  const { session, open, current } = turn;
  const request = { session, open, stagedCount: current.length, ...why };
  const run = await foldWhereDue(request, edges, teller);
  if (run.kind === "unchanged") {
    return { turn: { ...turn, session: run.session }, isFolded: false, isTight: run.isTight };
  }
  const { before, current: rest } = run;
  const next = { ...turn, before, session: run.session, current: rest, isStaged: true };
  return { turn: next, isFolded: true, isTight: false };
}

async function record(
  turn: RunningTurn,
  { assembly }: PreparedCall,
  startMs: number,
  edges: Edges,
): Promise<RunningTurn> {
  if (turn.isStaged) return { ...turn, ...seated(turn) };
  const { thread } = turn.session;
  const open = await recordSent(turn, turn.open, { thread, assembly, startMs }, edges);
  return { ...turn, ...seated(turn), open, isStaged: true };
}

/** A model that is new to the session came with this turn. */
function seated({ id, before, session }: RunningTurn): Pick<RunningTurn, "before" | "session"> {
  const seat = { turnId: id, isRecorded: false, after: null };
  return before.seat.isRecorded
    ? { before, session }
    : { before: { ...before, seat }, session: { ...session, seat } };
}

/** A provider that paused goes on from its own words; what is recorded has its head already. */
async function volatileOf(turn: RunningTurn, nowMs: number): Promise<readonly Section[] | null> {
  const { current, isStaged, session } = turn;
  const isAsItIs =
    current.length === 0 || (isStaged && session.policy.layout.volatile === "message-head");
  return isAsItIs ? null : turn.volatile(nowMs);
}

function encode({ session }: RunningTurn, prepared: PreparedCall): ReadyCall {
  const { protocol, model, options } = session;
  const { assembly, plan } = prepared;
  return { ...prepared, request: protocol.encode({ assembly, plan, model, options }) };
}
