// Searches what compactions hide: the database's full-text index finds candidates, one shared ranking orders them.
import type {
  FoundHistory,
  HistoryHit,
  HistoryQuery,
} from "../../../../core/ledger/history-record.ts";
import { rankHistory, rarityOf, readQuery } from "../../../../core/recall/rank-history.ts";
import type { Candidate, RankedPassage } from "../../../../core/recall/pick-varied.ts";
import type { ResultRow } from "../../sql/database.ts";
import { integer } from "../../sql/read-row.ts";
import { countTerms, findCandidates, type FoundMessage, type Weighed } from "./find-candidates.ts";
import { indexHidden } from "./index-history.ts";
import { countMessages, readHistoryPath, type NumberedTurn } from "./history-path.ts";
import { historyColumns, toHistoryText, toPlaces } from "./history-text.ts";
import type { Store } from "../store.ts";

export async function searchHistory(
  store: Store,
  { sessionId, text, limit = 5, excerptCharacters = 1200 }: HistoryQuery,
): Promise<FoundHistory> {
  const path = await readHistoryPath(store, sessionId);
  const { hidden } = path;
  if (hidden === null) return { hits: [], messages: 0 };
  await indexHidden(store, path, hidden);
  const places = await countMessages(store, path, hidden);
  const query = readQuery(text);
  const counted = await countTerms(store, hidden, query.terms);
  const weighed = counted.map(({ term, count }): Weighed => {
    return { term, count, weight: rarityOf(count, places.messageCount) };
  });
  const found = await findCandidates(store, hidden, weighed, places);
  const candidates = await readCandidates(store, found);
  const ranked = rankHistory(candidates, {
    weights: new Map(weighed.map(({ term, weight }) => [term, weight])),
    phrase: query.phrase,
    messageCount: places.messageCount,
    passageCharacters: within(excerptCharacters, 100, 20_000),
    limit: within(limit, 1, 50),
  });
  return { hits: await toHits(store, ranked), messages: places.messageCount };
}

function within(value: number, low: number, high: number): number {
  return Number.isFinite(value) ? Math.min(high, Math.max(low, Math.trunc(value))) : low;
}

interface ReadCandidate extends Candidate {
  readonly row: ResultRow;
  readonly turn: NumberedTurn;
}

const messagesPerQuery = 20;
/** Stops reading texts after this many characters. The candidates left out match least. */
const charactersMax = 8_000_000;

async function readCandidates(
  store: Store,
  found: readonly FoundMessage[],
): Promise<readonly ReadCandidate[]> {
  const read: ReadCandidate[] = [];
  let characters = 0;
  for (let at = 0; at < found.length && characters < charactersMax; at += messagesPerQuery) {
    const some = found.slice(at, at + messagesPerQuery);
    const places = some.map(() => "(CAST(? AS BIGINT), CAST(? AS BIGINT), CAST(? AS BIGINT))");
    const rows = await store.database.query(
      `WITH w (branch_id, turn_seq, idx) AS (VALUES ${places.join(", ")}) SELECT ${historyColumns} FROM w
        JOIN messages m ON m.branch_id = w.branch_id AND m.turn_seq = w.turn_seq AND m.idx = w.idx
        JOIN turns t ON t.branch_id = m.branch_id AND t.seq = m.turn_seq`,
      some.flatMap(({ turn, index }) => [turn.branchId, turn.seq, index]),
    );
    for (const row of rows) {
      const index = integer(row, "idx");
      const one = some.find(
        ({ turn, index: other }) =>
          other === index &&
          turn.branchId === integer(row, "branch_id") &&
          turn.seq === integer(row, "turn_seq"),
      );
      if (one === undefined) continue;
      const text = await toHistoryText(store, row);
      characters += text.length;
      read.push({ row, turn: one.turn, position: one.position, text });
    }
  }
  return read;
}

async function toHits(
  store: Store,
  ranked: readonly RankedPassage<ReadCandidate>[],
): Promise<readonly HistoryHit[]> {
  const places = await toPlaces(
    store,
    ranked.map(({ candidate }) => candidate),
  );
  return ranked.flatMap(({ candidate: { text }, score, from, to }, index) => {
    const place = places[index];
    const excerpt = text.slice(from, to).toWellFormed();
    return place === undefined
      ? []
      : [{ ...place, excerpt, offset: from, characters: text.length, score }];
  });
}
