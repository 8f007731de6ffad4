// The schema, as numbered steps that only go forward. A step that was released is never edited. So it only grows.
import { changeMarks, markTable, missMarks, type OwnStatements } from "./change-marks.ts";

export interface Migration {
  readonly number: number;
  readonly name: string;
  /** Statements that both databases understand. BIGINT is an integer for SQLite too. */
  readonly statements: readonly (string | OwnStatements)[];
}

const messageTerms = `
  branch_id BIGINT NOT NULL,
  turn_seq BIGINT NOT NULL,
  idx BIGINT NOT NULL,
  part BIGINT NOT NULL,
  terms TEXT NOT NULL,
  UNIQUE (branch_id, turn_seq, idx, part),
  FOREIGN KEY (branch_id, turn_seq) REFERENCES turns (branch_id, seq)`;

export const migrations: readonly Migration[] = [
  {
    number: 1,
    name: "sessions, turns, messages, calls, folds, events",
    statements: [
      `CREATE TABLE contents (hash TEXT PRIMARY KEY, text TEXT NOT NULL)`,
      `CREATE TABLE turns (
        id TEXT PRIMARY KEY,
        branch_id BIGINT NOT NULL,
        seq BIGINT NOT NULL,
        parent_turn_id TEXT REFERENCES turns (id),
        turn_type TEXT NOT NULL CHECK (turn_type IN ('normal', 'compaction')),
        status TEXT NOT NULL CHECK (status IN ('pending', 'completed', 'failed', 'interrupted')),
        end_reason TEXT,
        model TEXT NOT NULL,
        provider TEXT NOT NULL,
        role TEXT NOT NULL,
        toolset_name TEXT,
        tools_available TEXT,
        permissions_granted TEXT,
        permissions_used TEXT,
        started_ms BIGINT NOT NULL,
        completed_ms BIGINT,
        source_event_id TEXT,
        workspace_path TEXT,
        foundation_hash TEXT REFERENCES contents (hash),
        setup_json TEXT,
        UNIQUE (branch_id, seq)
      )`,
      `CREATE INDEX turns_parent ON turns (parent_turn_id)`,
      `CREATE INDEX turns_foundation ON turns (foundation_hash) WHERE foundation_hash IS NOT NULL`,
      `CREATE INDEX turns_folds ON turns (branch_id, seq) WHERE turn_type = 'compaction'`,
      // A fork is a new branch. The shared part ends with the turn at `fork_seq` of its parent.
      `CREATE TABLE branches (
        id BIGINT PRIMARY KEY,
        parent_branch_id BIGINT,
        fork_seq BIGINT,
        CHECK ((parent_branch_id IS NULL) = (fork_seq IS NULL)),
        FOREIGN KEY (parent_branch_id, fork_seq) REFERENCES turns (branch_id, seq)
      )`,
      `CREATE INDEX branches_parent ON branches (parent_branch_id, fork_seq)`,
      `CREATE TABLE sessions (
        id TEXT PRIMARY KEY,
        agent TEXT NOT NULL,
        role TEXT NOT NULL,
        model TEXT NOT NULL,
        provider TEXT NOT NULL,
        parent_session_id TEXT,
        parent_turn_id TEXT,
        spawn_tool_use_id TEXT,
        task TEXT,
        workspace_path TEXT,
        persona_id TEXT,
        foundation_hash TEXT REFERENCES contents (hash),
        status TEXT NOT NULL CHECK (status IN ('active', 'archived')),
        branch_id BIGINT NOT NULL REFERENCES branches (id) DEFERRABLE INITIALLY DEFERRED,
        head_turn_id TEXT REFERENCES turns (id) DEFERRABLE INITIALLY DEFERRED,
        open_turn_id TEXT,
        next_seq BIGINT NOT NULL,
        move_count BIGINT NOT NULL,
        turn_count BIGINT NOT NULL,
        cost_pico_usd BIGINT NOT NULL,
        created_ms BIGINT NOT NULL,
        updated_ms BIGINT NOT NULL,
        lease_holder TEXT,
        lease_token BIGINT NOT NULL,
        lease_expires_ms BIGINT NOT NULL,
        context_json TEXT,
        setup_json TEXT,
        state_json TEXT,
        version BIGINT NOT NULL
      )`,
      `CREATE INDEX sessions_updated ON sessions (updated_ms, id)`,
      `CREATE INDEX sessions_parent ON sessions (parent_session_id)`,
      `CREATE INDEX sessions_open ON sessions (open_turn_id) WHERE open_turn_id IS NOT NULL`,
      `CREATE INDEX sessions_head ON sessions (head_turn_id)`,
      `CREATE INDEX sessions_branch ON sessions (branch_id)`,
      `CREATE INDEX sessions_foundation ON sessions (foundation_hash)`,
      `CREATE TABLE session_history (
        session_id TEXT NOT NULL REFERENCES sessions (id),
        move BIGINT NOT NULL,
        turn_id TEXT,
        branch_id BIGINT NOT NULL,
        moved_ms BIGINT NOT NULL,
        reason TEXT NOT NULL,
        PRIMARY KEY (session_id, move)
      )`,
      `CREATE INDEX session_history_branch ON session_history (branch_id)`,
      `CREATE TABLE messages (
        branch_id BIGINT NOT NULL,
        turn_seq BIGINT NOT NULL,
        idx BIGINT NOT NULL,
        call_number BIGINT NOT NULL,
        role TEXT NOT NULL,
        content TEXT NOT NULL,
        wire TEXT,
        hash TEXT NOT NULL,
        tokens BIGINT NOT NULL,
        source TEXT,
        context_json TEXT,
        is_replayed BIGINT NOT NULL,
        whole_hash TEXT REFERENCES contents (hash),
        UNIQUE (branch_id, turn_seq, idx),
        FOREIGN KEY (branch_id, turn_seq) REFERENCES turns (branch_id, seq)
      )`,
      `CREATE INDEX messages_whole ON messages (whole_hash) WHERE whole_hash IS NOT NULL`,
      // Codes of the words of hidden messages, different in each branch. The first search creates them, so no
      // backup contains them.
      {
        sqlite: [
          `CREATE TABLE message_terms (id INTEGER PRIMARY KEY, ${messageTerms})`,
          `CREATE VIRTUAL TABLE message_terms_text USING fts5 (terms, content = 'message_terms', content_rowid = 'id', tokenize = 'ascii', detail = none, columnsize = 0)`,
          // Overwrites removed text instead of only marking it.
          `INSERT INTO message_terms_text (message_terms_text, rank) VALUES ('secure-delete', 1)`,
          `CREATE TRIGGER message_terms_added AFTER INSERT ON message_terms BEGIN
            INSERT INTO message_terms_text (rowid, terms) VALUES (new.id, new.terms);
          END`,
          `CREATE TRIGGER message_terms_removed AFTER DELETE ON message_terms BEGIN
            INSERT INTO message_terms_text (message_terms_text, rowid, terms) VALUES ('delete', old.id, old.terms);
          END`,
        ],
        postgres: [
          `CREATE TABLE message_terms (${messageTerms})`,
          `CREATE INDEX message_terms_text ON message_terms USING GIN (array_to_tsvector(string_to_array(terms, ' ')))`,
        ],
      },
      `CREATE TABLE calls (
        turn_id TEXT NOT NULL REFERENCES turns (id),
        number BIGINT NOT NULL,
        session_id TEXT NOT NULL,
        started_ms BIGINT NOT NULL,
        ended_ms BIGINT NOT NULL,
        model TEXT NOT NULL,
        provider TEXT NOT NULL,
        policy TEXT NOT NULL,
        request_hash TEXT NOT NULL,
        status TEXT NOT NULL,
        stop_reason TEXT,
        uncached_tokens BIGINT,
        read_tokens BIGINT,
        write_5m_tokens BIGINT,
        write_30m_tokens BIGINT,
        write_1h_tokens BIGINT,
        write_12h_tokens BIGINT,
        write_24h_tokens BIGINT,
        output_tokens BIGINT,
        reasoning_tokens BIGINT,
        cost_pico_usd BIGINT,
        plan_json TEXT NOT NULL,
        outcome_json TEXT NOT NULL,
        entry_hash TEXT NOT NULL,
        UNIQUE (turn_id, number)
      )`,
      `CREATE INDEX calls_session ON calls (session_id)`,
      // Covers all sums over calls, in time order: a tenth of the rows' size, and it grows only at its end.
      `CREATE INDEX calls_window ON calls (
        started_ms, session_id, model, provider, status, number, ended_ms,
        uncached_tokens, read_tokens, write_5m_tokens, write_30m_tokens, write_1h_tokens, write_12h_tokens, write_24h_tokens,
        output_tokens, reasoning_tokens, cost_pico_usd, turn_id
      )`,
      // The few calls that need more columns.
      `CREATE INDEX calls_failed ON calls (started_ms) WHERE status <> 'complete'`,
      `CREATE INDEX calls_discarded ON calls (started_ms) WHERE SUBSTR(outcome_json, 1, 15) = '{"discarded":[{'`,
      `CREATE TABLE tool_calls (
        turn_id TEXT NOT NULL REFERENCES turns (id),
        tool_use_id TEXT NOT NULL,
        call_number BIGINT NOT NULL,
        name TEXT NOT NULL,
        status TEXT NOT NULL CHECK (status IN ('pending', 'succeeded', 'failed', 'cancelled')),
        PRIMARY KEY (turn_id, call_number, tool_use_id)
      )`,
      `CREATE TABLE compactions_v1 (
        session_id TEXT NOT NULL,
        compacted_at BIGINT NOT NULL,
        turn_id TEXT PRIMARY KEY REFERENCES turns (id),
        head_turn_count BIGINT NOT NULL,
        tail_start_index BIGINT NOT NULL,
        summary TEXT NOT NULL,
        model_used TEXT NOT NULL,
        provider TEXT NOT NULL,
        input_tokens BIGINT NOT NULL,
        output_tokens BIGINT NOT NULL,
        cost_pico_usd BIGINT NOT NULL,
        summarized_through_turn_id TEXT NOT NULL,
        first_kept_turn_id TEXT,
        first_kept_index BIGINT NOT NULL,
        turns_summarized BIGINT NOT NULL,
        compaction_type TEXT NOT NULL,
        trigger TEXT NOT NULL,
        tokens_before BIGINT NOT NULL,
        tokens_after BIGINT NOT NULL,
        summary_tokens BIGINT NOT NULL,
        duration_ms BIGINT NOT NULL,
        index_json TEXT,
        metadata_json TEXT,
        foundation_hash TEXT REFERENCES contents (hash)
      )`,
      `CREATE INDEX compactions_v1_kept ON compactions_v1 (first_kept_turn_id)`,
      `CREATE INDEX compactions_v1_foundation ON compactions_v1 (foundation_hash)`,
      `CREATE INDEX compactions_v1_latest ON compactions_v1 (session_id, compacted_at DESC)`,
      `CREATE TABLE compaction_locks_v1 (
        session_id TEXT PRIMARY KEY,
        locked_at BIGINT NOT NULL,
        holder TEXT,
        token BIGINT NOT NULL,
        expires_ms BIGINT NOT NULL
      )`,
      `CREATE TABLE events (
        id TEXT PRIMARY KEY,
        timestamp_us BIGINT NOT NULL,
        session_id TEXT NOT NULL,
        turn_id TEXT,
        parent_event_id TEXT,
        type TEXT NOT NULL,
        actor TEXT NOT NULL,
        sensitivity TEXT NOT NULL,
        payload_json TEXT NOT NULL
      )`,
      `CREATE INDEX events_session ON events (session_id, id)`,
      `CREATE INDEX events_type ON events (type, id)`,
      `CREATE INDEX events_turn ON events (turn_id)`,
      `CREATE INDEX events_time ON events (timestamp_us)`,
      // A plan over several sessions detects concurrent deletions at commit.
      `CREATE TABLE counters (name TEXT PRIMARY KEY, value BIGINT NOT NULL)`,
      `INSERT INTO counters (name, value) VALUES ('deletions', 0)`,
    ],
  },
  {
    number: 2,
    name: "calls without a turn, such as those that keep a cache warm",
    statements: [
      {
        // SQLite cannot make a column nullable, so the table is built again.
        sqlite: [
          `ALTER TABLE calls RENAME TO calls_before`,
          `CREATE TABLE calls (
            turn_id TEXT REFERENCES turns (id),
            number BIGINT NOT NULL,
            session_id TEXT NOT NULL,
            started_ms BIGINT NOT NULL,
            ended_ms BIGINT NOT NULL,
            model TEXT NOT NULL,
            provider TEXT NOT NULL,
            policy TEXT NOT NULL,
            request_hash TEXT NOT NULL,
            status TEXT NOT NULL,
            stop_reason TEXT,
            uncached_tokens BIGINT,
            read_tokens BIGINT,
            write_5m_tokens BIGINT,
            write_30m_tokens BIGINT,
            write_1h_tokens BIGINT,
            write_12h_tokens BIGINT,
            write_24h_tokens BIGINT,
            output_tokens BIGINT,
            reasoning_tokens BIGINT,
            cost_pico_usd BIGINT,
            plan_json TEXT NOT NULL,
            outcome_json TEXT NOT NULL,
            entry_hash TEXT NOT NULL,
            kind TEXT NOT NULL DEFAULT 'turn',
            id TEXT,
            UNIQUE (turn_id, number)
          )`,
          `INSERT INTO calls SELECT b.*, 'turn', NULL FROM calls_before b`,
          `DROP TABLE calls_before`,
          `CREATE INDEX calls_session ON calls (session_id)`,
          `CREATE INDEX calls_window ON calls (
            started_ms, session_id, model, provider, status, number, ended_ms,
            uncached_tokens, read_tokens, write_5m_tokens, write_30m_tokens, write_1h_tokens, write_12h_tokens, write_24h_tokens,
            output_tokens, reasoning_tokens, cost_pico_usd, turn_id
          )`,
          `CREATE INDEX calls_failed ON calls (started_ms) WHERE status <> 'complete'`,
          `CREATE INDEX calls_discarded ON calls (started_ms) WHERE SUBSTR(outcome_json, 1, 15) = '{"discarded":[{'`,
        ],
        postgres: [
          `ALTER TABLE calls ALTER COLUMN turn_id DROP NOT NULL`,
          `ALTER TABLE calls ADD COLUMN kind TEXT NOT NULL DEFAULT 'turn'`,
          `ALTER TABLE calls ADD COLUMN id TEXT`,
        ],
      },
      // A call without a turn has a name of its own, once in its session.
      `CREATE UNIQUE INDEX calls_lone ON calls (session_id, id) WHERE turn_id IS NULL`,
      `CREATE INDEX calls_lone_time ON calls (kind, started_ms) WHERE turn_id IS NULL`,
    ],
  },
  {
    number: 3,
    name: "ids of messages, times and links of tool calls, routing keys",
    statements: [
      // A ULID: its first part is the time.
      `ALTER TABLE messages ADD COLUMN message_id TEXT`,
      // Parameters and results stand in messages of the same turn, and these are their places.
      `ALTER TABLE tool_calls ADD COLUMN position BIGINT`,
      `ALTER TABLE tool_calls ADD COLUMN message_idx BIGINT`,
      `ALTER TABLE tool_calls ADD COLUMN result_idx BIGINT`,
      `ALTER TABLE tool_calls ADD COLUMN started_ms BIGINT`,
      `ALTER TABLE tool_calls ADD COLUMN completed_ms BIGINT`,
      `ALTER TABLE sessions ADD COLUMN routing_key TEXT`,
      `CREATE INDEX sessions_routing_key ON sessions (routing_key) WHERE routing_key IS NOT NULL`,
      `CREATE INDEX sessions_spawned ON sessions (parent_turn_id) WHERE parent_turn_id IS NOT NULL`,
    ],
  },
  {
    number: 4,
    name: "messages that wait for a session",
    statements: [
      // No reference to the session: a message may wait before the first turn records it.
      `CREATE TABLE queue_items (
        id TEXT PRIMARY KEY,
        session_id TEXT NOT NULL,
        seq BIGINT NOT NULL,
        mode TEXT NOT NULL CHECK (mode IN ('steer', 'follow-up', 'collect', 'interrupt')),
        event_json TEXT NOT NULL,
        model TEXT,
        status TEXT NOT NULL CHECK (status IN ('waiting', 'summarized', 'taken', 'dropped')),
        turn_id TEXT,
        reason TEXT,
        queued_ms BIGINT NOT NULL,
        UNIQUE (session_id, seq),
        CHECK (status <> 'taken' OR turn_id IS NOT NULL)
      )`,
      `CREATE INDEX queue_items_open ON queue_items (session_id, seq) WHERE turn_id IS NULL AND status <> 'dropped'`,
    ],
  },
  {
    number: 5,
    name: "changes of model within a turn; sums of what was spent",
    statements: [
      // The models that a turn left, each with the number of its last call.
      `ALTER TABLE turns ADD COLUMN switches_json TEXT`,
      // What an agent spent, and what was spent since a time, without reading a row.
      `CREATE INDEX sessions_spent ON sessions (agent, cost_pico_usd)`,
      `CREATE INDEX compactions_v1_spent ON compactions_v1 (compacted_at, cost_pico_usd)`,
    ],
  },
  {
    number: 6,
    name: "the latest sessions of an agent with a model",
    statements: [
      // No column of it changes after the session was opened, except its model.
      `CREATE INDEX sessions_learned ON sessions (agent, role, provider, model, created_ms)`,
    ],
  },
  {
    number: 7,
    name: "conversations that passed through a gateway",
    statements: [
      // A conversation of another program is a session without turns, which is never run.
      `ALTER TABLE sessions ADD COLUMN origin TEXT NOT NULL DEFAULT 'engine'`,
      `DROP INDEX sessions_spent`,
      `CREATE INDEX sessions_spent ON sessions (agent, origin, cost_pico_usd)`,
      `CREATE INDEX sessions_origin ON sessions (origin, updated_ms, id)`,
      `ALTER TABLE calls ADD COLUMN first_byte_ms BIGINT`,
      `ALTER TABLE calls ADD COLUMN request_bytes BIGINT`,
      `ALTER TABLE calls ADD COLUMN response_bytes BIGINT`,
      `ALTER TABLE calls ADD COLUMN kept_blocks BIGINT`,
      `ALTER TABLE calls ADD COLUMN miss_byte BIGINT`,
      `ALTER TABLE calls ADD COLUMN upstream TEXT`,
      `ALTER TABLE calls ADD COLUMN account TEXT`,
      `ALTER TABLE calls ADD COLUMN gateway_key TEXT`,
      `ALTER TABLE calls ADD COLUMN user_name TEXT`,
      `ALTER TABLE calls ADD COLUMN team_name TEXT`,
      // The same as before, with what else calls are told apart and grouped by.
      `DROP INDEX calls_window`,
      `CREATE INDEX calls_window ON calls (
        started_ms, session_id, model, provider, status, number, ended_ms,
        uncached_tokens, read_tokens, write_5m_tokens, write_30m_tokens, write_1h_tokens, write_12h_tokens, write_24h_tokens,
        output_tokens, reasoning_tokens, cost_pico_usd, turn_id, kind, gateway_key, user_name, team_name
      )`,
      // The blocks that each call brought. Those before them are the first `kept_blocks` of the call before it.
      `CREATE TABLE conversation_blocks (
        session_id TEXT NOT NULL,
        call_id TEXT NOT NULL,
        idx BIGINT NOT NULL,
        hash TEXT NOT NULL,
        tier TEXT NOT NULL,
        kind TEXT NOT NULL,
        role TEXT NOT NULL,
        section TEXT NOT NULL,
        tokens BIGINT NOT NULL,
        UNIQUE (session_id, call_id, idx)
      )`,
      // The processes that record calls. One that never said its end may have lost some.
      `CREATE TABLE gateway_runs (
        id TEXT PRIMARY KEY,
        holder TEXT NOT NULL,
        ending TEXT NOT NULL CHECK (ending IN ('running', 'closed', 'killed')),
        begun_ms BIGINT NOT NULL,
        beat_ms BIGINT NOT NULL,
        finished_ms BIGINT,
        lost_count BIGINT NOT NULL
      )`,
      `CREATE INDEX gateway_runs_running ON gateway_runs (id) WHERE ending = 'running'`,
    ],
  },
  {
    number: 8,
    name: "what providers keep for sessions",
    statements: [
      // No reference to the session: what a provider keeps outlives a deleted session until it is deleted there.
      `CREATE TABLE provider_resources (
        id TEXT PRIMARY KEY,
        session_id TEXT NOT NULL,
        kind TEXT NOT NULL,
        provider TEXT NOT NULL,
        model TEXT NOT NULL,
        lifecycle TEXT NOT NULL CHECK (lifecycle IN ('creating', 'live', 'deleting', 'gone')),
        holder TEXT NOT NULL,
        remote_name TEXT,
        tokens BIGINT NOT NULL,
        created_ms BIGINT NOT NULL,
        expires_ms BIGINT NOT NULL,
        gone_ms BIGINT,
        cost_pico_usd BIGINT
      )`,
      `CREATE INDEX provider_resources_session ON provider_resources (session_id)`,
      `CREATE INDEX provider_resources_open ON provider_resources (created_ms, id) WHERE lifecycle <> 'gone'`,
    ],
  },
  {
    number: 9,
    name: "conversations that several gateways share",
    statements: [
      // Without a reference to the session: a state is written before the batch that opens it.
      `CREATE TABLE conversation_states (
        conversation_id TEXT NOT NULL,
        prefix_key TEXT NOT NULL,
        tenant TEXT NOT NULL,
        call_number BIGINT NOT NULL,
        ended_ms BIGINT NOT NULL,
        opening_key TEXT,
        head_key TEXT,
        thread TEXT,
        reply_id TEXT,
        state_json TEXT NOT NULL,
        PRIMARY KEY (conversation_id, prefix_key)
      )`,
      `CREATE INDEX conversation_states_prefix ON conversation_states (tenant, prefix_key, ended_ms)`,
      `CREATE INDEX conversation_states_opening ON conversation_states (tenant, opening_key, ended_ms)`,
      `CREATE INDEX conversation_states_head ON conversation_states (tenant, head_key, ended_ms)`,
      `CREATE INDEX conversation_states_thread ON conversation_states (tenant, thread, ended_ms) WHERE thread IS NOT NULL`,
      `CREATE INDEX conversation_states_reply ON conversation_states (tenant, reply_id) WHERE reply_id IS NOT NULL`,
      `CREATE INDEX conversation_states_ended ON conversation_states (ended_ms)`,
    ],
  },
  {
    number: 10,
    name: "which conversations of others are optimised, and what their calls would have cost otherwise",
    statements: [
      `ALTER TABLE calls ADD COLUMN arm TEXT`,
      // With the client's own markers, and without any cache.
      `ALTER TABLE calls ADD COLUMN client_cost_pico_usd BIGINT`,
      `ALTER TABLE calls ADD COLUMN plain_cost_pico_usd BIGINT`,
      // Most calls are compared with nothing.
      `CREATE INDEX calls_compared ON calls (started_ms) WHERE arm IS NOT NULL`,
    ],
  },
  {
    number: 11,
    name: "what the keys of a gateway have spent",
    statements: [
      // Not summed from calls: a deleted conversation gives no money back.
      `CREATE TABLE key_spending (
        gateway_key TEXT NOT NULL,
        day_ms BIGINT NOT NULL,
        cost_pico_usd BIGINT NOT NULL,
        PRIMARY KEY (gateway_key, day_ms)
      )`,
    ],
  },
  {
    number: 12,
    name: "the place of each event in the order in which events became visible",
    statements: [
      {
        // SQLite cannot add a key, so the table is built again. A number is not given twice, not even after a deletion.
        sqlite: [
          `ALTER TABLE events RENAME TO events_before`,
          `CREATE TABLE events (
            position INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            timestamp_us BIGINT NOT NULL,
            session_id TEXT NOT NULL,
            turn_id TEXT,
            parent_event_id TEXT,
            type TEXT NOT NULL,
            actor TEXT NOT NULL,
            sensitivity TEXT NOT NULL,
            payload_json TEXT NOT NULL
          )`,
          `INSERT INTO events (id, timestamp_us, session_id, turn_id, parent_event_id, type, actor, sensitivity, payload_json)
            SELECT id, timestamp_us, session_id, turn_id, parent_event_id, type, actor, sensitivity, payload_json FROM events_before ORDER BY rowid`,
          `DROP TABLE events_before`,
          `CREATE INDEX events_session ON events (session_id, id)`,
          `CREATE INDEX events_type ON events (type, id)`,
          `CREATE INDEX events_turn ON events (turn_id)`,
          `CREATE INDEX events_time ON events (timestamp_us)`,
        ],
        // A transaction has its number before it takes one for an event, so a reader that sees a later event can wait for it.
        postgres: [
          `CREATE SEQUENCE events_positions`,
          // Every role that may add events needs it; most roles may not grant.
          `GRANT USAGE ON SEQUENCE events_positions TO PUBLIC`,
          `ALTER TABLE events ADD COLUMN position BIGINT NOT NULL
            DEFAULT (CASE WHEN pg_current_xact_id() IS NULL THEN 0 ELSE nextval('events_positions') END)`,
          `ALTER SEQUENCE events_positions OWNED BY events.position`,
          `CREATE UNIQUE INDEX events_position ON events (position)`,
        ],
      },
    ],
  },
  {
    number: 13,
    name: "sums by hour, caught up with the calls",
    statements: [
      // Derived: made again from the rows as long as these are kept. So no backup in lines contains them.
      `CREATE TABLE rollups (
        cube TEXT NOT NULL,
        grain BIGINT NOT NULL,
        bucket BIGINT NOT NULL,
        cells TEXT NOT NULL,
        PRIMARY KEY (cube, grain, bucket)
      )`,
      // The names that cells stand for. Null: it was deleted.
      `CREATE TABLE rollup_names (id BIGINT PRIMARY KEY, name TEXT UNIQUE)`,
      // How far sums are made, by which price bands, and who makes them. Each change adds one to the version.
      `CREATE TABLE rollup_state (
        id BIGINT PRIMARY KEY,
        position_hour BIGINT NOT NULL,
        version BIGINT NOT NULL,
        bands TEXT NOT NULL,
        holder TEXT,
        expires_ms BIGINT NOT NULL
      )`,
      `INSERT INTO rollup_state (id, position_hour, version, bands, expires_ms) VALUES (1, 0, 0, '', 0)`,
      `CREATE INDEX turns_started ON turns (started_ms, id)`,
      // Step 14 creates the triggers.
      markTable,
    ],
  },
  {
    number: 14,
    name: "marks of rows in hours that are summed, and of no others",
    statements: [
      // Hours before it are summed, or about to be. Raised first, then their rows are read.
      `ALTER TABLE rollup_state ADD COLUMN target_hour BIGINT NOT NULL DEFAULT 0`,
      `UPDATE rollup_state SET target_hour = position_hour WHERE id = 1`,
      changeMarks,
    ],
  },
  {
    number: 15,
    name: "marks of misses, which are summed by hour, too",
    statements: [missMarks],
  },
];
