// A batch of calls that the gateway saw, in one transaction: their conversations, the calls, their new blocks, their events.
import type { GatewayCall, RecordedCalls } from "../../../../core/ledger/gateway-call.ts";
import { messageOf } from "../../../../core/strata-error.ts";
import type { Commit, Guard, Statement, Write } from "../../sql/database.ts";
import { text } from "../../sql/read-row.ts";
import { addCost } from "../../sql/sums.ts";
import type { Row } from "../../sql/tables.ts";
import { eventWrites } from "../event-rows.ts";
import { tokensMax } from "../repair-ledger.ts";
import { branchRow, checkName } from "../sessions/write-session.ts";
import { busyWith, triesMax, type Store } from "../store.ts";
import { checkCost } from "../turns/append-call.ts";
import { eventsOf } from "./gateway-events.ts";
import { addKeySpending } from "./key-spending.ts";
import { blockRows, conversationRow, gatewayRow, modelOf } from "./gateway-rows.ts";

/** A call that cannot be stored does not keep the others out. One that is stored already stays as it is. */
export async function recordCalls(
  store: Store,
  calls: readonly GatewayCall[],
): Promise<RecordedCalls> {
  const checked = new Map<string, CheckedCall>();
  const refused: RefusedCall[] = [];
  let twice = 0;
  for (const given of calls) {
    const call = withTrueCounts(given);
    const reason = problemOf(call);
    if (reason !== null) refused.push({ id: call.id, reason });
    else if (checked.has(nameOf(call.conversation.id, call.id))) twice += 1;
    else checked.set(nameOf(call.conversation.id, call.id), { call, row: gatewayRow(call) });
  }
  for (let tries = 1; tries <= triesMax; tries += 1) {
    const batch = await planBatch(store, [...checked.values()]);
    const result = batch.isEmpty ? null : await store.database.commit(batch.commit);
    if (result === null || result.kind === "done") {
      const { recordedCount, repeatedCount } = batch;
      const again = repeatedCount + twice;
      return { recordedCount, repeatedCount: again, refused: [...refused, ...batch.refused] };
    }
    // Another node opened one of the conversations or stored a call, or a conversation was deleted. Reads again.
  }
  throw busyWith(calls[0]?.conversation.id ?? "");
}

interface CheckedCall {
  readonly call: GatewayCall;
  readonly row: Row;
}

type RefusedCall = RecordedCalls["refused"][number];

function nameOf(conversationId: string, id: string): string {
  return `${conversationId}\n${id}`;
}

/** Counts of a provider that cannot be true are no usage: the call has no cost then, and says why. */
function withTrueCounts(call: GatewayCall): GatewayCall {
  if (call.usage === null) return call;
  const { cacheWriteTokens, ...rest } = call.usage;
  const counts = [...Object.values(rest), ...Object.values(cacheWriteTokens)];
  if (counts.every((count) => isCount(count) && count <= tokensMax)) return call;
  const note = `the reported usage cannot be true: ${counts.join(", ")}`;
  const costs = { costPicoUsd: null, clientCostPicoUsd: null, plainCostPicoUsd: null };
  return { ...call, usage: null, ...costs, notes: [...call.notes, note] };
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

/** Why no ledger can take it. Null if it can. */
function problemOf(call: GatewayCall): string | null {
  const { conversation, firstByteMs, addedBlocks, markers } = call;
  const counts = {
    startMs: call.startMs,
    firstByteMs: firstByteMs ?? 0,
    endMs: call.endMs,
    keptBlocks: call.keptBlocks,
    requestBytes: call.requestBytes,
    responseBytes: call.responseBytes,
    "number in its conversation": conversation.callNumber - 1,
    "tokens of a block": addedBlocks.find(({ tokens }) => !isCount(tokens))?.tokens ?? 0,
    "block of a marker": markers.find(({ block }) => !isCount(block))?.block ?? 0,
  };
  for (const [name, count] of Object.entries(counts)) {
    if (!isCount(count)) return `its ${name} is ${count}`;
  }
  try {
    checkName(call.id, "call");
    checkName(conversation.id);
    if (conversation.parentId !== null) checkName(conversation.parentId);
    for (const cost of [call.costPicoUsd, call.clientCostPicoUsd, call.plainCostPicoUsd]) {
      checkCost(`call ${call.id}`, cost ?? null);
    }
    return null;
  } catch (error) {
    return messageOf(error);
  }
}

interface Batch extends RecordedCalls {
  readonly isEmpty: boolean;
  readonly commit: Commit;
}

async function planBatch(store: Store, checked: readonly CheckedCall[]): Promise<Batch> {
  const conversationIds = new Set(checked.map(({ call }) => call.conversation.id));
  const parentIds = checked.flatMap(({ call }) => call.conversation.parentId ?? []);
  const origins = await readOrigins(store, [...new Set([...conversationIds, ...parentIds])]);
  const stored = await readStored(store, checked);
  const refused: RefusedCall[] = [];
  const fresh: CheckedCall[] = [];
  let repeatedCount = 0;
  for (const each of checked) {
    const { conversation, id } = each.call;
    const hash = stored.get(nameOf(conversation.id, id));
    if (hash !== undefined && hash === each.row["entry_hash"]) repeatedCount += 1;
    else if (hash !== undefined) refused.push({ id, reason: taken(conversation.id) });
    else if (origins.get(conversation.id) === "engine") {
      refused.push({ id, reason: `session ${conversation.id} is one of our own` });
    } else fresh.push(each);
  }
  const recordedCount = fresh.length;
  const commit = toCommit(store, fresh, origins);
  return { isEmpty: recordedCount === 0, recordedCount, repeatedCount, refused, commit };
}

function taken(conversationId: string): string {
  return `conversation ${conversationId} already has a different call of this name`;
}

async function readOrigins(
  { database }: Store,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const places = ids.map(() => "?").join(", ");
  const sql = `SELECT id, origin FROM sessions WHERE id IN (${places})`;
  const rows = await database.query(sql, ids);
  return new Map(rows.map((row) => [text(row, "id"), text(row, "origin")]));
}

async function readStored(
  { database }: Store,
  checked: readonly CheckedCall[],
): Promise<ReadonlyMap<string, string>> {
  if (checked.length === 0) return new Map();
  const places = checked.map(() => "(?, ?)").join(", ");
  // One search per call: with two lists, SQLite would search for every session with every call.
  const rows = await database.query(
    `WITH asked (session_id, id) AS (VALUES ${places}) SELECT calls.session_id, calls.id, calls.entry_hash FROM asked JOIN calls ON calls.session_id = asked.session_id AND calls.id = asked.id WHERE calls.turn_id IS NULL`,
    checked.flatMap(({ call }) => [call.conversation.id, call.id]),
  );
  return new Map(
    rows.map((row) => [nameOf(text(row, "session_id"), text(row, "id")), text(row, "entry_hash")]),
  );
}

function toCommit(
  store: Store,
  fresh: readonly CheckedCall[],
  origins: ReadonlyMap<string, string>,
): Commit {
  const byConversation = Map.groupBy(fresh, ({ call }) => call.conversation.id);
  // In one order, so that two nodes do not wait for each other.
  const ids = [...byConversation.keys()].toSorted();
  const known: Guard[] = [];
  const opened: Opened[] = [];
  for (const id of ids) {
    const calls = (byConversation.get(id) ?? []).map(({ call }) => call);
    if (origins.has(id)) known.push(addToConversation(id, calls));
    else opened.push(openConversation(store, calls));
  }
  return {
    inOrder: true,
    guards: known,
    writes: [
      { into: "branches", rows: opened.map(({ branch }) => branch) },
      { into: "sessions", rows: opened.map(({ session }) => session) },
      { into: "session_history", rows: opened.map(({ move }) => move) },
      ...claimParents(fresh, origins),
      { into: "calls", rows: fresh.map(({ row }) => row) },
      { into: "conversation_blocks", rows: fresh.flatMap(({ call }) => blockRows(call)) },
      ...addKeySpending(fresh.map(({ call }) => call)),
      ...eventWrites(fresh.flatMap(({ call }) => eventsOf(store, call))),
    ],
    landed: () => allRecorded(fresh),
  };
}

/** Asks whether the whole batch is stored, by this commit or by others. */
function allRecorded(fresh: readonly CheckedCall[]): Statement {
  const places = fresh.map(() => "(?, ?, ?)").join(", ");
  return {
    sql: `SELECT 1 AS landed FROM (SELECT COUNT(*) AS kept FROM calls WHERE turn_id IS NULL AND (session_id, id, entry_hash) IN (VALUES ${places})) stored WHERE kept = ?`,
    values: [
      ...fresh.flatMap(({ row }) => [row["session_id"], row["id"], row["entry_hash"]]),
      fresh.length,
    ].map((value) => value ?? null),
  };
}

/** Its model is that of its latest call. */
function addToConversation(id: string, calls: readonly GatewayCall[]): Guard {
  const last = latestOf(calls);
  const [cost, endMs] = [costOf(calls), latestEnd(calls)];
  return {
    name: "conversation",
    sql: `UPDATE sessions SET ${addCost}, model = ?, provider = ?, updated_ms = CASE WHEN updated_ms < ? THEN ? ELSE updated_ms END WHERE id = ? AND origin = 'gateway'`,
    values: [cost, cost, modelOf(last), last.provider, endMs, endMs, id],
  };
}

interface Opened {
  readonly branch: Row;
  readonly session: Row;
  readonly move: Row;
}

function openConversation(store: Store, calls: readonly GatewayCall[]): Opened {
  const first = calls.reduce((one, other) => (other.startMs < one.startMs ? other : one));
  const last = latestOf(calls);
  const row = conversationRow(first);
  const branchId = store.newBranchId();
  const session = {
    ...row,
    model: modelOf(last),
    provider: last.provider,
    branch_id: branchId,
    cost_pico_usd: costOf(calls),
    updated_ms: latestEnd(calls),
  };
  const move = {
    session_id: row["id"] ?? null,
    move: 1,
    turn_id: null,
    branch_id: branchId,
    moved_ms: first.startMs,
    reason: "opened",
  };
  return { branch: branchRow(branchId, null), session, move };
}

function latestOf(calls: readonly GatewayCall[]): GatewayCall {
  return calls.reduce((one, other) => (other.startMs > one.startMs ? other : one));
}

function latestEnd(calls: readonly GatewayCall[]): number {
  return Math.max(...calls.map(({ endMs }) => endMs));
}

function costOf(calls: readonly GatewayCall[]): bigint {
  return calls.reduce((sum, { costPicoUsd }) => sum + (costPicoUsd ?? 0n), 0n);
}

/** Who deletes a parent meanwhile sees that it has a new sub-agent. */
function claimParents(
  fresh: readonly CheckedCall[],
  origins: ReadonlyMap<string, string>,
): readonly Write[] {
  const parents = fresh.flatMap(({ call: { conversation } }) =>
    origins.has(conversation.id) ? [] : (conversation.parentId ?? []),
  );
  return [...new Set(parents)]
    .filter((id) => origins.has(id))
    .toSorted()
    .map((id) => ({
      sql: "UPDATE sessions SET version = version + 1 WHERE id = ?",
      values: [id],
    }));
}
