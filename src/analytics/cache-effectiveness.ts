// How much of the prompts was read from the cache, how much was written, and how much was written again.
import { integer } from "../edge/stores/sql/read-row.ts";
import type { Analysis, Question } from "./analysis.ts";
import { hitRateOf, ratio, sumSql, writtenSql } from "./figures.ts";
import { callGroups, readByGroup, type GroupKey } from "./group-keys.ts";

export interface CacheFigures {
  readonly uncached_input_tokens: number;
  readonly cached_input_tokens: number;
  readonly cache_creation_tokens: number;
  /** Read ÷ everything sent. */
  readonly hit_rate: number | null;
  /** Written ÷ everything sent. */
  readonly cache_write_share: number | null;
  /** Tokens new to the cache: the longest prefix minus what the first call in the window read. */
  readonly distinct_tokens: number;
  /** Written ÷ distinct: 1 if nothing was written twice. */
  readonly rewrite_factor: number | null;
  readonly call_count: number;
}

export const cacheEffectiveness: Analysis<CacheFigures> = {
  summary:
    "How much of the prompts was read from the cache, and what was written to it, once or again",
  groupBys: callGroups,
  orders: ["call_count", "hit_rate", "cache_write_share", "rewrite_factor"],
  async ask(ledger, question) {
    const groups = await readByGroup(
      ledger,
      question,
      (
        key,
      ) => `SELECT grp, ${sumSql("call_count", "call_count")}, ${sumSql("uncached", "uncached")}, ${sumSql("read_tokens", "read_tokens")},
        ${sumSql("written", "written")}, ${sumSql("longest - first_read", "distinct_tokens")}
      FROM (${perPrefix(key, question)}) p GROUP BY grp`,
    );
    const rows = groups.map(([label, row]) => {
      const uncached = integer(row, "uncached");
      const read = integer(row, "read_tokens");
      const written = integer(row, "written");
      const distinct = integer(row, "distinct_tokens");
      const figures: CacheFigures = {
        uncached_input_tokens: uncached,
        cached_input_tokens: read,
        cache_creation_tokens: written,
        hit_rate: hitRateOf({ uncached, read, written, output: 0 }),
        cache_write_share: ratio(written, uncached + read + written),
        distinct_tokens: distinct,
        rewrite_factor: ratio(written, distinct),
        call_count: integer(row, "call_count"),
      };
      return { label, figures };
    });
    return { rows };
  },
};

/**
 * One row per growing prefix: per session, model and stretch between two compactions. What its first call in the window read
 * was cached before. To find that call in one pass, time and read tokens are packed into one number, time first. Calls
 * that only kept a cache warm would count as hits, and are left out.
 */
function perPrefix(key: GroupKey, { window }: Question): string {
  return `SELECT c.session_id, b.compacted_at, c.model, ${key.calls} AS grp, COUNT(*) AS call_count,
      ${sumSql("c.uncached_tokens", "uncached")}, ${sumSql("c.read_tokens", "read_tokens")}, ${sumSql(writtenSql, "written")},
      COALESCE(MAX(c.read_tokens + ${writtenSql}), 0) AS longest,
      COALESCE(MIN((c.started_ms - ${window.startMs}) * ${tokensMax} + c.read_tokens) % ${tokensMax}, 0) AS first_read
    FROM calls c LEFT JOIN (${betweenCompactions}) b ON b.session_id = c.session_id AND c.started_ms >= b.compacted_at AND c.started_ms < b.until_ms
    ${key.usesSession === true ? "LEFT JOIN sessions s ON s.id = c.session_id" : ""}
    WHERE c.kind = 'turn' AND c.started_ms >= ? AND c.started_ms < ? GROUP BY 1, 2, 3, 4`;
}

/** More tokens than any prompt has, small enough that 60 years in milliseconds times it is a safe integer. */
const tokensMax = 4_194_304;

const betweenCompactions =
  "SELECT f.session_id, f.compacted_at, LEAD(f.compacted_at, 1, 9000000000000) OVER (PARTITION BY f.session_id ORDER BY f.compacted_at) AS until_ms FROM compactions_v1 f";
