// SQL for each group of rows. A question's text reaches SQL only as one of these names.
import type { ResultRow } from "../edge/stores/sql/database.ts";
import { toIso, type TimeWindow } from "./time-window.ts";
import type { Label, LedgerSnapshot, Question } from "./analysis.ts";

/** Groups of calls; the first is the default. */
export const callGroups = [
  "model",
  "provider",
  "session",
  "agent",
  "parent_session",
  "is_worker",
  "gateway_key",
  "user",
  "team",
  "day",
  "hour",
  "none",
] as const;

type GroupName = (typeof callGroups)[number];

export interface GroupKey {
  /** Expression over `calls c`, and its session `s` if `usesSession`. */
  readonly calls: string;
  /** Expression over `compactions_v1 f`, and its session `s` if `usesSession`. */
  readonly compactions: string;
  readonly usesSession?: true;
  readonly toLabel?: (value: unknown) => Label;
}

const dayMs = 86_400_000;
const hourMs = 3_600_000;

const isWorkerSql = "CASE WHEN s.role IS NULL THEN NULL WHEN s.role = 'worker' THEN 1 ELSE 0 END";

/** Compactions are ours: they pass through no gateway. */
const noName = "CAST(NULL AS TEXT)";

const keys: Readonly<Record<GroupName, GroupKey>> = {
  model: { calls: "c.model", compactions: "f.model_used" },
  provider: { calls: "c.provider", compactions: "f.provider" },
  session: { calls: "c.session_id", compactions: "f.session_id" },
  agent: { calls: "s.agent", compactions: "s.agent", usesSession: true },
  parent_session: {
    calls: "s.parent_session_id",
    compactions: "s.parent_session_id",
    usesSession: true,
  },
  is_worker: {
    calls: isWorkerSql,
    compactions: isWorkerSql,
    usesSession: true,
    toLabel: (value) => (typeof value === "number" ? value === 1 : null),
  },
  gateway_key: { calls: "c.gateway_key", compactions: noName },
  user: { calls: "c.user_name", compactions: noName },
  team: { calls: "c.team_name", compactions: noName },
  day: {
    calls: `c.started_ms / ${dayMs}`,
    compactions: `f.compacted_at / ${dayMs}`,
    toLabel: (value) => toDayLabel(Number(value) * dayMs),
  },
  hour: {
    calls: `c.started_ms / ${hourMs}`,
    compactions: `f.compacted_at / ${hourMs}`,
    toLabel: (value) => toHourLabel(Number(value) * hourMs),
  },
  none: { calls: "CAST('all' AS TEXT)", compactions: "CAST('all' AS TEXT)" },
};

export function keyOf(groupBy: string): GroupKey {
  return isGroup(groupBy) ? keys[groupBy] : keys.none;
}

function isGroup(name: string): name is GroupName {
  return Object.hasOwn(keys, name);
}

/** `FROM calls c … WHERE` with two placeholders for the ends of the window. */
export function fromCalls({ usesSession }: GroupKey): string {
  return `FROM calls c${usesSession === true ? " LEFT JOIN sessions s ON s.id = c.session_id" : ""} WHERE c.started_ms >= ? AND c.started_ms < ?`;
}

export function fromCompactions({ usesSession }: GroupKey): string {
  return `FROM compactions_v1 f${usesSession === true ? " LEFT JOIN sessions s ON s.id = f.session_id" : ""} WHERE f.compacted_at >= ? AND f.compacted_at < ?`;
}

/** The group of `turns t`, which have the columns of calls for every group that asks for them. */
export function ofTurns({ calls }: GroupKey): string {
  return calls.replaceAll("c.", "t.");
}

export function endsOf({ startMs, endMs }: TimeWindow): readonly [number, number] {
  return [startMs, endMs];
}

/** The label in the column `grp`; null for rows of deleted sessions. */
export function labelOf({ grp }: ResultRow, key: GroupKey): Label {
  if (key.toLabel !== undefined) return key.toLabel(grp);
  return typeof grp === "string" && grp !== "" ? grp : null;
}

/** Each row with the label in its column `grp`. The placeholders of the SQL are the ends of the window. */
export async function readByGroup(
  { query }: LedgerSnapshot,
  { groupBy, window }: Question,
  sql: (key: GroupKey) => string,
): Promise<readonly (readonly [Label, ResultRow])[]> {
  const key = keyOf(groupBy);
  const rows = await query(sql(key), endsOf(window));
  return rows.map((row) => [labelOf(row, key), row]);
}

export function toDayLabel(ms: number): string {
  return toIso(ms).slice(0, 10);
}

export function toHourLabel(ms: number): string {
  return `${toIso(ms).slice(0, 13)}:00Z`;
}
