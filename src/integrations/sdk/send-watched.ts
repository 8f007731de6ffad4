// One request through a fetch, shown to an observer on its way. A fault of the observer does not reach the caller.
import { randomUUID } from "node:crypto";
import { describeHeaders, withoutKeys } from "../../gateway/forward/describe-request.ts";
import type { Watch, Watching } from "../../gateway/forward/watch-exchanges.ts";
import type { ExchangeEnd, Rewritten } from "../../gateway/exchange.ts";

export type Fetch = typeof globalThis.fetch;

export interface Sending {
  readonly watching: Watching;
  readonly upstreamOf: (url: URL) => string;
  readonly now: () => number;
  readonly send: Fetch;
}

type Input = Parameters<Fetch>[0];
type Init = Parameters<Fetch>[1];

export async function sendWatched(input: Input, init: Init, sending: Sending): Promise<Response> {
  const { send, watching, now } = sending;
  const asked = await readAsked(input, init);
  if (asked === null) return send(input, init);
  const { url, method, headers, body } = asked;
  const path = `${url.pathname}${url.search}`;
  const own = { headers: [] };
  const watch = watching.begin(() => ({
    id: randomUUID(),
    startMs: now(),
    method,
    path: withoutKeys(path),
    upstream: sending.upstreamOf(url),
    ...describeHeaders(Object.fromEntries(headers), path, own),
  }));
  if (watch === null) return send(input, init);
  const other = await rewrite(watch, body);
  watch.requestEnd();
  const ending = openEnding(watch, asked.signal, now);
  if (other !== null && headers.has("content-length")) {
    headers.set("content-length", String(lengthOf(other)));
  }
  const changed = other === null ? init : { ...init, body: Buffer.concat(other), headers };
  try {
    return follow(await send(input, changed), watch, ending);
  } catch (error) {
    ending.end(asked.signal?.aborted === true ? "client left" : "no answer");
    throw error;
  }
}

interface Asked {
  readonly url: URL;
  readonly method: string;
  readonly headers: Headers;
  readonly body: Uint8Array;
  readonly signal: AbortSignal | null;
}

/** Null for what is no model call: its method, or a body that is not at hand as a whole. */
async function readAsked(input: Input, init: Init): Promise<Asked | null> {
  const request = input instanceof Request ? input : null;
  const url = URL.parse(input instanceof Request ? input.url : String(input));
  const method = (init?.method ?? request?.method ?? "GET").toUpperCase();
  if (url === null || method !== "POST") return null;
  const headers = new Headers(init?.headers ?? request?.headers);
  const isJson = /\bjson\b/i.test(headers.get("content-type") ?? "json");
  const body = isJson ? await readBody(init, request) : null;
  if (body === null) return null;
  return { url, method, headers, body, signal: init?.signal ?? request?.signal ?? null };
}

async function readBody(init: Init, request: Request | null): Promise<Uint8Array | null> {
  const given = init?.body;
  if (typeof given === "string") return Buffer.from(given);
  if (given instanceof Uint8Array) return given;
  if (given !== undefined && given !== null) return null;
  // Read from a copy: the request itself is sent.
  return request?.body == null ? null : new Uint8Array(await request.clone().arrayBuffer());
}

async function rewrite(watch: Watch, body: Uint8Array): Promise<Rewritten> {
  watch.requestBytes(body);
  if (body.byteLength > watch.rewrittenBytesMax) return null;
  const { promise, resolve } = Promise.withResolvers<Rewritten>();
  watch.rewrite(resolve);
  return promise;
}

interface Ending {
  /** The answer's headers came. */
  begun(): void;
  /** Only the first one counts. */
  end(how: ExchangeEnd["how"]): void;
}

function openEnding(watch: Watch, signal: AbortSignal | null, now: () => number): Ending {
  let firstByteMs: number | null = null;
  let hasEnded = false;
  const end = (how: ExchangeEnd["how"]): void => {
    if (hasEnded) return;
    hasEnded = true;
    signal?.removeEventListener("abort", leave);
    watch.end({ how, endMs: now(), firstByteMs });
  };
  const leave = (): void => end("client left");
  // A caller that stops may never read what it was given.
  signal?.addEventListener("abort", leave);
  return {
    begun: () => {
      firstByteMs = now();
    },
    end,
  };
}

/** The same answer, whose bytes are shown as its reader takes them. */
function follow(response: Response, watch: Watch, ending: Ending): Response {
  ending.begun();
  // A fetch has unpacked the body already.
  const kept = [...response.headers].filter(([name]) => name !== "content-encoding");
  watch.responseHead(response.status, kept.flat());
  if (response.body === null) {
    ending.end("complete");
    return response;
  }
  const reader = response.body.getReader();
  const body = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const { done, value } = await reader.read();
        if (value !== undefined) {
          watch.responseBytes(value);
          controller.enqueue(value);
        }
        if (!done) return;
        ending.end("complete");
        controller.close();
      } catch (error) {
        ending.end("cut");
        controller.error(error);
      }
    },
    cancel: async (reason) => {
      ending.end("client left");
      await reader.cancel(reason);
    },
  });
  const { status, statusText, headers, url, redirected, type } = response;
  const shown = new Response(body, { status, statusText, headers });
  // A response that is made by hand has none of these.
  return Object.defineProperties(shown, {
    url: { value: url },
    redirected: { value: redirected },
    type: { value: type },
  });
}

function lengthOf(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((sum, { byteLength }) => sum + byteLength, 0);
}
