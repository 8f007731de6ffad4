// The messages that each call of our own sessions sent, as blocks: their size and kind, no text.
import { fieldsOf, listOf, parseFields, textIn } from "../../core/message/fields.ts";
import type { ResultRow, Snapshot } from "../../edge/stores/sql/database.ts";
import { integer, text } from "../../edge/stores/sql/read-row.ts";

export interface OwnBlock {
  readonly hash: string;
  readonly tier: string;
  readonly kind: string;
  readonly role: string;
  readonly section: string;
  readonly tokens: number;
}

/** By `TURN.NUMBER`. A reply belongs to the next call that sends it again, and is listed with the call that brought it. */
export async function readOwnBlocks(
  query: Snapshot["query"],
  calls: readonly ResultRow[],
): Promise<ReadonlyMap<string, readonly OwnBlock[]>> {
  const turns = [
    ...new Set(calls.flatMap((row) => (row["turn_id"] === null ? [] : [text(row, "turn_id")]))),
  ];
  if (turns.length === 0) return new Map();
  const rows = await query(
    `SELECT t.id AS turn_id, m.call_number, m.idx, m.role, m.content, m.hash, m.tokens FROM turns t
    JOIN messages m ON m.branch_id = t.branch_id AND m.turn_seq = t.seq
    WHERE t.id IN (${turns.map(() => "?").join(", ")}) ORDER BY t.id, m.idx`,
    turns,
  );
  const byCall = Map.groupBy(
    rows,
    (row) => `${text(row, "turn_id")}.${integer(row, "call_number")}`,
  );
  return new Map([...byCall].map(([name, each]) => [name, each.map(toOwnBlock)]));
}

function toOwnBlock(row: ResultRow): OwnBlock {
  const role = text(row, "role");
  const { kind, name } = firstBlockOf(text(row, "content"));
  return {
    hash: text(row, "hash"),
    tier: "T3",
    kind,
    role,
    section: name === null ? `${role} message ${integer(row, "idx") + 1}` : `${kind} ${name}`,
    tokens: integer(row, "tokens"),
  };
}

function firstBlockOf(content: string): { readonly kind: string; readonly name: string | null } {
  const value: unknown = content.startsWith("[") ? JSON.parse(content) : parseFields(content);
  const blocks = listOf(value).map(fieldsOf);
  // A use of a tool says more than the words before it.
  const telling = blocks.find((each) => textIn(each, "name") !== undefined) ?? blocks[0] ?? {};
  return { kind: textIn(telling, "type") ?? "text", name: textIn(telling, "name") ?? null };
}
