// Finds the hidden messages that share the rarest words with a query, by the database's full-text index.
import { codeOf } from "../../../../core/recall/term-codes.ts";
import type { Statement } from "../../sql/database.ts";
import { integer } from "../../sql/read-row.ts";
import { isHidden, type Hidden, type MessagePlaces, type NumberedTurn } from "./history-path.ts";
import type { Store } from "../store.ts";
import { rangesSql, rangeValues } from "./threads.ts";

export interface CountedTerm {
  readonly term: string;
  /** How many messages contain it. */
  readonly count: number;
}

export interface Weighed extends CountedTerm {
  readonly weight: number;
}

export interface FoundMessage {
  readonly turn: NumberedTurn;
  readonly index: number;
  /** Counted from the first hidden message. */
  readonly position: number;
}

/** Only terms that occur, rarest first. */
export async function countTerms(
  { database }: Store,
  hidden: Hidden,
  terms: readonly string[],
): Promise<readonly CountedTerm[]> {
  const asked = fewEnough(terms, hidden);
  if (asked.length === 0 || hidden.segments.length === 0) return [];
  const { sql, values } = matching(database.termsSql, hidden, asked);
  const rows = await database.query(
    `${sql.before} SELECT m.number, COUNT(*) AS count ${sql.from} GROUP BY m.number`,
    values,
  );
  return rows
    .map((row) => ({ term: asked[integer(row, "number")] ?? "", count: integer(row, "count") }))
    .toSorted((a, b) => a.count - b.count || (a.term < b.term ? -1 : 1));
}

/** More terms would hardly change the result. */
const termsMax = 48;
const termsMin = 16;
const codesMax = 2000;
const rowsMax = 20_000;
const candidatesMax = 100;

export async function findCandidates(
  { database }: Store,
  hidden: Hidden,
  weighed: readonly Weighed[],
  { turnAt }: MessagePlaces,
): Promise<readonly FoundMessage[]> {
  const asked = rarest(weighed);
  if (asked.length === 0) return [];
  const { sql, values } = matching(
    database.termsSql,
    hidden,
    asked.map(({ term }) => term),
  );
  const rows = await database.query(
    `${sql.before} SELECT DISTINCT m.number, m.branch_id, m.turn_seq, m.idx ${sql.from}`,
    values,
  );
  const found = new Map<string, FoundMessage & { score: number }>();
  // In one fixed order, so that floating-point sums are equal on every database.
  const ordered = rows.toSorted((a, b) => integer(a, "number") - integer(b, "number"));
  for (const row of ordered) {
    const [branchId, seq] = [integer(row, "branch_id"), integer(row, "turn_seq")];
    const index = integer(row, "idx");
    const turn = turnAt(branchId, seq);
    if (turn === undefined) continue;
    const key = `${branchId} ${seq} ${index}`;
    const known = found.get(key) ?? { turn, index, position: turn.position + index, score: 0 };
    known.score += asked[integer(row, "number")]?.weight ?? 0;
    found.set(key, known);
  }
  return [...found.values()]
    .toSorted((a, b) => b.score - a.score || b.position - a.position)
    .slice(0, candidatesMax);
}

/** Limits the lookup time: a term in nearly every message says nothing. */
function rarest(weighed: readonly Weighed[]): readonly Weighed[] {
  let rows = 0;
  return weighed.slice(0, termsMax).filter(({ count }, index) => {
    rows += count;
    return index === 0 || rows <= rowsMax;
  });
}

interface Matching {
  readonly sql: { readonly before: string; readonly from: string };
  readonly values: Statement["values"];
}

/** Forces the lookup by code first, against the database's own plan. Each branch has its own codes. */
function matching(termsSql: string, hidden: Hidden, terms: readonly string[]): Matching {
  const { segments } = hidden;
  const codes = segments.flatMap(({ branchId }) =>
    terms.map((term, number) => [number, codeOf(term, branchId)]),
  );
  const rows = codes.map(() => "(CAST(? AS BIGINT), CAST(? AS TEXT))").join(", ");
  const shown = isHidden("m", hidden);
  return {
    sql: {
      before: `${rangesSql(segments)}, q (number, code) AS (VALUES ${rows}), found (number, branch_id, turn_seq, idx) AS MATERIALIZED (SELECT q.number, m.branch_id, m.turn_seq, m.idx ${termsSql})`,
      from: `FROM found m JOIN ranges r ON m.branch_id = r.branch_id AND m.turn_seq BETWEEN r.low AND r.high WHERE ${shown.sql}`,
    },
    values: [...rangeValues(segments), ...codes.flat(), ...shown.values],
  };
}

/** A thread with very many branches looks up fewer terms. */
function fewEnough<T>(terms: readonly T[], { segments }: Hidden): readonly T[] {
  return terms.slice(0, Math.max(termsMin, Math.floor(codesMax / segments.length)));
}
