// Fills a ledger with sessions of completed turns, many rows per commit. The rows are the same as if each turn had
// been recorded by itself.
import { randomUUID } from "node:crypto";
import { callRow } from "../src/edge/stores/ledger/turns/call-rows.ts";
import { messageRow } from "../src/edge/stores/ledger/message-rows.ts";
import { newSessionRow } from "../src/edge/stores/ledger/sessions/session-rows.ts";
import { seqStep } from "../src/edge/stores/ledger/store.ts";
import { newTurnRow } from "../src/edge/stores/ledger/turns/turn-rows.ts";
import type { Database } from "../src/edge/stores/sql/database.ts";
import type { Row, TableName } from "../src/edge/stores/sql/tables.ts";
import { prepareTurn, sampleSession, type SampleTurn } from "./ledger-turns.ts";

export interface LoadedSession {
  readonly id: string;
  readonly headTurnId: string;
}

export interface Load {
  readonly sessions: number;
  readonly turnsPerSession: number;
  /** Used in rotation. */
  readonly samples: readonly SampleTurn[];
  readonly onSession?: (done: number) => void;
}

export async function loadSessions(
  database: Pick<Database, "commit">,
  { sessions, turnsPerSession, samples, onSession = () => {} }: Load,
): Promise<readonly LoadedSession[]> {
  const templates = samples.map(toTemplate);
  const loaded: LoadedSession[] = [];
  for (let number = 1; number <= sessions; number += 1) {
    const { session, rows } = createRows(number, turnsPerSession, templates);
    const writes = tablesInOrder.map((into) => ({ into, rows: rows[into] ?? [] }));
    const result = await database.commit({ guards: [], writes });
    if (result.kind !== "done") throw new Error(`session ${session.id} cannot be loaded`);
    loaded.push(session);
    onSession(number);
  }
  return loaded;
}

/** The rows of a turn without a place in a session. */
interface Template {
  readonly messages: readonly Row[];
  readonly calls: readonly Row[];
  readonly tools: readonly Row[];
}

function toTemplate(sample: SampleTurn): Template {
  const { question, tool, answer } = sample;
  const kept = [
    question,
    ...(tool === null ? [] : [{ message: tool.use, tokens: 500 }, tool.result]),
    { message: answer, tokens: 500 },
  ];
  const messages = kept.map((message, index) =>
    messageRow({ newMessageId: () => "01KA0000000000000000000000" }, message, {
      branchId: 0,
      seq: 0,
      index,
      callNumber: Math.floor(index / 2) + 1,
    }),
  );
  const calls = prepareTurn("", sample).calls.map(({ entry }) =>
    callRow(entry, { sessionId: "", provider: "anthropic", replyHash: "" }),
  );
  const used = {
    tool_use_id: "toolu_01",
    call_number: 1,
    name: "Edit",
    status: "succeeded",
    position: 0,
    message_idx: 1,
    result_idx: 2,
    started_ms: 1_760_000_000_000,
    completed_ms: 1_760_000_000_500,
  };
  return { messages, calls, tools: tool === null ? [] : [used] };
}

/** Referenced tables first. */
const tablesInOrder = [
  "branches",
  "turns",
  "sessions",
  "messages",
  "calls",
  "tool_calls",
  "session_history",
] as const satisfies readonly TableName[];

const startMs = 1_790_000_000_000;

function createRows(
  number: number,
  turns: number,
  templates: readonly Template[],
): {
  readonly session: LoadedSession;
  readonly rows: Readonly<Partial<Record<TableName, readonly Row[]>>>;
} {
  const id = `loaded-${number}`;
  const branchId = number;
  const rows = {
    branches: [{ id: branchId, parent_branch_id: null, fork_seq: null }],
    turns: [] as Row[],
    sessions: [] as Row[],
    messages: [] as Row[],
    calls: [] as Row[],
    tool_calls: [] as Row[],
    session_history: [] as Row[],
  };
  const move = (turnId: string | null, count: number): void => {
    const reason = turnId === null ? "opened" : "turn";
    rows.session_history.push({
      session_id: id,
      move: count,
      turn_id: turnId,
      branch_id: branchId,
      moved_ms: startMs,
      reason,
    });
  };
  move(null, 1);
  let parentTurnId: string | null = null;
  for (let index = 0; index < turns; index += 1) {
    const template = templates[(number + index) % templates.length];
    if (template === undefined) throw new Error("no sample turns");
    const place = { branchId, seq: (index + 1) * seqStep };
    const turnId: string = randomUUID();
    const { agent: _agent, ...like } = sampleSession(id);
    const row = newTurnRow(
      { ...like, id: turnId, sessionId: id, parentTurnId, startMs, messages: [] },
      place,
    );
    rows.turns.push({ ...row, status: "completed", completed_ms: startMs + 5000 });
    for (const each of template.messages) {
      rows.messages.push({ ...each, branch_id: branchId, turn_seq: place.seq });
    }
    for (const each of template.calls) {
      rows.calls.push({ ...each, turn_id: turnId, session_id: id, started_ms: startMs + index });
    }
    for (const each of template.tools) rows.tool_calls.push({ ...each, turn_id: turnId });
    move(turnId, index + 2);
    parentTurnId = turnId;
  }
  const head = parentTurnId ?? "";
  rows.sessions.push({
    ...newSessionRow(sampleSession(id), startMs),
    branch_id: branchId,
    head_turn_id: head,
    next_seq: (turns + 1) * seqStep,
    move_count: turns + 1,
    turn_count: turns,
    cost_pico_usd: rows.calls.length * 1_234_500_000,
  });
  return { session: { id, headTurnId: head }, rows };
}
