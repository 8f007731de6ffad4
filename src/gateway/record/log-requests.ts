// Collects whole exchanges for the request log, up to a limit in memory. Off unless a folder is named.
import type { ExchangeStart, Observation, Observer } from "../exchange.ts";
import type { LogEntry } from "./log-folder.ts";

export interface LogRequestsOptions {
  readonly onEntry: (entry: LogEntry) => void;
  /** An exchange that could not be kept whole. */
  readonly onSkipped: () => void;
  /** The limit of one exchange; a longer one is left out. */
  readonly exchangeBytesMax: number;
}

export function logRequests(options: LogRequestsOptions): Observer {
  return {
    // Only requests with a body say something about caching.
    begin: (start) => (start.method === "POST" ? collect(start, options) : null),
  };
}

function collect(
  { startMs, method, path, headers }: ExchangeStart,
  { onEntry, onSkipped, exchangeBytesMax }: LogRequestsOptions,
): Observation {
  let body: readonly Uint8Array[] | null = null;
  let status: number | null = null;
  let answerHeaders: LogEntry["answerHeaders"] = {};
  let answer: Uint8Array[] = [];
  let bytes = 0;
  const add = (more: number): void => {
    bytes += more;
    if (bytes <= exchangeBytesMax) return;
    [body, answer] = [null, []];
  };
  return {
    requestBody: (given) => {
      body = given;
      add(given?.reduce((sum, { byteLength }) => sum + byteLength, 0) ?? 0);
    },
    responseHead: (code, given) => {
      [status, answerHeaders] = [code, given];
    },
    responseBytes: (piece) => {
      if (body === null) return;
      answer.push(piece);
      add(piece.byteLength);
    },
    end: ({ endMs }) => {
      if (body === null) return onSkipped();
      onEntry({ startMs, endMs, method, path, headers, body, status, answerHeaders, answer });
    },
  };
}

/** Joins two observers of the same traffic. Each sees the exchanges that it watches. */
export function observeBoth(one: Observer, other: Observer): Observer {
  return {
    begin: (start) => {
      const seen = [one.begin(start), other.begin(start)].filter((each) => each !== null);
      const [first, second] = seen;
      if (first === undefined || second === undefined) return first ?? null;
      const { rewrite } = seen.find((each) => each.rewrite !== undefined) ?? {};
      const { keep } = seen.find((each) => each.keep !== undefined) ?? {};
      return {
        ...(rewrite === undefined ? {} : { rewrite }),
        ...(keep === undefined ? {} : { keep }),
        requestBody: (body) => {
          for (const each of seen) each.requestBody(body);
        },
        responseHead: (status, headers) => {
          for (const each of seen) each.responseHead(status, headers);
        },
        responseBytes: (bytes) => {
          for (const each of seen) each.responseBytes(bytes);
        },
        end: (end) => {
          for (const each of seen) each.end(end);
        },
      };
    },
  };
}
