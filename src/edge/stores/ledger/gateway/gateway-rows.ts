// Converts calls that the gateway saw to rows and back: the call, its session, its blocks.
import { promptRoles } from "../../../../core/assembly/prompt-block.ts";
import { policyNames } from "../../../../core/cache/policy.ts";
import type { CallRecord, LoneCall } from "../../../../core/ledger/call-entry.ts";
import {
  arms,
  conversationKinds,
  type Conversation,
  type ConversationBlock,
  type GatewayCall,
  type MarkedBy,
} from "../../../../core/ledger/gateway-call.ts";
import {
  fromGatewayText,
  fromMarkersText,
  toGatewayText,
  toMarkersText,
} from "../../../../core/ledger/gateway-text.ts";
import { fieldsOf, textIn } from "../../../../core/message/fields.ts";
import { carriers } from "../../../../core/models/marker-rules.ts";
import { withMoneyAsText } from "../../../../core/models/pico-usd.ts";
import { tiers } from "../../../../core/tokens/budget.ts";
import type { ResultRow } from "../../sql/database.ts";
import * as column from "../../sql/read-row.ts";
import { storable } from "../../sql/storable.ts";
import type { Row } from "../../sql/tables.ts";
import { newSessionRow } from "../sessions/session-rows.ts";
import {
  callStatuses,
  hashOf,
  stops,
  toCallRecord,
  toLoneCall,
  toUsage,
  usageCells,
} from "../turns/call-rows.ts";

/** The session of a conversation that the ledger does not know yet. Without its branch. */
export function conversationRow(call: GatewayCall): Row {
  const { conversation, startMs } = call;
  const { id, parentId, kind, client, clientSession } = conversation;
  return {
    ...newSessionRow(
      {
        id,
        agent: client === "" ? "unknown" : client,
        role: kind === "sub-agent" ? "worker" : "unified",
        model: modelOf(call),
        provider: call.provider,
        ...(parentId === null ? {} : { parent: { sessionId: parentId } }),
        contextJson: JSON.stringify({ conversation: { kind, clientSession } }),
      },
      startMs,
    ),
    origin: "gateway",
  };
}

/** The name under which it has a price, if it has one. */
export function modelOf({ factsId, model }: GatewayCall): string {
  return factsId ?? model;
}

export function gatewayRow(call: GatewayCall): Row {
  const { id, conversation, usage, policy = "client" } = call;
  const row = {
    turn_id: null,
    number: conversation.callNumber,
    session_id: conversation.id,
    started_ms: call.startMs,
    ended_ms: call.endMs,
    model: storable(modelOf(call)),
    provider: storable(call.provider),
    policy,
    request_hash: storable(call.addedBlocks.at(-1)?.hash ?? ""),
    status: call.status,
    stop_reason: call.stopReason,
    ...usageCells(usage),
    cost_pico_usd: call.costPicoUsd,
    plan_json: toMarkersText(call),
    outcome_json: toGatewayText(call),
    kind: "gateway",
    id,
    first_byte_ms: call.firstByteMs,
    request_bytes: call.requestBytes,
    response_bytes: call.responseBytes,
    kept_blocks: call.keptBlocks,
    miss_byte: call.explanation?.block?.byteOffset ?? null,
    upstream: storable(call.upstream),
    account: storable(call.account),
    gateway_key: nameOrNull(call.gatewayKey),
    user_name: nameOrNull(call.user),
    team_name: nameOrNull(call.team),
    arm: call.arm ?? null,
    client_cost_pico_usd: call.clientCostPicoUsd ?? null,
    plain_cost_pico_usd: call.plainCostPicoUsd,
  };
  const blocks = call.addedBlocks.map(({ hash }) => hash).join("\n");
  return { ...row, entry_hash: hashOf(row, blocks) };
}

function nameOrNull(name: string | null | undefined): string | null {
  return name == null ? null : storable(name);
}

export function blockRows({ id, conversation, keptBlocks, addedBlocks }: GatewayCall): Row[] {
  return addedBlocks.map(({ hash, tier, kind, role, section, tokens }, index) => ({
    session_id: conversation.id,
    call_id: id,
    idx: keptBlocks + index,
    hash: storable(hash),
    tier,
    kind,
    role,
    section: storable(section),
    tokens,
  }));
}

const blockKinds = [...carriers, "other"] as const;

export function toBlock(row: ResultRow): ConversationBlock {
  return {
    hash: column.text(row, "hash"),
    tier: column.oneOf(row, "tier", tiers),
    kind: column.oneOf(row, "kind", blockKinds),
    role: column.oneOf(row, "role", promptRoles),
    section: column.text(row, "section"),
    tokens: column.integer(row, "tokens"),
  };
}

type Named = Omit<Conversation, "callNumber">;

/** What a session's row says of its conversation. */
export function toConversation(row: ResultRow): Named {
  const context = column.readAs(row, "context_json", JSON.parse);
  const { kind, clientSession } = fieldsOf(fieldsOf(context)["conversation"]);
  return {
    id: column.text(row, "id"),
    parentId: column.textOrNull(row, "parent_session_id"),
    kind: conversationKinds.find((each) => each === kind) ?? "conversation",
    client: column.text(row, "agent"),
    clientSession: textIn({ clientSession }, "clientSession") ?? null,
  };
}

const markedBy: readonly MarkedBy[] = [...policyNames, "client"];

type SeenCall = Omit<GatewayCall, "conversation" | "addedBlocks"> & { readonly number: number };

export function toSeenCall(row: ResultRow): SeenCall {
  return {
    id: column.text(row, "id"),
    number: column.integer(row, "number"),
    startMs: column.integer(row, "started_ms"),
    firstByteMs: column.integerOrNull(row, "first_byte_ms"),
    endMs: column.integer(row, "ended_ms"),
    upstream: column.text(row, "upstream"),
    account: column.text(row, "account"),
    gatewayKey: column.textOrNull(row, "gateway_key"),
    user: column.textOrNull(row, "user_name"),
    team: column.textOrNull(row, "team_name"),
    provider: column.text(row, "provider"),
    policy: column.oneOf(row, "policy", markedBy),
    status: column.oneOf(row, "status", callStatuses),
    stopReason: row["stop_reason"] === null ? null : column.oneOf(row, "stop_reason", stops),
    usage: row["uncached_tokens"] === null ? null : toUsage(row),
    costPicoUsd: column.moneyOrNull(row, "cost_pico_usd"),
    ...toComparison(row),
    keptBlocks: column.integer(row, "kept_blocks"),
    markers: column.readAs(row, "plan_json", fromMarkersText),
    requestBytes: column.integer(row, "request_bytes"),
    responseBytes: column.integer(row, "response_bytes"),
    ...column.readAs(row, "outcome_json", fromGatewayText),
  };
}

function toComparison(row: ResultRow): Pick<GatewayCall, "arm" | "clientCostPicoUsd"> {
  if ((row["arm"] ?? null) === null) return {};
  return {
    arm: column.oneOf(row, "arm", arms),
    clientCostPicoUsd: column.moneyOrNull(row, "client_cost_pico_usd"),
  };
}

export function toGatewayCall(
  row: ResultRow,
  conversation: Named,
  addedBlocks: readonly ConversationBlock[],
): GatewayCall {
  const { number, ...call } = toSeenCall(row);
  return withMoneyAsText({
    ...call,
    conversation: { ...conversation, callNumber: number },
    addedBlocks,
  });
}

/** A call of a turn, one that kept a cache warm, or one that the gateway saw. */
export function toAnyCall(row: ResultRow): CallRecord | LoneCall | SeenCall {
  if (row["turn_id"] !== null) return toCallRecord(row);
  return row["kind"] === "gateway" ? toSeenCall(row) : toLoneCall(row);
}
