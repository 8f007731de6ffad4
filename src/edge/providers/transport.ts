// Bytes out, bytes in: a request over kept connections, its body sent piece by piece.
import { Readable } from "node:stream";
import { Pool } from "undici";
import { assert } from "../../core/assert.ts";
import { messageOf, StrataError } from "../../core/strata-error.ts";
import type { EncodedRequest } from "../../core/wire/encoded-request.ts";
import type { ProviderFailure } from "../../core/wire/failure.ts";
import type { Clock } from "./clock.ts";
import { createConnector } from "./connector.ts";
import type { BaseUrl } from "./endpoints.ts";
import { toNetworkFailure } from "./network-failure.ts";
import type { Timeouts } from "./timeouts.ts";
import type { Watch } from "./watch.ts";
import type { UnsignedRequest } from "./sign-request.ts";
import type { WireEffects } from "./wire-effects.ts";

export interface Transport {
  /** Sends one request and waits for the answer's headers. */
  post(post: Post): Promise<Answer | ProviderFailure>;
  /** Ends every connection immediately. */
  close(): Promise<void>;
}

export interface Post {
  readonly request: EncodedRequest;
  /** Includes the query, if there is one. */
  readonly path: string;
  readonly stream: boolean;
  readonly watch: Watch;
}

export interface Answer {
  readonly kind: "answer";
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: AsyncIterable<unknown>;
  /** Releases the connection if the body was not read to its end. */
  release(): void;
}

/** A little less than load balancers usually allow; a server's own hint wins. */
const keepAliveMs = 30_000;

export interface TransportOptions {
  readonly base: Pick<BaseUrl, "origin">;
  readonly credentials: Readonly<Record<string, string>>;
  readonly timeouts: Timeouts;
  readonly clock: Clock;
  readonly effects: Pick<WireEffects, "sign">;
}

export function openTransport(options: TransportOptions): Transport {
  const { credentials, timeouts, clock, effects } = options;
  const { origin } = options.base;
  const closing = new AbortController();
  const pool = new Pool(origin, {
    connect: createConnector({ limitMs: timeouts.connectMs, clock, closing: closing.signal }),
    keepAliveTimeout: keepAliveMs,
    // The watch enforces these limits on its own clock.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  return {
    post: async ({ request, path, stream, watch }) => {
      const { method = "POST" } = request;
      const hasBody = request.byteLength > 0 || method === "POST";
      const headers = {
        "user-agent": "strata-context",
        accept: stream ? "text/event-stream, application/json" : "application/json",
        "accept-encoding": "identity",
        ...joinHeaders(request.headers, credentials),
        ...(hasBody && {
          "content-type": "application/json",
          "content-length": String(request.byteLength),
        }),
      };
      const before = watch.stopped();
      if (before !== null) return before;
      const body = hasBody ? toBody(request) : null;
      try {
        const unsigned: UnsignedRequest = { ...request, method, origin, path, headers };
        const signed = await signedHeaders(effects, unsigned, { watch, timeouts });
        if ("failure" in signed) return signed.failure;
        // Throws immediately if a header cannot be sent.
        const answering = pool.request({
          method,
          path,
          headers: { ...headers, ...signed.headers },
          body,
          signal: watch.signal,
        });
        const answer = await untilStopped(answering, watch, (late) => drop(late.body));
        return {
          kind: "answer",
          status: answer.statusCode,
          headers: toRecord(answer.headers),
          body: answer.body,
          release: () => drop(answer.body),
        };
      } catch (error) {
        if (error instanceof StrataError) throw error;
        return watch.stopped() ?? toNetworkFailure(error, timeouts);
      }
    },
    close: () => {
      closing.abort();
      return pool.destroy();
    },
  };
}

type Signed = { readonly headers: Headers } | { readonly failure: ProviderFailure };

/** What the caller can fix is thrown. Credentials that cannot be had are the provider's refusal, told early. */
async function signedHeaders(
  { sign }: TransportOptions["effects"],
  request: UnsignedRequest,
  { watch, timeouts }: { readonly watch: Watch; readonly timeouts: Timeouts },
): Promise<Signed> {
  if (sign === undefined) return { headers: {} };
  try {
    return { headers: await untilStopped(sign(request), watch) };
  } catch (error) {
    const stopped = watch.stopped();
    if (stopped !== null) return { failure: stopped };
    if (error instanceof StrataError) throw error;
    if (isOfNetwork(error)) return { failure: toNetworkFailure(error, timeouts) };
    const detail = `the request cannot be signed: ${messageOf(error)}`;
    return { failure: { kind: "authentication", detail } };
  }
}

/** A server of tokens that does not answer may do so later. */
function isOfNetwork(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : null;
  return typeof code === "string" && /^(?:ECONN|ENOTFOUND|ETIMEDOUT|EAI_|EPIPE|UND_ERR)/.test(code);
}

/** The pieces themselves, one write each; they are never joined. */
function toBody({ pieces, byteLength }: EncodedRequest): Readable {
  const length = pieces.reduce((sum, piece) => sum + piece.byteLength, 0);
  assert(length === byteLength, "the request's byteLength is not the length of its pieces");
  return Readable.from(pieces);
}

/** Discards an answer that is not read to its end, or that came too late. */
function drop(body: Readable): void {
  body.on("error", () => {}).destroy();
}

/** The client checks its signal only after it has a connection; we do not wait for that. */
async function untilStopped<Given>(
  giving: Promise<Given>,
  watch: Watch,
  discard: (late: Given) => void = () => {},
): Promise<Given> {
  const stopping = Promise.withResolvers<never>();
  const onAbort = (): void => {
    stopping.reject(new Error("stopped"));
    giving.then(discard, () => {});
  };
  watch.signal.addEventListener("abort", onAbort);
  try {
    return await Promise.race([giving, stopping.promise]);
  } finally {
    watch.signal.removeEventListener("abort", onAbort);
  }
}

function toRecord(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name.toLowerCase(),
      Array.isArray(value) ? value.join(", ") : (value ?? ""),
    ]),
  );
}

type Headers = Readonly<Record<string, string>>;

/** Configured headers override the request's. Feature lists of both are joined. */
export function joinHeaders(ofRequest: Headers, configured: Headers): Headers {
  const joined = Object.entries(configured).map(([name, value]) => {
    const own = ofRequest[name];
    return [name, own === undefined || !isList(name) ? value : joinLists(own, value)];
  });
  return { ...ofRequest, ...Object.fromEntries(joined) };
}

/** Providers list features in a header with this ending, separated by commas. */
export function isList(name: string): boolean {
  return name.endsWith("-beta");
}

function joinLists(...lists: readonly string[]): string {
  const names = lists.flatMap((list) => list.split(",")).map((name) => name.trim());
  return [...new Set(names)].filter((name) => name !== "").join(",");
}
