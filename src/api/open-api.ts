// The HTTP API of a ledger: answers requests below /strata/v1 that a listener hands to it.
import type { IncomingMessage, ServerResponse } from "node:http";
import { owner } from "./access/access.ts";
import { createDoor, type DoorOptions } from "./access/door.ts";
import { createLogins } from "./access/logins.ts";
import { answerRequests, type ServedMetrics } from "./answer/answer-requests.ts";
import { toOpenApi } from "./openapi/openapi.ts";
import type { ReaderOptions } from "./reader/answer-question.ts";
import { openReaderThread, type ReaderThread } from "./reader/reader-thread.ts";
import { createEventStreams, type StreamLimits } from "./stream/event-streams.ts";
import { createPageReader } from "./stream/page-reader.ts";
import { apiBase, routes } from "./routes/routes.ts";

export interface ApiOptions extends ReaderOptions, DoorOptions {
  /** The listener speaks TLS, so that cookies travel over nothing else. */
  readonly isEncrypted: boolean;
  readonly streams?: Partial<StreamLimits>;
  /** What `/metrics` answers; absent where nothing is measured. */
  readonly metrics?: ServedMetrics | undefined;
  /** What the gateway of this process says of itself; absent where none runs. */
  readonly health?: () => Readonly<Record<string, unknown>>;
  /** For people. */
  readonly onProblem: (problem: string) => void;
}

export interface Api {
  /** Whether the path of a request is one of the API's. */
  takes(url: string): boolean;
  answer(incoming: IncomingMessage, outgoing: ServerResponse): void;
  /** For someone who has the token: one browser logs in with it, once. */
  newLoginCode(): string;
  /** Ends the streams, which would last for ever. Questions are still answered. */
  endStreams(): void;
  close(): Promise<void>;
}

/** The ledger is opened with the first question. */
export function openApi(options: ApiOptions): Api {
  const { store, models, keepsUp = false, isEncrypted } = options;
  const logins = createLogins();
  let isClosed = false;
  // What was open when it was closed gets no answer: that is no problem.
  const onProblem: ApiOptions["onProblem"] = (problem) => {
    if (!isClosed) options.onProblem(problem);
  };
  // An analysis of a year holds up no page of events.
  const quick = openReaderThread({ store, models }, onProblem);
  const slow = openReaderThread({ store, models, keepsUp }, onProblem);
  const slowRoutes = new Set(routes.flatMap(({ name, isSlow }) => (isSlow === true ? [name] : [])));
  const ask: ReaderThread["ask"] = (question) =>
    (slowRoutes.has(question.route) ? slow : quick).ask(question);
  const streams = createEventStreams(createPageReader(quick), onProblem, options.streams);
  let document: object | null = null;
  const answer = answerRequests({
    table: routes,
    door: createDoor(options, logins),
    reader: { ask },
    streams,
    metrics: options.metrics ?? null,
    desk: {
      logins,
      isEncrypted,
      gatewayHealth: () => options.health?.() ?? {},
      isLedgerReadable: () => canRead(quick),
      document: () => (document ??= toOpenApi(routes, apiBase)),
    },
    onFault: (fault) => onProblem(`the API made a mistake: ${fault}`),
  });
  return {
    takes: (url) => /^\/(?:strata\/v1|metrics)(?:[/?]|$)/.test(url),
    answer,
    newLoginCode: () => logins.newCode(Date.now()).code,
    endStreams: () => streams.close(),
    close: async () => {
      isClosed = true;
      streams.close();
      await Promise.all([quick.stop(), slow.stop()]);
    },
  };
}

/** By a question that is answered from any ledger. */
async function canRead(reader: ReaderThread): Promise<boolean> {
  const { status } = await reader.ask({
    route: "session_list",
    asked: { path: {}, query: { limit: "1" }, access: owner },
    nowMs: Date.now(),
    takesGzip: false,
    knownTag: null,
  });
  return status === 200;
}
