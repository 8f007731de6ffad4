// The states of conversations that several gateways share: written after each call, found by what a request begins with.
import {
  conversationsMax,
  prefixKeysMax,
  threadsMax,
  type ConversationState,
  type StateQuestion,
  type SweptStates,
} from "../../../../core/ledger/conversation-state.ts";
import type { ResultRow, Statement } from "../../sql/database.ts";
import { integer, text, textOrNull } from "../../sql/read-row.ts";
import { storable, storableJson } from "../../sql/storable.ts";
import { columnNames, type Row, type Value } from "../../sql/tables.ts";
import { mayRepeat, type Store } from "../store.ts";

const table = "conversation_states";

/** A conversation keeps the states of its latest calls, for requests that go back by a few. */
const numbersKept = 4;

/**
 * If two states have the same prompt, the one that ended later stays; states of different prompts stand beside each other. So
 * the order in which several nodes write does not matter.
 */
export async function keepStates(
  { database }: Store,
  states: readonly ConversationState[],
): Promise<void> {
  if (states.length === 0) return;
  // In one order, so that two nodes do not wait for each other.
  const rows = states.map(toRow).toSorted((left, right) => (nameOf(left) < nameOf(right) ? -1 : 1));
  const latest = new Map<string, number>();
  for (const { conversationId, callNumber } of states) {
    latest.set(conversationId, Math.max(callNumber, latest.get(conversationId) ?? 0));
  }
  await database.commit({
    inOrder: true,
    guards: [],
    writes: [
      ...rows.map(keep),
      ...[...latest].map(([id, number]) => ({
        sql: `DELETE FROM ${table} WHERE conversation_id = ? AND call_number <= ?`,
        values: [id, number - numbersKept],
      })),
    ],
    landed: mayRepeat,
  });
}

const key = ["conversation_id", "prefix_key"];

function keep(row: Row): Statement {
  const names = columnNames(table);
  const places = names.map(() => "?").join(", ");
  const set = names
    .filter((name) => !key.includes(name))
    .map((name) => `${name} = excluded.${name}`)
    .join(", ");
  return {
    sql: `INSERT INTO ${table} (${names.join(", ")}) VALUES (${places}) ON CONFLICT (${key.join(", ")}) DO UPDATE SET ${set} WHERE ${table}.ended_ms <= excluded.ended_ms`,
    values: names.map((name) => row[name] ?? null),
  };
}

function nameOf(row: Row): string {
  return `${String(row["conversation_id"])}\n${String(row["prefix_key"])}`;
}

/** In one query over indexes. The latest first; each once. */
export async function findStates(
  { database }: Store,
  question: StateQuestion,
): Promise<readonly ConversationState[]> {
  const asked = searches(question);
  const signs = asked.map(({ sql: each }) => `SELECT * FROM (${each}) AS found`).join(" UNION ");
  const columns = columnNames(table).map((name) => `state.${name}`);
  const same = key.map((name) => `state.${name} = found.${name}`);
  // A state that has several of the signs is read once. CROSS keeps SQLite from reading all states to find these.
  const rows = await database.query(
    `SELECT ${columns.join(", ")} FROM (${signs}) AS found CROSS JOIN ${table} AS state WHERE ${same.join(" AND ")}`,
    asked.flatMap(({ values }) => values),
  );
  const found = new Map<string, ConversationState>();
  for (const state of rows.map(toState)) {
    if (state.tenant === storable(question.tenant)) {
      found.set(`${state.conversationId}\n${state.prefixKey}`, state);
    }
  }
  return [...found.values()].toSorted((left, right) => right.endedMs - left.endedMs);
}

/** A statement for each kind of sign, always with the same number of places, so that few are prepared. */
function searches(question: StateQuestion): readonly Statement[] {
  const tenant = storable(question.tenant);
  const search = (column: string, signs: readonly string[], places: number): Statement[] => {
    if (signs.length === 0) return [];
    const given: readonly Value[] = signs.slice(0, places).map(storable);
    const padding = Array.from({ length: places - given.length }, () => given[0] ?? null);
    const list = Array.from({ length: places }, () => "?").join(", ");
    return [
      {
        sql: `SELECT ${key.join(", ")} FROM ${table} WHERE tenant = ? AND ${column} IN (${list}) ORDER BY ended_ms DESC LIMIT ${foundMax}`,
        values: [tenant, ...given, ...padding],
      },
    ];
  };
  const { prefixKeys, openingKey, headKey, threads, replyId, conversationIds } = question;
  const all = [
    ...search("prefix_key", prefixKeys, prefixKeysMax),
    ...search("opening_key", one(openingKey), 1),
    ...search("head_key", one(headKey), 1),
    ...search("thread", threads, threadsMax),
    ...search("reply_id", one(replyId), 1),
    ...search("conversation_id", conversationIds, conversationsMax),
  ];
  const nothing = `SELECT ${key.join(", ")} FROM ${table} WHERE 1 = 0`;
  return all.length > 0 ? all : [{ sql: nothing, values: [] }];
}

/** States looked up for each kind of sign. */
const foundMax = 16;

function one(sign: string | null): readonly string[] {
  return sign === null ? [] : [sign];
}

/** Deletes what ended before, some thousands at most. */
export async function sweepStates({ database }: Store, beforeMs: number): Promise<SweptStates> {
  const old = `SELECT conversation_id FROM ${table} WHERE ended_ms < ? ORDER BY ended_ms LIMIT 5000`;
  const count = async (sql: string, values: readonly Value[]): Promise<number> => {
    const [row] = await database.query(`SELECT COUNT(*) AS count FROM ${sql}`, values);
    return row === undefined ? 0 : integer(row, "count");
  };
  const sweptCount = await count(`(${old}) AS old`, [beforeMs]);
  if (sweptCount > 0) {
    await database.commit({
      guards: [],
      writes: [
        {
          sql: `DELETE FROM ${table} WHERE ended_ms < ? AND conversation_id IN (${old})`,
          values: [beforeMs, beforeMs],
        },
      ],
      landed: mayRepeat,
    });
  }
  return { sweptCount, keptCount: await count(table, []) };
}

function toRow(state: ConversationState): Row {
  return {
    conversation_id: storable(state.conversationId),
    prefix_key: state.prefixKey,
    tenant: storable(state.tenant),
    call_number: state.callNumber,
    ended_ms: state.endedMs,
    opening_key: state.openingKey,
    head_key: state.headKey,
    thread: state.thread === null ? null : storable(state.thread),
    reply_id: state.replyId === null ? null : storable(state.replyId),
    state_json: storableJson(state.stateJson),
  };
}

function toState(row: ResultRow): ConversationState {
  return {
    conversationId: text(row, "conversation_id"),
    tenant: text(row, "tenant"),
    prefixKey: text(row, "prefix_key"),
    callNumber: integer(row, "call_number"),
    endedMs: integer(row, "ended_ms"),
    openingKey: textOrNull(row, "opening_key"),
    headKey: textOrNull(row, "head_key"),
    thread: textOrNull(row, "thread"),
    replyId: textOrNull(row, "reply_id"),
    stateJson: text(row, "state_json"),
  };
}
