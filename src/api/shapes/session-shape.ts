// A session or conversation as the API shows it: to its owner, and to a key of the gateway by that key's own calls.
import { toUsdText } from "../../analytics/figures.ts";
import { toIso } from "../../analytics/time-window.ts";
import type { SessionRecord } from "../../core/ledger/session-record.ts";
import type { Snapshot } from "../../edge/stores/sql/database.ts";
import { integer, text as textOf } from "../../edge/stores/sql/read-row.ts";
import { moneyOf, moneySums } from "../../edge/stores/sql/sums.ts";
import type { Access } from "../access/access.ts";
import { count, moment, oneOf, orNull, text, usd, type Schema } from "../routes/schema.ts";
import { toConversationFacts } from "./call-shape.ts";

export const sessionMembers: Readonly<Record<string, Schema>> = {
  session: text("its name"),
  origin: oneOf(["engine", "gateway"], "one of our own, or a conversation that the gateway saw"),
  agent: text("the agent, or the program of the conversation"),
  kind: text("of a conversation: conversation, sub-agent, title, summary, single; else its role"),
  client_session: orNull(text("the program's own name for it")),
  model: text("of its latest call"),
  provider: text("of that model"),
  parent_session: orNull(text("the session that started it")),
  task: orNull(text("of a sub-agent")),
  workspace: orNull(text("its folder")),
  status: oneOf(["active", "archived"], "archived sessions take no turns"),
  turn_count: count("completed turns"),
  cost_usd: usd("all its calls"),
  created_at: moment("in UTC"),
  updated_at: moment("in UTC; lists are in its order, latest first"),
};

function toSession(record: SessionRecord): Readonly<Record<string, unknown>> {
  const { kind, clientSession } = toConversationFacts(record.contextJson);
  return {
    session: record.id,
    origin: record.origin,
    agent: record.agent,
    kind: typeof kind === "string" ? kind : record.role,
    client_session: typeof clientSession === "string" ? clientSession : null,
    model: record.model,
    provider: record.provider,
    parent_session: record.parent?.sessionId ?? null,
    task: record.task,
    workspace: record.workspacePath,
    status: record.status,
    turn_count: record.turnCount,
    cost_usd: toUsdText(record.costPicoUsd),
    created_at: toIso(record.createdMs),
    updated_at: toIso(record.updatedMs),
  };
}

/** A key sees what its own calls say of a session, and the name of a parent only if it called there, too. */
export async function toSessions(
  query: Snapshot["query"],
  records: readonly SessionRecord[],
  access: Access,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  if (access.kind === "owner" || records.length === 0) return records.map(toSession);
  const named = records.flatMap(({ id, parent }) =>
    parent === null ? [id] : [id, parent.sessionId],
  );
  const ids = [...new Set(named)];
  const ofKey = `FROM calls c WHERE c.gateway_key = ? AND c.session_id IN (${ids.map(() => "?").join(", ")})`;
  const values = [access.name, ...ids];
  const sums = await query(
    `SELECT c.session_id, MIN(c.started_ms) AS first_ms, MAX(c.ended_ms) AS last_ms, ${moneySums("c.cost_pico_usd", "cost")} ${ofKey} GROUP BY c.session_id`,
    values,
  );
  const latest = await query(
    `SELECT session_id, model, provider FROM (
      SELECT c.session_id, c.model, c.provider, ROW_NUMBER() OVER (PARTITION BY c.session_id ORDER BY c.started_ms DESC, c.number DESC) AS back ${ofKey}
    ) AS known WHERE back = 1`,
    values,
  );
  const sumOf = new Map(sums.map((row) => [textOf(row, "session_id"), row]));
  const latestOf = new Map(latest.map((row) => [textOf(row, "session_id"), row]));
  return records.flatMap((record) => {
    const { id, parent } = record;
    const [sum, last] = [sumOf.get(id), latestOf.get(id)];
    if (sum === undefined || last === undefined) return [];
    const own = {
      model: textOf(last, "model"),
      provider: textOf(last, "provider"),
      parent_session: parent !== null && sumOf.has(parent.sessionId) ? parent.sessionId : null,
      turn_count: 0,
      cost_usd: toUsdText(moneyOf(sum, "cost")),
      created_at: toIso(integer(sum, "first_ms")),
      updated_at: toIso(integer(sum, "last_ms")),
    };
    return [{ ...toSession(record), ...own }];
  });
}
