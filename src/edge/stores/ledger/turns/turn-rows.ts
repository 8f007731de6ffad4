// Converts turn rows to records and back.
import { hashContent } from "../../../../core/hash.ts";
import {
  turnStatuses,
  type LeftInTurn,
  type NewTurn,
  type ToolCallRecord,
  type TurnRecord,
} from "../../../../core/ledger/turn-record.ts";
import { agentRoles } from "../../../../core/message/assembled-context.ts";
import { isCount, isObject } from "../../../../core/message/fields.ts";
import { noUsage } from "../../../../core/message/usage.ts";
import type { ResultRow } from "../../sql/database.ts";
import {
  integer,
  integerOrNull,
  moneyOrNull,
  oneOf,
  readAs,
  text,
  textOrNull,
} from "../../sql/read-row.ts";
import { storable, storableJson, storableOrNull } from "../../sql/storable.ts";
import { moneyOf } from "../../sql/sums.ts";
import type { Row } from "../../sql/tables.ts";
import { toUsage, writeColumns } from "./call-rows.ts";

/** A turn's branch and its place in it. */
export interface TurnPlace {
  readonly branchId: number;
  readonly seq: number;
}

export function newTurnRow(turn: NewTurn, { branchId, seq }: TurnPlace): Row {
  const { toolset } = turn;
  return {
    id: turn.id,
    branch_id: branchId,
    seq,
    parent_turn_id: turn.parentTurnId,
    turn_type: "normal",
    status: "pending",
    end_reason: null,
    model: storable(turn.model),
    provider: storable(turn.provider),
    role: turn.role,
    toolset_name: storableOrNull(toolset?.name),
    tools_available: toolset === undefined ? null : JSON.stringify(toolset.tools),
    permissions_granted: toolset === undefined ? null : JSON.stringify(toolset.permissionsGranted),
    permissions_used: null,
    started_ms: turn.startMs,
    completed_ms: null,
    source_event_id: storableOrNull(turn.sourceEventId),
    workspace_path: storableOrNull(turn.workspacePath),
    foundation_hash: turn.foundation === undefined ? null : hashContent(turn.foundation),
    setup_json: storableJson(turn.setupJson),
    switches_json: null,
  };
}

/** Columns of `turns t` joined with `callSums` as s. */
export const turnColumns: string = `t.id, t.branch_id, t.seq, t.parent_turn_id, t.turn_type, t.status, t.end_reason, t.model,
  t.provider, t.role, t.toolset_name, t.tools_available, t.permissions_granted, t.permissions_used, t.started_ms,
  t.completed_ms, t.source_event_id, t.workspace_path, t.switches_json,
  (SELECT COUNT(*) FROM tool_calls u WHERE u.turn_id = t.id) AS tool_call_count,
  s.call_count,
  s.cost_0, s.cost_1, (SELECT CAST(f.cost_pico_usd AS TEXT) FROM compactions_v1 f WHERE f.turn_id = t.id) AS compaction_cost,
  s.uncached_tokens, s.read_tokens,
  ${Object.values(writeColumns)
    .map((column) => `s.${column}`)
    .join(", ")}, s.output_tokens, s.reasoning_tokens`;

const turnTypes = ["normal", "compaction"] as const;

export function toTurnRecord(row: ResultRow): TurnRecord {
  const toolsetName = textOrNull(row, "toolset_name");
  return {
    id: text(row, "id"),
    parentTurnId: textOrNull(row, "parent_turn_id"),
    type: oneOf(row, "turn_type", turnTypes),
    status: oneOf(row, "status", turnStatuses),
    endReason: textOrNull(row, "end_reason"),
    model: text(row, "model"),
    provider: text(row, "provider"),
    switches: toSwitches(row),
    role: oneOf(row, "role", agentRoles),
    toolset:
      toolsetName === null
        ? null
        : {
            name: toolsetName,
            tools: toTexts(row, "tools_available"),
            permissionsGranted: toTexts(row, "permissions_granted"),
          },
    permissionsUsed: toTexts(row, "permissions_used"),
    startMs: integer(row, "started_ms"),
    endMs: integerOrNull(row, "completed_ms"),
    callCount: integerOrNull(row, "call_count") ?? 0,
    toolCallCount: integer(row, "tool_call_count"),
    usage: row["uncached_tokens"] === null ? noUsage : toUsage(row),
    costPicoUsd: moneyOf(row, "cost") + (moneyOrNull(row, "compaction_cost") ?? 0n),
    sourceEventId: textOrNull(row, "source_event_id"),
    workspacePath: textOrNull(row, "workspace_path"),
  };
}

function toTexts(row: ResultRow, column: string): readonly string[] {
  if (row[column] === null) return [];
  const value: unknown = readAs(row, column, JSON.parse);
  return Array.isArray(value) ? value.map(String) : [];
}

/** The models that a turn left. Null in the column for a turn with one model. */
export function toSwitches(row: ResultRow): readonly LeftInTurn[] {
  if (row["switches_json"] === null || row["switches_json"] === undefined) return [];
  const value: unknown = readAs(row, "switches_json", JSON.parse);
  return Array.isArray(value) ? value.filter(isSwitch) : [];
}

function isSwitch(value: unknown): value is LeftInTurn {
  if (!isObject(value)) return false;
  const { through, model, provider, name } = value;
  return isCount(through) && [model, provider, name].every((each) => typeof each === "string");
}

const toolStatuses = ["pending", "succeeded", "failed", "cancelled"] as const;

/** A row of `tool_calls`, without what its links lead to. */
export function toToolCall(row: ResultRow): ToolCallRecord {
  return {
    turnId: text(row, "turn_id"),
    toolUseId: text(row, "tool_use_id"),
    name: text(row, "name"),
    callNumber: integer(row, "call_number"),
    status: oneOf(row, "status", toolStatuses),
    position: integerOrNull(row, "position"),
    inputJson: null,
    messageId: null,
    resultMessageId: null,
    startMs: integerOrNull(row, "started_ms"),
    endMs: integerOrNull(row, "completed_ms"),
    spawnedSessionId: null,
  };
}
