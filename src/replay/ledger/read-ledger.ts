// Sessions of a ledger as recordings: each call with its prompt, its bill, and what the engine found.
import { createRuler } from "../../core/cache/cache-state.ts";
import { toForeign, type SentPrompt } from "../../core/diagnosis/own/sent-prompt.ts";
import type { ContentHash } from "../../core/hash.ts";
import type { SessionRecord } from "../../core/ledger/session-record.ts";
import type { Catalogue } from "../../core/models/catalogue.ts";
import type { TextCounter } from "../../core/tokens/o200k/counter.ts";
import type { OpenStore } from "../../edge/stores/open-store.ts";
import { readOwnTurnIds } from "../../edge/stores/session-inside.ts";
import { toExcerpt } from "../readers/block-draft.ts";
import { skip } from "../readers/line-reader.ts";
import type { Recorded, RecordedBlock, RecordedRequest } from "../recording.ts";
import { rebuildCalls, type RebuiltCall } from "./rebuild-calls.ts";
import { findMiss, readStoredMisses } from "./found-misses.ts";

export interface LedgerReading {
  /** For people: the file or server of the ledger. */
  readonly name: string;
  readonly catalogue: Catalogue;
  readonly counter: TextCounter;
  /** Whether blocks carry an excerpt of their content. */
  readonly excerpts: boolean;
}

/** Every session, or those given. Sessions of one ledger may read what another wrote. */
export async function* readLedger(
  store: OpenStore,
  reading: LedgerReading,
  only?: readonly SessionRecord[],
): AsyncGenerator<Recorded> {
  for await (const record of only ?? listAll(store)) yield* readSession(store, record, reading);
}

/** The latest changed first, a page at a time. */
async function* listAll({ ledger }: OpenStore): AsyncGenerator<SessionRecord> {
  let before: { readonly updatedMs: number; readonly id: string } | undefined;
  for (;;) {
    const page = await ledger.listSessions({
      origin: "all",
      status: "all",
      ...(before && { before }),
    });
    yield* page;
    const last = page.at(-1);
    if (last === undefined) return;
    before = { updatedMs: last.updatedMs, id: last.id };
  }
}

async function* readSession(
  store: OpenStore,
  record: SessionRecord,
  reading: LedgerReading,
): AsyncGenerator<Recorded> {
  const { ledger, database } = store;
  const { name } = reading;
  if (record.origin === "gateway") {
    yield skip(name, null, "a conversation that the gateway saw: its content is not stored");
    return;
  }
  const stored = await readStoredMisses(ledger, record.id);
  const turnIds = await readOwnTurnIds(database, record.id);
  const shown = new Map<string, Shown>();
  for await (const rebuilt of rebuildCalls(record, turnIds, { ledger, ...reading })) {
    if ("reason" in rebuilt) {
      yield* Array.from({ length: rebuilt.calls }, () => skip(name, null, rebuilt.reason));
      continue;
    }
    const { protocol } = rebuilt.session;
    const before = shown.get(protocol.name);
    // A recorded session has one protocol.
    const sessionId = before?.sessionId ?? idOf(record.id, protocol.name, shown.size);
    if (before === undefined) {
      const about = { agent: record.agent, wire: protocol.name, workspace: name };
      const kind = { format: "strata", blocks: "as sent", isWhole: true } as const;
      yield { type: "session", session: { id: sessionId, file: name, ...kind, ...about } };
    }
    const prompt = rebuilt.prompt;
    if (prompt === null) {
      yield skip(name, null, "no reply arrived");
      continue;
    }
    const found = findMiss(rebuilt, stored.get(rebuilt.turn.id), before !== undefined);
    const { request, keys } = toRequest({ ...rebuilt, prompt }, before, reading);
    shown.set(protocol.name, { sessionId, keys, startMs: rebuilt.call.startMs });
    yield { type: "request", sessionId, request: { ...request, found } };
  }
  for (const { kind } of await ledger.readLoneCalls(record.id)) {
    yield skip(name, null, `a call without a turn (${kind})`);
  }
}

function idOf(id: string, wire: string, others: number): string {
  return others === 0 ? id : `${id} ${wire}`;
}

/** The request before. */
interface Shown {
  readonly sessionId: string;
  readonly keys: readonly ContentHash[];
  readonly startMs: number;
}

type Answered = RebuiltCall & { readonly prompt: SentPrompt };

function toRequest(
  rebuilt: Answered,
  before: Shown | undefined,
  { excerpts }: LedgerReading,
): { readonly request: RecordedRequest; readonly keys: readonly ContentHash[] } {
  const { call, prompt, session } = rebuilt;
  const { sealed } = prompt.assembly;
  const keep = sharedLength(before?.keys ?? [], sealed);
  const texts = excerpts ? toForeign(prompt).blocks.map(({ text }) => text) : null;
  const hidden = unrecordedTokens(rebuilt);
  const append: RecordedBlock[] = [];
  for (let index = keep; index < sealed.length; index += 1) {
    const block = sealed.at(index);
    if (block === undefined) break;
    const { key, tokens, tier, kind, role, endsMessage, mayCarryMarker } = block;
    const text = texts?.[index];
    append.push({
      // The key of the whole prefix: equal keys mean equal content so far.
      hash: key,
      tokens: tier === "T5" ? hidden : tokens,
      tier: tier === "T4" || tier === "T5" ? "T3" : tier,
      kind,
      role,
      endsMessage,
      mayCarryMarker,
      ...(text === undefined ? {} : { excerpt: toExcerpt({ type: "text", text }) }),
    });
  }
  const { cacheKey } = call.plan;
  const request: RecordedRequest = {
    thread: "",
    startMs: call.startMs,
    endMs: call.endMs,
    model: session.modelName,
    keep,
    append,
    remainderTokens: rebuilt.assembly.volatilePlace === "system-tail" ? 0 : hidden,
    usage: call.usage,
    markers: markersOf(prompt),
    settings: {
      ...prompt.traits.settings,
      ...(cacheKey === null ? {} : { "cache key": cacheKey }),
    },
  };
  const keys = [...(before?.keys.slice(0, keep) ?? []), ...append.map(({ hash }) => hash)];
  return { request, keys };
}

/** A key names its whole prefix, so the first different one is found by halving. */
function sharedLength(
  keys: readonly ContentHash[],
  sealed: SentPrompt["assembly"]["sealed"],
): number {
  let [low, high] = [0, Math.min(keys.length, sealed.length)];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (keys[middle - 1] === sealed.at(middle - 1)?.key) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Volatile text is sent once and not stored. The plan counted the prompt with it. */
function unrecordedTokens({ call, session, assembly }: RebuiltCall): number {
  const { readTokens, writeTokens, uncachedTokens } = call.plan.expected;
  const written = Object.values(writeTokens).reduce((sum, tokens) => sum + tokens, 0);
  const planned = readTokens + written + uncachedTokens;
  const stored = createRuler(assembly.blocks, session.cache.measured)(assembly.blocks.length - 1);
  return Math.max(0, planned - stored);
}

function markersOf({ plan, assembly }: SentPrompt): RecordedRequest["markers"] {
  const markers = plan.markers.map(({ block, lifetime }) => ({ block, lifetime }));
  if (plan.requestMarker === null) return markers;
  const { sealed } = assembly;
  let last = sealed.length - 1;
  while (last > 0 && sealed.at(last)?.mayCarryMarker !== true) last -= 1;
  return [...markers, { block: last, lifetime: plan.requestMarker }];
}
