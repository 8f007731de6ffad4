// What providers keep for sessions: recorded before it is made, changed step by step, listed until it is gone.
import {
  resourceKinds,
  resourceStates,
  type NewResource,
  type ResourceChange,
  type ResourceFilter,
  type ResourceRecord,
} from "../../../core/ledger/resource-record.ts";
import type { Ledger } from "../../../core/ledger/ledger.ts";
import { withMoneyAsText } from "../../../core/models/pico-usd.ts";
import type { Guard, ResultRow } from "../sql/database.ts";
import { integer, integerOrNull, moneyOrNull, oneOf, text, textOrNull } from "../sql/read-row.ts";
import { storable } from "../sql/storable.ts";
import { selected, type Value } from "../sql/tables.ts";
import { isHolderGone } from "./lease-holder.ts";
import { checkLoneCall, payingSession } from "./lone-calls.ts";
import { checkName } from "./sessions/write-session.ts";
import { commitOnce, conflict, landedRow, notFound, type Store } from "./store.ts";
import { loneCallRow } from "./turns/call-rows.ts";
import { checkCost } from "./turns/append-call.ts";

export function resourcesOf(
  store: Store,
): Pick<Ledger, "addResource" | "changeResource" | "listResources"> {
  return {
    addResource: (resource) => addResource(store, resource),
    changeResource: (id, change) => changeResource(store, id, change),
    listResources: (filter) => listResources(store, filter),
  };
}

async function addResource(store: Store, resource: NewResource): Promise<void> {
  const { id, sessionId, kind, provider, model, tokens, createdMs, expiresMs } = resource;
  checkName(id, "provider resource");
  const row = {
    id,
    session_id: sessionId,
    kind,
    provider: storable(provider),
    model: storable(model),
    lifecycle: "creating",
    holder: store.newHolder(),
    remote_name: null,
    tokens,
    created_ms: createdMs,
    expires_ms: expiresMs,
    gone_ms: null,
    cost_pico_usd: null,
  };
  const { holder } = row;
  const result = await commitOnce(store, {
    guards: [
      { name: "session", sql: "SELECT 1 AS there FROM sessions WHERE id = ?", values: [sessionId] },
    ],
    writes: [{ into: "provider_resources", rows: [row] }],
    landed: () => landedRow("provider_resources", { id, holder }),
  });
  if (result.kind === "done") return;
  if (result.kind === "refused") throw notFound(`session ${sessionId}`);
  throw conflict(
    `there is already a provider resource ${id}`,
    "give every resource its own id, and record it once",
  );
}

async function changeResource(store: Store, id: string, change: ResourceChange): Promise<boolean> {
  const { call, costPicoUsd } = change;
  checkCost(`provider resource ${id}`, costPicoUsd ?? null);
  if (call !== undefined) checkLoneCall(call);
  const row = call && loneCallRow(call);
  const { set, values } = toAssignments(change);
  const changing: Guard = {
    name: "resource",
    sql: `UPDATE provider_resources SET ${set} WHERE id = ? AND lifecycle <> 'gone'`,
    values: [...values, id],
  };
  const isOpen: Guard = {
    name: "resource",
    sql: "SELECT 1 AS open FROM provider_resources WHERE id = ? AND lifecycle <> 'gone'",
    values: [id],
  };
  const result = await commitOnce(store, {
    guards: call === undefined ? [changing] : [isOpen, payingSession(call)],
    writes: row === undefined ? [] : [{ into: "calls", rows: [row] }, changing],
    landed: () => ({
      sql: `SELECT 1 AS landed FROM provider_resources WHERE id = ? AND lifecycle = ?${row === undefined ? "" : " AND EXISTS (SELECT 1 FROM calls c WHERE c.session_id = ? AND c.id = ? AND c.entry_hash = ?)"}`,
      values: [
        id,
        change.state,
        ...(row === undefined
          ? []
          : [row["session_id"] ?? null, row["id"] ?? null, row["entry_hash"] ?? null]),
      ],
    }),
  });
  if (result.kind === "done") return true;
  if (result.kind === "refused" && result.guard === "session") {
    throw notFound(`session ${call?.sessionId ?? ""}`);
  }
  if (result.kind === "refused") return false;
  throw conflict(
    `session ${call?.sessionId ?? ""} already has a different call ${call?.id ?? ""}`,
    "give every call its own id, and record it once",
  );
}

function toAssignments(change: ResourceChange): {
  readonly set: string;
  readonly values: readonly Value[];
} {
  const { state, name, tokens, createdMs, expiresMs, endedMs, costPicoUsd } = change;
  const given: readonly (readonly [string, Value | undefined])[] = [
    ["lifecycle", state],
    ["remote_name", typeof name === "string" ? storable(name) : name],
    ["tokens", tokens],
    ["created_ms", createdMs],
    ["expires_ms", expiresMs],
    ["gone_ms", endedMs],
    ["cost_pico_usd", costPicoUsd],
  ];
  const set = given.flatMap(([column, value]) => (value === undefined ? [] : [{ column, value }]));
  return {
    set: set.map(({ column }) => `${column} = ?`).join(", "),
    values: set.map(({ value }) => value),
  };
}

async function listResources(
  { database }: Store,
  { sessionId, withGone = false }: ResourceFilter = {},
): Promise<readonly ResourceRecord[]> {
  const conditions = [
    ...(withGone ? [] : ["lifecycle <> 'gone'"]),
    ...(sessionId === undefined ? [] : ["session_id = ?"]),
  ];
  const where = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;
  const rows = await database.query(
    `SELECT ${selected("provider_resources")} FROM provider_resources ${where} ORDER BY created_ms, id`,
    sessionId === undefined ? [] : [sessionId],
  );
  return rows.map(toResource);
}

/** A resource of a session that was deleted names none. */
export function toResource(row: ResultRow): ResourceRecord {
  const sessionId = text(row, "session_id");
  return withMoneyAsText({
    id: text(row, "id"),
    sessionId,
    kind: oneOf(row, "kind", resourceKinds),
    provider: text(row, "provider"),
    model: text(row, "model"),
    state: oneOf(row, "lifecycle", resourceStates),
    name: textOrNull(row, "remote_name"),
    tokens: integer(row, "tokens"),
    createdMs: integer(row, "created_ms"),
    expiresMs: integer(row, "expires_ms"),
    endedMs: integerOrNull(row, "gone_ms"),
    costPicoUsd: moneyOrNull(row, "cost_pico_usd"),
    isLeft: sessionId === "" || isHolderGone(text(row, "holder")),
  });
}
