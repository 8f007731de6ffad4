// For tests: reports and calls with round figures.
import type { CallDetail } from "../call-detail.ts";
import type { Figures, PolicyReport, ReplayReport } from "../report.ts";

export function makePolicy(policy: string, costUsd: number): PolicyReport {
  return {
    policy,
    ...makeFigures(costUsd),
    wastedWriteTokens: 7500,
    rewriteFactor: 1.25,
    missesByCause: {
      "lifetime expired": { count: 3, tokens: 42_000, costUsd: 0.75 },
      "beyond lookback": { count: 1, tokens: 900, costUsd: 0.0125 },
    },
  };
}

export function makeFigures(costUsd: number): Figures {
  return {
    inputTokens: 1_000_000,
    readTokens: 800_000,
    writeTokens: { "5m": 60_000, "30m": 0, "1h": 40_000 },
    uncachedTokens: 100_000,
    costUsd,
    costPicoUsd: String(costUsd * 1e12),
    relativeCost: costUsd / 10,
    ratioToLimit: costUsd / 2,
    hitRate: 0.8,
    coverage: 0.9,
  };
}

/** The limit is $2, with keep-warm $1; `steady` costs $8 and `adaptive` $2.50. */
export function makeReport(changes: Partial<ReplayReport> = {}): ReplayReport {
  return {
    sessions: 3,
    requests: 1200,
    limit: { costUsd: 2, costPicoUsd: "2000000000000", relativeCost: 0.2 },
    limitWarm: { costUsd: 1, costPicoUsd: "1000000000000", relativeCost: 0.1 },
    policies: [makePolicy("steady", 8), makePolicy("adaptive", 2.5)],
    groups: [],
    recordedReads: [],
    standIns: [],
    skipped: [],
    skippedWhere: [],
    summary: makeSummary(),
    ...changes,
  };
}

/** 1000 tokens: under `steady` all fresh; under `adaptive` 400 read, 350 written, 250 fresh. */
export function makeCall(changes: Partial<CallDetail> = {}): CallDetail {
  return {
    sessionId: "session-1",
    file: "a.jsonl",
    thread: "",
    startMs: 1_800_000_000_000,
    model: "model-a",
    tierTokens: { T0: 100, T1: 150, T2: 50, T3: 700 },
    outcomes: [
      {
        usage: {
          uncachedTokens: 1000,
          cacheReadTokens: 0,
          cacheWriteTokens: {},
          outputTokens: 0,
          reasoningTokens: 0,
        },
        miss: null,
      },
      {
        usage: {
          uncachedTokens: 250,
          cacheReadTokens: 400,
          cacheWriteTokens: { "5m": 300, "1h": 50 },
          outputTokens: 0,
          reasoningTokens: 0,
        },
        miss: { cause: "lifetime expired", tokens: 321 },
      },
    ],
    recorded: null,
    recordedCause: null,
    limitPicoUsd: 5n,
    ...changes,
  };
}

/** The same call with an excerpt in its miss. */
export function makeMissing(excerpt: string): CallDetail {
  const outcomes = makeCall().outcomes.map(({ usage, miss }) => ({
    usage,
    miss: miss === null ? null : { ...miss, excerpt },
  }));
  return makeCall({ outcomes });
}

/** Nothing is billed. */
function makeSummary(): ReplayReport["summary"] {
  const places = { all: 1, compared: 1, automatic: 0, billed: 0, unused: 0 };
  const accounting = { files: places, requests: places, unusedFiles: [], unusedRequests: [] };
  return { headline: null, causes: [], sessions: [], days: [], accounting };
}
