// One row of the route table: where it is, what it takes, what it answers, and who works it out.
import type { IncomingHttpHeaders } from "node:http";
import type { AnalyticsSource, AnalyticsWorld } from "../../analytics/analysis.ts";
import type { Fields } from "../../core/message/fields.ts";
import type { EventFeed } from "../../edge/stores/ledger/event-feed.ts";
import type { Access } from "../access/access.ts";
import type { Logins } from "../access/logins.ts";
import type { ApiErrorCode } from "../answer/api-error.ts";
import type { ParameterName } from "./parameters.ts";
import type { Schema } from "./schema.ts";

export interface Route {
  /** The name in the client and in openapi.json. */
  readonly name: string;
  readonly method: "GET" | "POST";
  /** Below `/strata/v1`, with `{name}` for a part that varies. */
  readonly path: string;
  readonly summary: string;
  readonly query: readonly ParameterName[];
  /** Values that a parameter can have here, where they differ between routes. The first is the default. */
  readonly values?: Readonly<Partial<Record<ParameterName, readonly string[]>>>;
  readonly answer: Schema;
  /** Codes besides those that every route has. */
  readonly errors: readonly ApiErrorCode[];
  /** Path and query of an example, for a shell. */
  readonly example: string;
  /** The body of the example, as it stands in a shell; `'{}'` unless said otherwise. */
  readonly exampleBody?: string;
  /** Shows a virtual key its own rows, and no others. All other routes refuse keys. */
  readonly isForKeys?: true;
  /** What is sent with POST. */
  readonly takes?: Schema;
  /** Reads the ledger, in a thread. One of this, `act` and `isStream` is there. */
  readonly read?: Read;
  /** May take seconds, and is read in a thread apart from what people wait for. */
  readonly isSlow?: true;
  /** Answers with events as they come, until the reader leaves. */
  readonly isStream?: true;
  /** Needs no ledger, or the state of this process. */
  readonly act?: Act;
}

export type Read = (asked: Asked, source: Source) => Promise<Found>;

/** A request whose parameters are known ones. */
export interface Asked {
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Partial<Record<ParameterName, string>>>;
  readonly access: Access;
}

/** One ledger, as the asker may see it. */
export interface Source extends AnalyticsWorld {
  readonly database: AnalyticsSource;
  readonly feed: EventFeed;
}

export type Act = (asked: AskedHere, desk: Desk) => Promise<Acted> | Acted;

export interface AskedHere extends Asked {
  readonly body: Fields;
  readonly headers: IncomingHttpHeaders;
  readonly nowMs: number;
}

export interface Acted {
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The state of the process that answers. */
export interface Desk {
  readonly logins: Logins;
  readonly isEncrypted: boolean;
  /** openapi.json, made when it is first asked for. */
  readonly document: () => object;
  /** What the gateway of this process says of itself; nothing where none runs. */
  readonly gatewayHealth: () => Readonly<Record<string, unknown>>;
  readonly isLedgerReadable: () => Promise<boolean>;
}

export interface Found {
  readonly body: object;
  /** The answer is about a time that has ended, so that it hardly changes. */
  readonly isClosed: boolean;
}
