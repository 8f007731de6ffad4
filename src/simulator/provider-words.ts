// The simulated providers: how to recognise their clients, and their errors for requests that reach no route.
import { createAnthropicSurface } from "./anthropic/index.ts";
import { createOpenaiSurface } from "./openai/index.ts";
import type { SimResponse, Surface } from "./surface.ts";

export interface Provider {
  /** A surface without state of earlier requests. */
  readonly createSurface: () => Surface;
  /** Whether a client of this provider sent these headers. Providers can share a path, such as `/v1/models`. */
  readonly isClient: (headers: ReadonlyMap<string, string>) => boolean;
  readonly refuse: (refusal: Refusal, newId: (prefix: string) => string) => SimResponse;
}

/** An error outside of any surface: no route matched, the body was too large, or the simulated model failed. */
export interface Refusal {
  readonly status: 404 | 413 | 500;
  readonly message: string;
}

export const providers: readonly Provider[] = [
  {
    createSurface: createAnthropicSurface,
    isClient: (headers) => headers.has("anthropic-version") || headers.has("x-api-key"),
    refuse: ({ status, message }, newId) => {
      const type = { 404: "not_found_error", 413: "request_too_large", 500: "api_error" }[status];
      const id = newId("req_");
      const body = { type: "error", error: { type, message }, request_id: id };
      return toJson(status, body, { "request-id": id });
    },
  },
  {
    createSurface: createOpenaiSurface,
    // Its clients send no header of their own, so every other client counts as one.
    isClient: () => true,
    refuse: ({ status, message }, newId) => {
      const type = status === 500 ? "server_error" : "invalid_request_error";
      const body = { error: { message, type, param: null, code: null } };
      return toJson(status, body, { "x-request-id": newId("req_") });
    },
  },
];

function toJson(status: number, body: unknown, headers: Record<string, string>): SimResponse {
  return {
    status,
    // Retries by the client would only hide the problem.
    headers: { "content-type": "application/json", "x-should-retry": "false", ...headers },
    body: JSON.stringify(body),
  };
}
