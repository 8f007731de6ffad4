// Reads what the gateway recorded of a conversation: its calls, and the prompt of one of them.
import type {
  ConversationBlock,
  ConversationPrompt,
  GatewayCall,
} from "../../../../core/ledger/gateway-call.ts";
import { integer, text } from "../../sql/read-row.ts";
import { selected } from "../../sql/tables.ts";
import { notFound, type Store } from "../store.ts";
import { toBlock, toConversation, toGatewayCall } from "./gateway-rows.ts";

interface Reading {
  readonly database: Pick<Store["database"], "query">;
}

/** A call begins with blocks of the one that ended before it, which is the one with the number before. */
const inOrder = "ORDER BY c.number, c.started_ms, c.id";
/** By the index on sessions: one on turns would read every call without a turn. */
const ofConversation = "c.kind = 'gateway' AND c.session_id = ?";

export async function readGatewayCalls(
  { database }: Store,
  id: string,
): Promise<readonly GatewayCall[]> {
  const [session] = await database.query(
    "SELECT id, agent, parent_session_id, context_json FROM sessions WHERE id = ? AND origin = 'gateway'",
    [id],
  );
  if (session === undefined) throw notFound(`conversation ${id} of a gateway`);
  const conversation = toConversation(session);
  const rows = await database.query(
    `SELECT ${selected("calls", "c")} FROM calls c WHERE ${ofConversation} ${inOrder}`,
    [id],
  );
  const blocks = await readBlocks(database, id);
  return rows.map((row) => toGatewayCall(row, conversation, blocks.get(text(row, "id")) ?? []));
}

/** A call repeats the first blocks of the call before it, so the list is put together from the end. */
export async function readPrompt(
  { database }: Reading,
  id: string,
  callId: string,
): Promise<ConversationPrompt> {
  const calls = await database.query(
    `SELECT c.id, c.number, c.kept_blocks FROM calls c WHERE ${ofConversation} ${inOrder}`,
    [id],
  );
  let at = calls.findIndex((row) => text(row, "id") === callId);
  if (at === -1) throw notFound(`call ${callId} in conversation ${id} of a gateway`);
  const blocks = await readBlocks(database, id);
  const parts: (readonly ConversationBlock[])[] = [];
  let wanted = Number.MAX_SAFE_INTEGER;
  for (; ; at -= 1) {
    const [row, before] = [calls[at], calls[at - 1]];
    if (row === undefined) break;
    const kept = integer(row, "kept_blocks");
    parts.push((blocks.get(text(row, "id")) ?? []).slice(0, Math.max(0, wanted - kept)));
    wanted = Math.min(wanted, kept);
    // A call that is missing may have changed what it kept.
    const follows =
      before !== undefined && integer(before, "number") === integer(row, "number") - 1;
    if (wanted === 0 || !follows) break;
  }
  return { unknownCount: wanted, blocks: parts.toReversed().flat() };
}

/** By the call that brought them, in their order. */
async function readBlocks(
  database: Reading["database"],
  id: string,
): Promise<ReadonlyMap<string, readonly ConversationBlock[]>> {
  const rows = await database.query(
    "SELECT call_id, hash, tier, kind, role, section, tokens FROM conversation_blocks WHERE session_id = ? ORDER BY call_id, idx",
    [id],
  );
  const byCall = Map.groupBy(rows, (row) => text(row, "call_id"));
  return new Map([...byCall].map(([callId, each]) => [callId, each.map(toBlock)]));
}
