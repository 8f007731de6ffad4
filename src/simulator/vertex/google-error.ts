// Errors of Google Cloud itself; what the model's own API refuses is passed on as it is.
import type { SimResponse } from "../surface.ts";

const codeOf = {
  INVALID_ARGUMENT: 400,
  UNAUTHENTICATED: 401,
  NOT_FOUND: 404,
  RESOURCE_EXHAUSTED: 429,
  INTERNAL: 500,
} as const;

/** Thrown while reading a request, caught once per route. */
export class GoogleError extends Error {
  readonly status: keyof typeof codeOf;

  constructor(status: keyof typeof codeOf, message: string) {
    super(message);
    this.name = "GoogleError";
    this.status = status;
  }
}

export function errorResponse({ status, message }: GoogleError, code?: number): SimResponse {
  const error = { code: code ?? codeOf[status], message, status };
  return {
    status: error.code,
    headers: { "content-type": "application/json; charset=UTF-8" },
    body: JSON.stringify({ error }),
  };
}
