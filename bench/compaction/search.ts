// Whether an agent finds compacted content: recorded sessions are compacted in a real ledger and searched as its tool does.
import { crc32 } from "node:zlib";
import { atLeast, type Figure, type Report } from "../../harness/report.ts";
import type { HistoryMessage } from "../../src/core/compaction/history.ts";
import type { HistoryHit } from "../../src/core/ledger/history-record.ts";
import type { Ledger } from "../../src/core/ledger/ledger.ts";
import { createLedger } from "../../src/edge/stores/ledger/create-ledger.ts";
import { openSqlite } from "../../src/edge/stores/sqlite/open-sqlite.ts";
import { readCompactionCases, type CompactionCase } from "./cases.ts";
import { findNeeded, stands, textOf } from "./needed.ts";

const resultsShown = 5;
/** Length of the text around the later use, without the identifier. */
const contextCharacters = 600;

/**
 * "Found" means in one of the first five excerpts the model gets, of at most 1,200 characters each. Also counted:
 * anywhere in the messages of those excerpts, which takes one `history_read` more.
 */
export async function searchPart(
  folder: string,
  progress: (line: string) => void,
): Promise<Pick<Report, "figures" | "checks">> {
  const results: Result[] = [];
  for await (const each of readCompactionCases(folder, progress))
    results.push(...(await measure(each)));
  const shareOf = (isFound: (result: Result) => boolean, of: readonly Result[]): number | null =>
    of.length === 0 ? null : of.filter(isFound).length / of.length;
  const byContext = (result: Result): boolean => result.byContext.inExcerpt;
  const halves = [0, 1].map((half): [string, Figure] => {
    const some = results.filter(({ caseId }) => crc32(caseId.split("#")[0] ?? "") % 2 === half);
    return [`search by context, half ${half + 1} of the sessions`, shareOf(byContext, some)];
  });
  return {
    figures: {
      "identifiers searched for": results.length,
      "search by identifier, anywhere in the message": shareOf(
        ({ byIdentifier }) => byIdentifier.inMessage,
        results,
      ),
      "search by context, anywhere in the message": shareOf(
        (result) => result.byContext.inMessage,
        results,
      ),
      "search by context, first result only": shareOf(
        (result) => result.byContext.isFirst,
        results,
      ),
      ...Object.fromEntries(halves),
    },
    checks: [
      atLeast(
        "search by identifier",
        shareOf(({ byIdentifier }) => byIdentifier.inExcerpt, results),
        0.99,
      ),
      atLeast("search by context", shareOf(byContext, results), 0.65),
    ],
  };
}

interface Result {
  readonly caseId: string;
  readonly byIdentifier: Found;
  readonly byContext: Found;
}

interface Found {
  readonly inExcerpt: boolean;
  readonly inMessage: boolean;
  readonly isFirst: boolean;
}

async function measure(each: CompactionCase): Promise<readonly Result[]> {
  const ledger = await createLedger(openSqlite({ file: ":memory:" }));
  try {
    await recordCompacted(ledger, each);
    const results: Result[] = [];
    for (const identifier of findNeeded(each).keys()) {
      const find = async (text: string): Promise<Found> => {
        const { hits } = await ledger.searchHistory({ sessionId, text, limit: resultsShown });
        return judge(each, hits, identifier);
      };
      results.push({
        caseId: each.id,
        byIdentifier: await find(identifier),
        byContext: await find(contextOf(each, identifier)),
      });
    }
    return results;
  } finally {
    await ledger.close();
  }
}

const sessionId = "recorded";
const model = { model: "recorded", provider: "recorded" };

/** Records every turn with its messages, then one compaction that keeps the tail. */
async function recordCompacted(
  ledger: Ledger,
  { history, tailFrom }: CompactionCase,
): Promise<void> {
  await ledger.createSession({ id: sessionId, agent: "bench", role: "unified", ...model });
  let parentTurnId: string | null = null;
  for (const turn of turnsOf(history)) {
    const id = turn[0]?.turnId ?? "";
    const open = await ledger.openTurn({
      id,
      sessionId,
      parentTurnId,
      ...model,
      role: "unified",
      startMs: 0,
      messages: turn,
    });
    await open.close({ status: "completed", endMs: 0 });
    parentTurnId = id;
  }
  const first = history[tailFrom];
  const last = history[tailFrom - 1];
  if (parentTurnId === null || first === undefined || last === undefined) return;
  const lock = await ledger.lockCompaction(sessionId);
  await lock?.commit({
    id: "fold",
    sessionId,
    parentTurnId,
    messages: [],
    details: {
      compactedMs: 0,
      summary: "",
      summarizedThroughTurnId: last.turnId,
      firstKeptTurnId: first.turnId,
      firstKeptIndex: first.index,
      turnsSummarized: 0,
      kind: "summary",
      trigger: "manual",
      ...model,
      tokensBefore: 0,
      tokensAfter: 0,
      summaryTokens: 0,
      inputTokens: 0,
      outputTokens: 0,
      costPicoUsd: 0n,
      durationMs: 0,
      headTurnCount: 0,
      tailStartIndex: tailFrom,
    },
  });
  await lock?.release();
}

function turnsOf(history: readonly HistoryMessage[]): readonly (readonly HistoryMessage[])[] {
  const turns: HistoryMessage[][] = [];
  for (const message of history) {
    const last = turns.at(-1);
    if (last?.[0]?.turnId === message.turnId) last.push(message);
    else turns.push([message]);
  }
  return turns;
}

function judge(
  { history }: CompactionCase,
  hits: readonly HistoryHit[],
  identifier: string,
): Found {
  const inMessage = (hit: HistoryHit): boolean => {
    const found = history.find(({ turnId, index }) => turnId === hit.turnId && index === hit.index);
    return found !== undefined && stands(textOf([found]), identifier);
  };
  const inExcerpt = ({ excerpt }: HistoryHit): boolean => stands(excerpt, identifier);
  return {
    inExcerpt: hits.some(inExcerpt),
    inMessage: hits.some(inMessage),
    isFirst: hits.slice(0, 1).some(inExcerpt),
  };
}

/** The agent's text around its first later use of the identifier. */
function contextOf({ after }: CompactionCase, identifier: string): string {
  const written = after.filter(({ message }) => message.role === "assistant");
  for (const message of written) {
    const text = textOf([message]);
    const at = placeOf(text, identifier);
    if (at === -1) continue;
    const half = contextCharacters / 2;
    const before = text.slice(Math.max(0, at - half), at);
    const behind = text.slice(at + identifier.length, at + identifier.length + half);
    return `${before} ${behind}`.replaceAll(identifier, " ");
  }
  return "";
}

function placeOf(text: string, identifier: string): number {
  for (let at = text.indexOf(identifier); at !== -1; at = text.indexOf(identifier, at + 1)) {
    const around = text.slice(Math.max(0, at - 1), at + identifier.length + 1);
    if (stands(around, identifier)) return at;
  }
  return -1;
}
