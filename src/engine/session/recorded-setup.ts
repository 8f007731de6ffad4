// The setups of a session's models in the ledger: tools and system text, and how each model is called.
import type { ContentHash } from "../../core/hash.ts";
import type { CompactionRecord } from "../../core/ledger/compaction-record.ts";
import type { Ledger, ModelName, ThreadOf } from "../../core/ledger/ledger.ts";
import type { SessionRecord } from "../../core/ledger/session-record.ts";
import { requireRunnable } from "../../core/ledger/require-runnable.ts";
import type { ThreadMessage } from "../../core/ledger/turn-record.ts";
import type { ShownHistory } from "../../core/turn/compaction/compaction-input.ts";
import { withoutThinking } from "../../core/message/without-thinking.ts";
import { StrataError } from "../../core/strata-error.ts";
import type { CallSettings, KeptSetup } from "../../core/session/kept-setup.ts";
import { firstPlace, type SetupPlace, type Session } from "../../core/session/session.ts";

export interface RecordedSetup extends ModelName {
  readonly place: SetupPlace;
  readonly foundationHash: ContentHash | null;
  /** Null if it was not recorded. */
  readonly setup: KeptSetup | null;
}

/** Finds the setup of the wanted model, else of the next turn's model; null if the session never used it. */
export async function findModelSetup(
  ledger: Ledger,
  record: SessionRecord,
  wanted?: ModelName,
): Promise<RecordedSetup | null> {
  const end = record.openTurnId ?? record.headTurnId;
  return findSetupAt(ledger, record, end, wanted);
}

/** The same at a turn of the session, with what that turn brought; null for its start. */
export async function findSetupAt(
  ledger: Ledger,
  record: SessionRecord,
  at: string | null,
  wanted?: ModelName,
): Promise<RecordedSetup | null> {
  const of: ThreadOf | null = at === null ? null : { turnId: at };
  const compaction = of === null ? null : await ledger.findCompaction(of);
  const setup = readSetup(record, compaction);
  const first: ModelName = isNamed(setup?.calls) ? setup.calls : record;
  const name = wanted ?? (await modelOfTurn(ledger, at)) ?? first;
  const brought = of === null ? null : await ledger.findFoundation(of, name);
  const { model, provider } = name;
  if (brought !== null) {
    const { turnId, foundationHash, setupJson } = brought;
    const place = { turnId, isRecorded: turnId !== record.openTurnId, after: null };
    return { model, provider, place, foundationHash, setup: parseSetup(setupJson) };
  }
  if (!isSame(name, first)) return null;
  const foundationHash = compaction?.foundationHash ?? record.foundationHash;
  const place = { ...firstPlace, after: setup?.ownAfter ?? null };
  return { model, provider, place, foundationHash, setup };
}

/** Throws for an unknown session. */
export async function needRecord(ledger: Ledger, id: string): Promise<SessionRecord> {
  const record = await ledger.findSession(id);
  if (record !== null) {
    requireRunnable(record);
    return record;
  }
  throw new StrataError(
    "not-found",
    `there is no session ${id}`,
    "list them with `strata sessions`",
  );
}

/** How the session's next calls are made; null if it was not recorded. */
export async function findCallSettings(
  ledger: Ledger,
  record: SessionRecord,
): Promise<CallSettings | null> {
  const recorded = await findModelSetup(ledger, record);
  if (recorded === null || recorded.setup === null) return null;
  const { model, provider, setup } = recorded;
  return { ...setup.calls, model, provider };
}

/** The model of a turn. A compaction's turn does not count: its model is the summariser. */
async function modelOfTurn(ledger: Ledger, turnId: string | null): Promise<ModelName | null> {
  const turn = turnId === null ? null : await ledger.findTurn(turnId);
  return turn === null || turn.type === "compaction" ? null : turn;
}

export function isSame(one: ModelName, other: ModelName): boolean {
  return one.model === other.model && one.provider === other.provider;
}

/** Early versions did not store the names: sessions could not change their model then. */
function isNamed(calls: Partial<CallSettings> | undefined): calls is CallSettings {
  return calls?.model !== undefined && calls.provider !== undefined;
}

/** The setup of the latest compaction that changed it, else of the session's start. */
function readSetup(
  { setupJson }: SessionRecord,
  compaction: CompactionRecord | null,
): KeptSetup | null {
  const made: unknown =
    compaction?.metadataJson == null ? null : JSON.parse(compaction.metadataJson);
  if (typeof made === "object" && made !== null && "setup" in made && isKeptSetup(made.setup)) {
    return made.setup;
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

/** The model that reads a conversation, and since when. */
export interface Listener extends ModelName {
  readonly place: SetupPlace;
}

export function listenerOf({ model, setupPlace }: Pick<Session, "model" | "setupPlace">): Listener {
  return { model: model.id, provider: model.provider, place: setupPlace };
}

/** Reads a conversation as a model sees it: with its own thinking since it joined, without that of other models. */
export async function readShown(
  ledger: Ledger,
  of: ThreadOf,
  { place, ...name }: Listener,
): Promise<ShownHistory> {
  const compaction = await ledger.findCompaction(of);
  const read: ThreadMessage[] = [];
  for await (const each of ledger.readThread(of)) read.push(each);
  const from = findOwnFrom(read, place);
  const isFirst = place.turnId === null && place.isRecorded;
  const messages = read.map((each, at) => {
    // Copies in a compaction belong to the model that it was made for.
    const isOwn = each.turnId === compaction?.turnId ? isFirst : at >= from && isSame(each, name);
    return isOwn ? each : { ...each, message: withoutThinking(each.message) };
  });
  return { messages, compaction };
}

/** From here on a model sees its own thinking. */
function findOwnFrom(
  read: readonly ThreadMessage[],
  { turnId, isRecorded, after }: SetupPlace,
): number {
  if (turnId !== null) {
    const at = read.findIndex((each) => each.turnId === turnId);
    return at === -1 ? read.length : at;
  }
  if (!isRecorded) return read.length;
  // If that turn is compacted, all remaining messages came later.
  return after === null ? 0 : read.findLastIndex((each) => each.turnId === after) + 1;
}
