// Answers on the wire: with a length, never sniffed, without a body where there must be none.
import type { ServerResponse } from "node:http";
import { messageOf, StrataError } from "../../core/strata-error.ts";
import { apiErrors, toRefusal, type ApiRefusal } from "./api-error.ts";

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export function jsonAnswer(body: object, headers: Readonly<Record<string, string>> = {}): Answer {
  return {
    status: 200,
    headers: { "content-type": "application/json", "cache-control": "no-store", ...headers },
    body: Buffer.from(JSON.stringify(body)),
  };
}

export function errorAnswer(
  refusal: ApiRefusal,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  const { status } = apiErrors[refusal.code];
  const more = {
    ...(status === 401 ? { "www-authenticate": "Bearer" } : {}),
    ...(status === 429 ? { "retry-after": "1" } : {}),
  };
  return { ...jsonAnswer({ error: refusal }, { ...more, ...headers }), status };
}

/** The answer to an error; our own mistakes are reported to the operator, too. */
export function answerTo(error: unknown, onFault: (fault: string) => void): Answer {
  const refusal = toRefusal(error);
  if (refusal.code === "internal") onFault(describe(error));
  return errorAnswer(refusal);
}

function describe(error: unknown): string {
  return error instanceof StrataError ? `${error.message}; ${error.hint}` : messageOf(error);
}

/** Does nothing if an answer has begun or the client is gone. */
export function writeAnswer(outgoing: ServerResponse, { status, headers, body }: Answer): void {
  if (outgoing.headersSent || outgoing.destroyed) return;
  const hasBody = status !== 204 && status !== 304;
  outgoing.writeHead(status, {
    ...headers,
    "x-content-type-options": "nosniff",
    ...(hasBody ? { "content-length": body.length } : {}),
  });
  // Node leaves the body out of the answer to HEAD.
  if (hasBody) outgoing.end(body);
  else outgoing.end();
}
