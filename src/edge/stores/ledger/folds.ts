// Folds: locked, read.
import type { Ledger } from "../../../core/ledger/ledger.ts";
import { type Store } from "./store.ts";
import { lockFolding, dropStaleLocks } from "./fold-lock.ts";
import { toFold } from "./fold-rows.ts";

type FoldParts = Pick<Ledger, "lockFolding" | "dropStaleLocks" | "readFolds">;

export function foldParts(store: Store): FoldParts {
  return {
    lockFolding: (sessionId) => lockFolding(store, sessionId),
    dropStaleLocks: (olderThanMs) => dropStaleLocks(store, olderThanMs),
    readFolds: async (sessionId, limit = 20) => {
      const rows = await store.database.query(
        `SELECT session_id, compacted_at, turn_id, head_turn_count, tail_start_index, summary, model_used, provider, input_tokens, output_tokens, CAST(cost_pico_usd AS TEXT) AS cost_pico_usd, summarized_through_turn_id, first_kept_turn_id, turns_summarized, compaction_type, trigger, tokens_before, tokens_after, summary_tokens, duration_ms FROM compactions_v1 WHERE session_id = ? ORDER BY compacted_at DESC, turn_id DESC LIMIT ?`,
        [sessionId, limit],
      );
      return rows.map(toFold);
    },
  };
}
