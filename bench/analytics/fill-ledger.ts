// A week of a team's work as rows: sessions with turns of two calls each, failures, compactions, misses and all events.
import { createSampleTurn } from "../../harness/ledger-turns.ts";
import { loadSessions } from "../../harness/ledger-load.ts";
import { createRandom, type Random } from "../../harness/random-message.ts";
import { createEventIds } from "../../src/core/events/event-ids.ts";
import type { Commit, Database } from "../../src/edge/stores/sql/database.ts";
import type { Row } from "../../src/edge/stores/sql/tables.ts";

/** The end of the week. */
export const endMs: number = Date.UTC(2026, 10, 16);

const weekMs = 7 * 86_400_000;
const turnsPerSession = 50;

export async function fillLedger(
  database: Pick<Database, "commit" | "kind" | "query">,
  calls: number,
  progress: (line: string) => void,
): Promise<void> {
  const random = createRandom(1);
  const sessions = Math.ceil(calls / turnsPerSession / 2);
  let number = 0;
  await loadSessions(
    {
      commit: (commit) => {
        number += 1;
        return database.commit(livelier(commit, { random, number, sessions }));
      },
    },
    {
      sessions,
      turnsPerSession,
      samples: [createSampleTurn(random, 400), createSampleTurn(random, 800)],
      onSession: (done) => {
        if (done % 250 === 0) progress(`${done} of ${sessions} sessions`);
      },
    },
  );
  // A server vacuums by itself; after this many rows it would start during a measurement.
  if (database.kind === "postgres") await database.query("VACUUM (ANALYZE)");
}

const models = [
  ["claude-sonnet-4-6", "anthropic"],
  ["claude-haiku-4-5", "anthropic"],
  ["claude-opus-4-6", "anthropic"],
  ["gpt-5.5", "openai"],
] as const;

interface Life {
  readonly random: Random;
  readonly number: number;
  readonly sessions: number;
}

/** The same rows with other times and models, growing prompts, and their events. */
function livelier(commit: Commit, life: Life): Commit {
  const { random, number, sessions } = life;
  const startMs = endMs - weekMs + Math.floor((number / sessions) * (weekMs - 20 * 3_600_000));
  const [model, provider] = models[number % models.length] ?? models[0];
  const like = { model, provider };
  const rowsOf = (table: string): readonly Row[] =>
    commit.writes.flatMap((write) => ("into" in write && write.into === table ? write.rows : []));
  const [session] = rowsOf("sessions");
  const sessionId = String(session?.["id"]);
  const turnStartMs = (index: number): number => startMs + 1000 + index * 240_000;
  const turns = rowsOf("turns").map((row, index) => ({
    ...row,
    ...like,
    started_ms: turnStartMs(index),
    completed_ms: turnStartMs(index) + 60_000,
    ...(index % 40 === 39 ? { status: "failed", end_reason: "failed" } : {}),
  }));
  const calls = rowsOf("calls").map((row, index) => ({
    ...row,
    ...like,
    ...billed(index, random),
    started_ms: turnStartMs(Math.floor(index / 2)) + (index % 2) * 20_000,
    ended_ms:
      turnStartMs(Math.floor(index / 2)) +
      (index % 2) * 20_000 +
      800 +
      Math.floor(random() * 18_000),
  }));
  const compactions = [20, 40].map((place) => compactionOf(turns[place], place, sessionId));
  const compactionTurns = compactions.map(({ turn }) => turn);
  const events = toEvents({ sessionId, turns, calls, random });
  const changed: Readonly<Record<string, readonly Row[]>> = {
    turns: [...turns, ...compactionTurns],
    calls,
    sessions: rowsOf("sessions").map((row) => ({
      ...row,
      ...like,
      role: number % 5 === 0 ? "worker" : "unified",
      agent: `agent-${number % 7}`,
      parent_session_id: number % 5 === 0 ? `loaded-${number - 1}` : null,
    })),
  };
  const writes = commit.writes.map((write) =>
    "into" in write ? { ...write, rows: changed[write.into] ?? write.rows } : write,
  );
  return {
    ...commit,
    writes: [
      ...writes,
      { into: "compactions_v1", rows: compactions.map(({ compaction }) => compaction) },
      { into: "events", rows: events },
    ],
  };
}

function billed(index: number, random: Random): Row {
  if (index % 97 === 96) {
    const nothing = {
      uncached_tokens: null,
      read_tokens: null,
      write_5m_tokens: null,
      output_tokens: null,
    };
    const failure = { kind: "overloaded", detail: "busy" };
    const outcome = { discarded: [], failure, verdict: null, refuted: [], notes: [] };
    return {
      ...nothing,
      reasoning_tokens: null,
      cost_pico_usd: null,
      status: "failed",
      stop_reason: null,
      outcome_json: JSON.stringify(outcome),
    };
  }
  const hasLost = random() < 0.03;
  return {
    uncached_tokens: Math.floor(random() * 400),
    read_tokens: hasLost ? 0 : 20_000 + index * 900,
    write_5m_tokens: hasLost ? 20_900 + index * 900 : 900,
    cost_pico_usd: 10_000_000_000 + Math.floor(random() * 10_000_000_000),
  };
}

function compactionOf(
  before: Row | undefined,
  place: number,
  sessionId: string,
): { readonly turn: Row; readonly compaction: Row } {
  if (before === undefined) throw new Error("no turn to compact");
  const { started_ms: startMs, seq } = before;
  const compactedMs = Number(startMs) + 120_000;
  const id = `fold-${sessionId}-${place}`;
  const turn: Row = {
    ...before,
    id,
    seq: Number(seq) + 1,
    parent_turn_id: before["id"] ?? null,
    turn_type: "compaction",
    status: "completed",
    end_reason: null,
  };
  const compaction: Row = {
    session_id: sessionId,
    compacted_at: compactedMs,
    turn_id: id,
    head_turn_count: place,
    tail_start_index: 8,
    summary: "what happened so far, in short. ".repeat(200),
    model_used: String(before["model"]),
    provider: String(before["provider"]),
    input_tokens: 40_000,
    output_tokens: 1500,
    cost_pico_usd: 150_000_000_000,
    summarized_through_turn_id: String(before["id"]),
    first_kept_turn_id: null,
    first_kept_index: 0,
    turns_summarized: place,
    compaction_type: "summary",
    trigger: place === 20 ? "context_limit" : "periodic",
    tokens_before: 80_000,
    tokens_after: 12_000,
    summary_tokens: 1500,
    duration_ms: 9000,
    index_json: JSON.stringify({
      files: Array.from({ length: 40 }, (_, index) => `src/file-${index}.ts`),
    }),
    metadata_json: null,
    foundation_hash: null,
  };
  return { turn, compaction };
}

interface SessionRows {
  readonly sessionId: string;
  readonly turns: readonly Row[];
  readonly calls: readonly Row[];
  readonly random: Random;
}

/** Six per turn plus occasional others: half a million in all. */
function toEvents({ sessionId, turns, calls, random }: SessionRows): readonly Row[] {
  const ids = createEventIds();
  const newBytes = (): Uint8Array =>
    Uint8Array.from({ length: 10 }, () => Math.floor(random() * 256));
  const rows: Row[] = [];
  const emit = (type: string, at: Row, payload: object): void => {
    const ms = Number(at["started_ms"]);
    rows.push({
      id: ids.next(ms, newBytes()),
      timestamp_us: ms * 1000,
      session_id: sessionId,
      turn_id: String(at["turn_id"] ?? at["id"]),
      parent_event_id: null,
      type,
      actor: "agent",
      sensitivity: "aggregatable",
      payload_json: JSON.stringify(payload),
    });
  };
  for (const [index, turn] of turns.entries()) {
    emit("turn.started", turn, { estimated_input_tokens: 20_000, has_images: false });
    if (index % 10 === 0)
      emit("skill.loaded", turn, {
        skill_id: `skill-${index}`,
        load_reason: "on_demand",
        load_size_tokens: 900,
        source: "global",
      });
    for (const call of calls.slice(index * 2, index * 2 + 2)) {
      emit("llm.call_started", call, {
        model: "m",
        provider: "p",
        estimated_input_tokens: 20_000,
        request_id: "r",
        is_worker: false,
      });
      emit("llm.call_completed", call, {
        model: "m",
        provider: "p",
        input_tokens: 20_000,
        output_tokens: 420,
        cost_usd: "0.0123",
      });
      if (random() < 0.05) emit("cache.miss", call, missed);
    }
    emit("turn.completed", turn, { stop_reason: "end_turn", llm_call_count: 2 });
    if (index === 20)
      emit("compaction.completed", turn, {
        trigger: "context_limit",
        outcome: "ok",
        model: "m",
        cost_usd: "0.15",
      });
    if (index === 30)
      emit("compaction.skipped", turn, { trigger: "context_limit", outcome: "too_soon" });
  }
  return rows;
}

const missed = {
  cause: "lifetime expired",
  detail: "after 6 min",
  expected_read_tokens: 40_000,
  reported_read_tokens: 0,
  lost_tokens: 40_000,
  lost_cost_usd: "0.108",
  block_tier: null,
  block_label: null,
  block_index: null,
  block_byte_offset: null,
  block_before_hash: null,
  block_after_hash: null,
};
