// How much of the prompts was read from the cache, how much was written, and how much was written again.
import { integer } from "../edge/stores/sql/read-row.ts";
import { jsonFacts } from "../edge/stores/rollups/json-facts.ts";
import { callFacts } from "../edge/stores/rollups/call-facts.ts";
import type { Analysis, Found, Label, LedgerSnapshot, Question } from "./analysis.ts";
import { ratio, type TokenSums } from "./figures.ts";
import { callGroups } from "./group-keys.ts";
import { readColumns, readSums } from "./read-sums.ts";

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
  isForKeys: true,
  orders: ["call_count", "hit_rate", "cache_write_share", "coverage", "rewrite_factor"],
  async ask(ledger, question) {
    if (question.groupBy === "tier") return askTiers(ledger, question);
    const calls = await readSums(ledger, question, {
      fact: callFacts.calls,
      dims: ["is_warm"],
      columns: ["call_count", "uncached", "read_tokens", "written"],
    });
    const groups = calls.filter(([, row]) => integer(row, "is_warm") === 0);
    const prefixes = await readDistinct(ledger, question);
    const rows = groups.map(([label, row]) => {
      const uncached = integer(row, "uncached");
      const read = integer(row, "read_tokens");
      const written = integer(row, "written");
      const distinct = prefixes.get(label) ?? 0;
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
async function askTiers(ledger: LedgerSnapshot, question: Question): Promise<Found<CacheFigures>> {
  const found = await readColumns(ledger, question, {
    fact: jsonFacts.tiers,
    columns: ["uncached", "read_tokens", "written", "call_count"],
  });
  const [uncached, read, written, calls] = [
    found.column("uncached"),
    found.column("read_tokens"),
    found.column("written"),
    found.column("call_count"),
  ];
  const rows = [...found.groupOf].flatMap((group, row) => {
    const label = found.labels[group] ?? null;
    if (label === null) return [];
    const sums = {
      uncached: uncached[row] ?? 0,
      read: read[row] ?? 0,
      written: written[row] ?? 0,
    };
    const figures = {
      ...sharesOf(sums),
      distinct_tokens: null,
      rewrite_factor: null,
      call_count: calls[row] ?? 0,
    };
    return [{ label, figures }];
  });
  const unknown = found.groupOf.findIndex((group) => found.labels[group] === null);
  const notes =
    unknown === -1 ? [] : [`${calls[unknown] ?? 0} calls were recorded without their tiers`];
  return { rows, notes };
}

/** Tokens new to the cache: the longest part of each growing prefix, without what its first call in the window read. */
async function readDistinct(
  ledger: LedgerSnapshot,
  question: Question,
): Promise<ReadonlyMap<Label, number>> {
  const found = await readColumns(ledger, question, {
    fact: callFacts.prefixes,
    dims: ["prefix"],
    columns: ["first_read", "first_ms", "longest"],
  });
  const [longest, firstRead] = [found.column("longest"), found.column("first_read")];
  const sums = new Float64Array(found.labels.length);
  for (let row = 0; row < found.count; row += 1) {
    const group = found.groupOf[row] ?? 0;
    sums[group] = (sums[group] ?? 0) + (longest[row] ?? 0) - (firstRead[row] ?? 0);
  }
  return new Map(found.labels.map((label, group) => [label, sums[group] ?? 0]));
}
