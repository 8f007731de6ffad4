// What a session learned, as text: kept beside its turns, so that a restart or another node goes on from it.
import { openCacheState, type CacheState } from "../cache/cache-state.ts";
import type { Pace } from "../cache/pace.ts";
import { toFoldingState } from "../compaction/plan/folding-state.ts";
import type { ModelName } from "../ledger/ledger.ts";
import type { JsonText } from "../message/message.ts";
import type { OtherSeat, Session, StaysWith } from "./session.ts";
import { keepSpent, readSpent } from "./spent.ts";

/** Of one model. */
interface KeptSeat extends Partial<ModelName> {
  readonly name?: string;
  readonly cache: CacheState;
  readonly pace: Pace;
  readonly toldVolatile?: unknown;
}

/** `model`, `provider` and what is optional are absent in what earlier versions kept. */
interface KeptState extends KeptSeat {
  readonly format: 1;
  readonly others?: readonly KeptSeat[];
  readonly staysWith?: StaysWith | null;
  readonly folding?: unknown;
  readonly spent?: unknown;
  /** The turn it was learned in; volatile text that was kept there is said again elsewhere. */
  readonly turnId: string | null;
  readonly keptVolatile: string | null;
}

type Kept =
  | "model"
  | "modelName"
  | "cache"
  | "pace"
  | "thread"
  | "folding"
  | "spent"
  | "toldVolatile"
  | "otherSeats"
  | "staysWith";

export function toStateText(session: Pick<Session, Kept>, turnId: string | null): JsonText {
  const { model, cache, pace, folding, toldVolatile, otherSeats, staysWith } = session;
  const { keptVolatile } = session.thread;
  const name = { model: model.id, provider: model.provider, name: session.modelName };
  const spent = keepSpent(session.spent);
  const learned = { ...name, cache, pace, folding, spent, toldVolatile };
  const others = otherSeats.map(toKept);
  const more = others.length === 0 ? {} : { others };
  const state: KeptState = { format: 1, ...learned, ...more, staysWith, turnId, keptVolatile };
  return JSON.stringify(state);
}

function toKept({ left: _left, ...seat }: OtherSeat): KeptSeat {
  return seat;
}

/** What was kept, onto a session with the thread it was kept for. Another program's state is not trusted. */
export function withState(session: Session, text: JsonText | null): Session {
  const state: unknown = text === null ? null : JSON.parse(text);
  if (!isKept(state)) return session;
  const { turnId, keptVolatile } = state;
  const { model } = session;
  const seats = [state, ...(state.others ?? [])].map((each) => toSeat(each, session));
  const isOwn = (each: ModelName): boolean =>
    each.model === model.id && each.provider === model.provider;
  const own = seats.find(isOwn);
  const isHere = turnId === session.headTurnId;
  return {
    ...session,
    ...(own === undefined
      ? {}
      : { cache: own.cache, pace: own.pace, toldVolatile: own.toldVolatile }),
    otherSeats: seats.filter((each) => !isOwn(each)),
    staysWith: state.staysWith ?? session.staysWith,
    folding: toFoldingState(state.folding),
    spent: readSpent(state.spent),
    thread: { ...session.thread, keptVolatile: isHere ? keptVolatile : null },
  };
}

/** Volatile text that was kept in a turn, as long as nothing was learned elsewhere; null for none. */
export function keptVolatileIn(text: JsonText | null, turnId: string): string | null {
  const state: unknown = text === null ? null : JSON.parse(text);
  return isKept(state) && state.turnId === turnId ? state.keptVolatile : null;
}

function toSeat(kept: KeptSeat, { model, modelName }: Session): OtherSeat {
  return {
    name: kept.name ?? modelName,
    model: kept.model ?? model.id,
    provider: kept.provider ?? model.provider,
    cache: { ...openCacheState(), ...kept.cache },
    pace: kept.pace,
    toldVolatile: typeof kept.toldVolatile === "string" ? kept.toldVolatile : null,
    left: null,
  };
}

function isKept(value: unknown): value is KeptState {
  return typeof value === "object" && value !== null && "format" in value && value.format === 1;
}
