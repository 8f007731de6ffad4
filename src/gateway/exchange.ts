// One request and its answer on their way through the gateway, as an observer sees them.

/** What is known when a request's headers have arrived. */
export interface ExchangeStart {
  /** Unique within the process. */
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly startMs: number;
  readonly method: string;
  /** As the upstream gets it, with the query, without the base URL. */
  readonly path: string;
  /** Names in lower case. Credentials are left out. */
  readonly headers: Readonly<Record<string, string>>;
  /** The upstream's name in the configuration. */
  readonly upstream: string;
  /** Where it answers, such as https://api.example.com; absent where that is not known. */
  readonly origin?: string;
  /** The protocol's name if the upstream's configuration gives it; otherwise the request shows it. */
  readonly protocol?: string;
  /** Whether the credentials are a person's login, paid by a subscription, and not a key. */
  readonly usesLogin?: boolean;
  /** A hash of the credentials: conversations of two accounts never meet. Empty if the request has none. */
  readonly account: string;
  /**
   * Sends another body to the same place with the client's own headers. It holds the client's key, so it must not be kept longer
   * than it may be needed. Absent unless the gateway may call for itself.
   */
  readonly resend?: Resend;
}

export type Resend = (body: readonly Uint8Array[], signal: AbortSignal) => Promise<ResentAnswer>;

/** A whole answer. */
export interface ResentAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
}

/** Watches traffic. It never delays, changes or fails an exchange: if it throws, that is counted and it sees no more of this exchange. */
export interface Observer {
  /** Null if this exchange is not watched; then no byte is copied. */
  begin(start: ExchangeStart): Observation | null;
}

/** Null for the client's own bytes. */
export type Rewritten = readonly Uint8Array[] | null;

/** Calls come in this order; each at most once, except `responseBytes`. */
export interface Observation {
  /**
   * Absent if pieces are kept as they arrive. Else called with each piece of the request's body: returns the same bytes,
   * perhaps in memory that holds them already. Then the piece itself is free.
   */
  readonly keep?: (piece: Uint8Array) => readonly Uint8Array[];
  /**
   * Absent if the request is sent as it is. Else called once with the whole body, before it is sent and before
   * `requestBody`: the bytes to send instead, or null. A throw, or too long a time, sends the client's bytes; then
   * `requestBody` comes before the promise resolves.
   */
  readonly rewrite?: (body: readonly Uint8Array[]) => Rewritten | Promise<Rewritten>;
  /** How much longer `rewrite` may take because it waits for another call; absent for no longer. */
  readonly waitMsMax?: number;
  /** The whole body as the upstream gets it; null if it was too large to be kept. */
  requestBody(body: readonly Uint8Array[] | null): void;
  responseHead(status: number, headers: Readonly<Record<string, string>>): void;
  /** As they pass. They may be compressed, as the headers say. */
  responseBytes(bytes: Uint8Array): void;
  end(end: ExchangeEnd): void;
}

export interface ExchangeEnd {
  readonly how:
    | "complete"
    /** The client closed its connection before the end. */
    | "client left"
    /** The upstream's answer ended before it was complete. */
    | "cut"
    /** No answer at all. */
    | "no answer";
  readonly endMs: number;
  /** When the answer's headers came; null if none came. */
  readonly firstByteMs: number | null;
}
