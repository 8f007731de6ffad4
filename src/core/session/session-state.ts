// What a session learned, as JSON text in the ledger. A restart or another node continues from it.
import { openCacheState, type CacheState, type KnownEntry } from "../cache/cache-state.ts";
import { readEvidence, type Evidence } from "../cache/evidence.ts";
import { readPace, type Pace } from "../cache/pace.ts";
import { readUnasked, type UnaskedReads } from "../cache/unasked-reads.ts";
import { keepBooks, readBooks } from "../cache/warm-books.ts";
import { toCompactionState } from "../compaction/plan/compaction-state.ts";
import { keepLastCall, restoreLastCall, type KeptLastCall } from "../diagnosis/own/last-call.ts";
import type { ModelName } from "../ledger/ledger.ts";
import type { JsonText } from "../message/message.ts";
import { readSizes, withLearnedLimit } from "../tokens/learned-sizes.ts";
import type { ModelState, RestingModel, Session, StaysWith } from "./session.ts";
import { keepSpent, readSpent } from "./summary-bill.ts";

/** The stored state of one model. */
interface KeptModelState extends Partial<ModelName> {
  readonly name?: string;
  readonly cache: CacheState;
  readonly sizes?: unknown;
  readonly pace: Pace;
  /** `lastVolatile`. */
  readonly toldVolatile?: unknown;
}

/** `model`, `provider` and the optional fields are absent in records of earlier versions. */
interface KeptState extends KeptModelState {
  readonly format: 1;
  readonly others?: readonly KeptModelState[];
  readonly staysWith?: StaysWith | null;
  /** Absent for none. */
  readonly resting?: readonly RestingModel[];
  readonly folding?: unknown;
  readonly spent?: unknown;
  /** Absent if it was never kept warm. */
  readonly warm?: unknown;
  /** Absent if the last call had nothing unusual. */
  readonly lastCall?: KeptLastCall;
  /** The turn that stored this state. Its volatile text counts only for that turn. */
  readonly turnId: string | null;
  readonly keptVolatile: string | null;
}

export function toStateText(session: Session, turnId: string | null): JsonText {
  const { model, cache, sizes, pace, otherModels, staysWith } = session;
  const { keptVolatile } = session.thread;
  const name = { model: model.id, provider: model.provider, name: session.modelName };
  const spent = keepSpent(session.spent);
  const warm = keepBooks(session.warm);
  const { lastVolatile: toldVolatile } = session;
  const stored = { folding: session.compactionState, spent, ...(warm && { warm }), toldVolatile };
  const learned = { ...name, cache: { ...cache, entries: [] }, sizes, pace, ...stored };
  const others = otherModels.map(toKept);
  const more = others.length === 0 ? {} : { others };
  const last = session.lastCall === null ? null : keepLastCall(session.lastCall);
  const { resting } = session;
  const rest = {
    ...(last && { lastCall: last }),
    ...(resting.length > 0 && { resting }),
    turnId,
    keptVolatile,
  };
  const state: KeptState = { format: 1, ...learned, ...more, staysWith, ...rest };
  return JSON.stringify(state).replace(noEntries, () => `"entries":[${spell(cache.entries)}]`);
}

/** Before the entries there are only names, whose quotes are escaped. */
const noEntries = '"entries":[]';

const entryTexts = new WeakMap<KnownEntry, JsonText>();

/** Most entries stay as they are from call to call, so each is spelled once. */
function spell(entries: readonly KnownEntry[]): string {
  return entries.map((entry) => entryTexts.get(entry) ?? spellEntry(entry)).join(",");
}

function spellEntry(entry: KnownEntry): JsonText {
  const text = JSON.stringify(entry);
  entryTexts.set(entry, text);
  return text;
}

function toKept({ setup: _setup, lastVolatile, ...state }: ModelState): KeptModelState {
  return { ...state, toldVolatile: lastVolatile };
}

/** Adds the stored state to a session with the same thread. State from another program is ignored. */
export function withState(session: Session, text: JsonText | null): Session {
  const state: unknown = text === null ? null : JSON.parse(text);
  if (!isKept(state)) return session;
  const { turnId, keptVolatile } = state;
  const { model } = session;
  const models = [state, ...(state.others ?? [])].map((each) => toModelState(each, session));
  const isOwn = (each: ModelName): boolean =>
    each.model === model.id && each.provider === model.provider;
  const own = models.find(isOwn);
  const isHere = turnId === session.headTurnId;
  return {
    ...session,
    ...(own && {
      cache: own.cache,
      sizes: own.sizes,
      model: withLearnedLimit(model, own.sizes),
      pace: own.pace,
      lastVolatile: own.lastVolatile,
    }),
    otherModels: models.filter((each) => !isOwn(each)),
    staysWith: state.staysWith ?? session.staysWith,
    resting: state.resting ?? [],
    compactionState: toCompactionState(state.folding),
    spent: readSpent(state.spent),
    warm: readBooks(state.warm),
    lastCall: state.lastCall === undefined ? null : restoreLastCall(state.lastCall),
    thread: { ...session.thread, keptVolatile: isHere ? keptVolatile : null },
  };
}

/** Volatile text that this turn stored last; null if it stored none or another turn stored the state since. */
export function keptVolatileIn(text: JsonText | null, turnId: string): string | null {
  const state: unknown = text === null ? null : JSON.parse(text);
  return isKept(state) && state.turnId === turnId ? state.keptVolatile : null;
}

function toModelState(kept: KeptModelState, { model, modelName }: Session): ModelState {
  return {
    // In the order in which a session that was not resumed has them.
    model: kept.model ?? model.id,
    provider: kept.provider ?? model.provider,
    name: kept.name ?? modelName,
    cache: readCache(kept.cache),
    sizes: readSizes(kept.sizes),
    pace: kept.pace,
    lastVolatile: typeof kept.toldVolatile === "string" ? kept.toldVolatile : null,
    setup: null,
  };
}

function readCache({ unasked: stored, ...cache }: CacheState): CacheState {
  const unasked = readUnasked(stored);
  const evidence = readEvidence(cache.evidence);
  return { ...openCacheState(), ...cache, evidence, ...(unasked && { unasked }) };
}

/** The agent of `strata smoke`. What its trials show about a provider holds for every agent. */
export const trialAgent = "strata smoke";

/** What a session learned about the pace of its agent and the promises of a model's provider. */
export interface Lesson {
  readonly pace: Pace;
  readonly evidence: Evidence;
  /** Null if nothing was seen. */
  readonly unasked: UnaskedReads | null;
}

/** The lesson in a stored state, for a session that starts. Null if there is none for the model, or the state is damaged. */
export function lessonIn(text: JsonText, { model, provider }: ModelName): Lesson | null {
  const state = parsedOrNull(text);
  if (!isKept(state)) return null;
  const found = [state, ...(state.others ?? [])].find(
    (each) => each.model === model && each.provider === provider,
  );
  const pace = readPace(found?.pace);
  if (pace === null) return null;
  const { cache } = found ?? {};
  return {
    pace,
    evidence: readEvidence(cache?.evidence),
    unasked: readUnasked(cache?.unasked),
  };
}

function parsedOrNull(text: JsonText): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function isKept(value: unknown): value is KeptState {
  return typeof value === "object" && value !== null && "format" in value && value.format === 1;
}
