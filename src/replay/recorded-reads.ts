// Recorded reads next to those that the simulator gives for the same requests, per session.
import { promptTokens, type Usage } from "../core/message/usage.ts";
import type { RecordedSession } from "./recording.ts";

export interface SessionReads {
  readonly session: string;
  readonly file: string;
  readonly agent: string | null;
  /** Whether the client marks what to keep, or the provider decides; null if no request was compared. */
  readonly caching: Caching | null;
  /** Requests with recorded usage, without the first of each thread: other sessions may have warmed it. */
  readonly requests: number;
  readonly recordedReadTokens: number;
  readonly simulatedReadTokens: number;
  /** The difference ÷ recorded tokens; null if nothing was read. */
  readonly error: number | null;
  /** Prompt tokens of all requests with a bill, and how far what was priced is from them, request by request. */
  readonly billedPromptTokens: number;
  readonly promptErrorTokens: number;
  readonly hidden: readonly HiddenChange[];
}

export type Caching = "markers" | "automatic";

/** A prompt that grew by more than the recording shows, or by less if tokens are negative. */
export interface HiddenChange {
  /** Within its session, from 1. */
  readonly request: number;
  /** Empty for the main thread. */
  readonly thread: string;
  readonly tokens: number;
}

export interface ReadsMeter {
  /** Counts a request of the session; call it for every request, in the order of the recording. */
  addRequest(session: RecordedSession, thread: string, tokens: number): void;
  /** Call it for every request with a bill. */
  comparePrompt(session: RecordedSession, recorded: Usage, pricedTokens: number): void;
  compare(
    session: RecordedSession,
    caching: Caching,
    recorded: Usage,
    simulatedReadTokens: number,
  ): void;
  /** Sessions with requests to compare or with hidden changes, in the order of the recordings. */
  totals(): SessionReads[];
}

export function createReadsMeter(): ReadsMeter {
  const sums = new Map<string, Sums>();
  const sumsOf = (session: RecordedSession): Sums => {
    const known = sums.get(session.id) ?? {
      session,
      caching: null,
      seen: 0,
      requests: 0,
      recordedReadTokens: 0,
      simulatedReadTokens: 0,
      billedPromptTokens: 0,
      promptErrorTokens: 0,
      hidden: [],
    };
    sums.set(session.id, known);
    return known;
  };
  return {
    addRequest(session, thread, tokens) {
      const own = sumsOf(session);
      own.seen += 1;
      if (tokens !== 0) own.hidden.push({ request: own.seen, thread, tokens });
    },
    comparePrompt(session, recorded, pricedTokens) {
      const own = sumsOf(session);
      const billed = promptTokens(recorded);
      own.billedPromptTokens += billed;
      own.promptErrorTokens += Math.abs(pricedTokens - billed);
    },
    compare(session, caching, recorded, simulatedReadTokens) {
      const own = sumsOf(session);
      own.caching = caching;
      own.requests += 1;
      own.recordedReadTokens += recorded.cacheReadTokens;
      own.simulatedReadTokens += simulatedReadTokens;
    },
    totals: () =>
      [...sums.values()]
        .filter(
          ({ requests, hidden, billedPromptTokens }) =>
            requests > 0 || hidden.length > 0 || billedPromptTokens > 0,
        )
        .map(toSessionReads),
  };
}

interface Sums {
  readonly session: RecordedSession;
  caching: Caching | null;
  seen: number;
  requests: number;
  recordedReadTokens: number;
  simulatedReadTokens: number;
  billedPromptTokens: number;
  promptErrorTokens: number;
  readonly hidden: HiddenChange[];
}

function toSessionReads(sums: Sums): SessionReads {
  const { session, caching, requests, recordedReadTokens, simulatedReadTokens, hidden } = sums;
  const { billedPromptTokens, promptErrorTokens } = sums;
  const off = Math.abs(simulatedReadTokens - recordedReadTokens);
  return {
    session: session.id,
    file: session.file,
    agent: session.agent,
    caching,
    requests,
    recordedReadTokens,
    simulatedReadTokens,
    error: recordedReadTokens === 0 ? null : off / recordedReadTokens,
    billedPromptTokens,
    promptErrorTokens,
    hidden,
  };
}
