// The models a session was with, as the ledger has them: what each is sent before the conversation, and how it is called.
import type { ContentHash } from "../../core/hash.ts";
import type { FoldRecord } from "../../core/ledger/fold-record.ts";
import type { Ledger, ModelName, ThreadOf } from "../../core/ledger/ledger.ts";
import type { SessionRecord } from "../../core/ledger/session-record.ts";
import type { ThreadMessage } from "../../core/ledger/turn-record.ts";
import type { ShownHistory } from "../../core/turn/compaction/compaction-input.ts";
import { withoutThinking } from "../../core/message/without-thinking.ts";
import { StrataError } from "../../core/strata-error.ts";
import type { CallHabit, KeptSetup } from "../../core/session/kept-setup.ts";
import { firstSeat, type SeatPlace, type Session } from "../../core/session/session.ts";

export interface RecordedSeat extends ModelName {
  readonly place: SeatPlace;
  readonly foundationHash: ContentHash | null;
  /** Null where that was not recorded. */
  readonly setup: KeptSetup | null;
}

/** Of the model its next turn goes on with, or of the one that is wanted; null where it never was with that one. */
export async function findSeat(
  ledger: Ledger,
  record: SessionRecord,
  wanted?: ModelName,
): Promise<RecordedSeat | null> {
  const end = record.openTurnId ?? record.headTurnId;
  const of: ThreadOf = end === null ? { sessionId: record.id } : { turnId: end };
  const fold = await ledger.findFold(of);
  const setup = readSetup(record, fold);
  const first: ModelName = isNamed(setup?.calls) ? setup.calls : record;
  const name = wanted ?? (await talkedToIn(ledger, end)) ?? first;
  const brought = await ledger.findFoundation(of, name);
  const { model, provider } = name;
  if (brought !== null) {
    const { turnId, foundationHash, setupJson } = brought;
    const place = { turnId, isRecorded: turnId !== record.openTurnId, after: null };
    return { model, provider, place, foundationHash, setup: parseSetup(setupJson) };
  }
  if (!isSame(name, first)) return null;
  const foundationHash = fold?.foundationHash ?? record.foundationHash;
  const place = { ...firstSeat, after: setup?.ownAfter ?? null };
  return { model, provider, place, foundationHash, setup };
}

/** A session that nobody recorded is an error. */
export async function needRecord(ledger: Ledger, id: string): Promise<SessionRecord> {
  const record = await ledger.findSession(id);
  if (record !== null) return record;
  throw new StrataError(
    "not-found",
    `there is no session ${id}`,
    "list them with `strata sessions`",
  );
}

/** How the session is called from now on; null where that was not recorded. */
export async function findCallHabit(
  ledger: Ledger,
  record: SessionRecord,
): Promise<CallHabit | null> {
  const seat = await findSeat(ledger, record);
  if (seat === null || seat.setup === null) return null;
  const { model, provider, setup } = seat;
  return { ...setup.calls, model, provider };
}

/** A fold's turn is its summariser's. */
async function talkedToIn(ledger: Ledger, turnId: string | null): Promise<ModelName | null> {
  const turn = turnId === null ? null : await ledger.findTurn(turnId);
  return turn === null || turn.type === "compaction" ? null : turn;
}

export function isSame(one: ModelName, other: ModelName): boolean {
  return one.model === other.model && one.provider === other.provider;
}

/** Was not kept before sessions could change their model. */
function isNamed(calls: Partial<CallHabit> | undefined): calls is CallHabit {
  return calls?.model !== undefined && calls.provider !== undefined;
}

/** Of the fold that changed it, or as the session was opened. */
function readSetup({ setupJson }: SessionRecord, fold: FoldRecord | null): KeptSetup | null {
  const told: unknown = fold?.metadataJson == null ? null : JSON.parse(fold.metadataJson);
  if (typeof told === "object" && told !== null && "setup" in told && isKeptSetup(told.setup)) {
    return told.setup;
  }
  return parseSetup(setupJson);
}

function parseSetup(text: string | null): KeptSetup | null {
  const kept: unknown = text === null ? null : JSON.parse(text);
  return isKeptSetup(kept) ? kept : null;
}

function isKeptSetup(value: unknown): value is KeptSetup {
  return typeof value === "object" && value !== null && "padding" in value && "calls" in value;
}

/** Of a session that talks to a model: which one, and since when. */
export interface Listener extends ModelName {
  readonly place: SeatPlace;
}

export function listenerOf({ model, seat }: Pick<Session, "model" | "seat">): Listener {
  return { model: model.id, provider: model.provider, place: seat };
}

/** A conversation as a model is shown it: with its own thoughts since it came, and without those of others. */
export async function readShown(
  ledger: Ledger,
  of: ThreadOf,
  { place, ...name }: Listener,
): Promise<ShownHistory> {
  const fold = await ledger.findFold(of);
  const read: ThreadMessage[] = [];
  for await (const each of ledger.readThread(of)) read.push(each);
  const from = findOwnFrom(read, place);
  const isFirst = place.turnId === null && place.isRecorded;
  const messages = read.map((each, at) => {
    // What a fold copied was said to the model it was made for.
    const isOwn = each.turnId === fold?.turnId ? isFirst : at >= from && isSame(each, name);
    return isOwn ? each : { ...each, message: withoutThinking(each.message) };
  });
  return { messages, fold };
}

/** From here on a model is shown what it thought. */
function findOwnFrom(
  read: readonly ThreadMessage[],
  { turnId, isRecorded, after }: SeatPlace,
): number {
  if (turnId !== null) {
    const at = read.findIndex((each) => each.turnId === turnId);
    return at === -1 ? read.length : at;
  }
  if (!isRecorded) return read.length;
  // Where that turn is folded, all that is left came later.
  return after === null ? 0 : read.findLastIndex((each) => each.turnId === after) + 1;
}
