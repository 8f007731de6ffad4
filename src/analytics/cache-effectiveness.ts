// How much of the prompts was read from the cache, how much was written, and how much was written again.
import { attributeUsage } from "../core/cache/tier-usage.ts";
import { fromOutcomeText } from "../core/ledger/call-text.ts";
import { noUsage, type Usage } from "../core/message/usage.ts";
import type { Tier } from "../core/tokens/budget.ts";
import { integer, readAs } from "../edge/stores/sql/read-row.ts";
import type { Analysis, Found, LedgerSnapshot, Question } from "./analysis.ts";
import { ratio, sumSql, writtenSql, type TokenSums } from "./figures.ts";
import { callGroups, readByGroup, type GroupKey } from "./group-keys.ts";

export interface CacheFigures {
  readonly uncached_input_tokens: number;
  readonly cached_input_tokens: number;
  readonly cache_creation_tokens: number;
  /** Read ÷ everything sent. */
  readonly hit_rate: number | null;
  /** Written ÷ everything sent. */
  readonly cache_write_share: number | null;
  /** Read or written ÷ everything sent: what stood before the last marker. */
  readonly coverage: number | null;
  /** Tokens new to the cache: the longest prefix minus what the first call in the window read. Null for a tier. */
  readonly distinct_tokens: number | null;
  /** Written ÷ distinct: 1 if nothing was written twice. */
  readonly rewrite_factor: number | null;
  readonly call_count: number;
}

export const cacheEffectiveness: Analysis<CacheFigures> = {
  summary:
    "How much of the prompts was read from the cache, and what was written to it, once or again",
  groupBys: [...callGroups, "tier"],
  orders: ["call_count", "hit_rate", "cache_write_share", "coverage", "rewrite_factor"],
  async ask(ledger, question) {
    if (question.groupBy === "tier") return askTiers(ledger, question);
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
        ...sharesOf({ uncached, read, written }),
        distinct_tokens: distinct,
        rewrite_factor: ratio(written, distinct),
        call_count: integer(row, "call_count"),
      };
      return { label, figures };
    });
    return { rows };
  },
};

function sharesOf({
  uncached,
  read,
  written,
}: Sums): Omit<CacheFigures, "distinct_tokens" | "rewrite_factor" | "call_count"> {
  const prompt = uncached + read + written;
  return {
    uncached_input_tokens: uncached,
    cached_input_tokens: read,
    cache_creation_tokens: written,
    hit_rate: ratio(read, prompt),
    cache_write_share: ratio(written, prompt),
    coverage: ratio(read + written, prompt),
  };
}

type Sums = Pick<TokenSums, "uncached" | "read" | "written">;

/** Each bill spread over the tiers of its prompt, which is read and written from its start. */
async function askTiers(
  { query }: LedgerSnapshot,
  { window }: Question,
): Promise<Found<CacheFigures>> {
  const calls = await query(
    `SELECT c.uncached_tokens, c.read_tokens, ${writtenSql} AS written, c.outcome_json FROM calls c
    WHERE c.started_ms >= ? AND c.started_ms < ? AND c.uncached_tokens IS NOT NULL`,
    [window.startMs, window.endMs],
  );
  const sums = new Map<Tier, Sums & { readonly calls: number }>();
  let unknown = 0;
  for (const row of calls) {
    const { tiers } = readAs(row, "outcome_json", fromOutcomeText);
    if (tiers === undefined) {
      unknown += 1;
      continue;
    }
    const usage: Usage = {
      ...noUsage,
      uncachedTokens: integer(row, "uncached_tokens"),
      cacheReadTokens: integer(row, "read_tokens"),
      cacheWriteTokens: { "5m": integer(row, "written") },
    };
    for (const { tier, uncachedTokens, readTokens, writtenTokens } of attributeUsage(
      tiers,
      usage,
    )) {
      const sum = sums.get(tier) ?? { uncached: 0, read: 0, written: 0, calls: 0 };
      sums.set(tier, {
        uncached: sum.uncached + uncachedTokens,
        read: sum.read + readTokens,
        written: sum.written + writtenTokens,
        calls: sum.calls + 1,
      });
    }
  }
  const rows = [...sums].map(([label, { calls: call_count, ...sum }]) => ({
    label,
    figures: { ...sharesOf(sum), distinct_tokens: null, rewrite_factor: null, call_count },
  }));
  const notes = unknown === 0 ? [] : [`${unknown} calls were recorded without their tiers`];
  return { rows, notes };
}

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
    WHERE c.kind NOT IN ('warm', 'stored') AND c.started_ms >= ? AND c.started_ms < ? GROUP BY 1, 2, 3, 4`;
}

/** More tokens than any prompt has, small enough that 60 years in milliseconds times it is a safe integer. */
const tokensMax = 4_194_304;

const betweenCompactions =
  "SELECT f.session_id, f.compacted_at, LEAD(f.compacted_at, 1, 9000000000000) OVER (PARTITION BY f.session_id ORDER BY f.compacted_at) AS until_ms FROM compactions_v1 f";
