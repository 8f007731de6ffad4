// The providers a simulator speaks for: how each is recognised, and what it says where no route is reached.
import { createAnthropicSurface } from "./anthropic/index.ts";
import { createOpenaiSurface } from "./openai/index.ts";
import type { SimResponse, Surface } from "./surface.ts";

export interface Provider {
  /** A surface with no memory of earlier requests. */
  readonly createSurface: () => Surface;
  /** Whether these headers are its clients'. Several providers may share a path, as `/v1/models`. */
  readonly isMeant: (headers: ReadonlyMap<string, string>) => boolean;
  readonly refuse: (refusal: Refusal, newId: (prefix: string) => string) => SimResponse;
}

/** What no surface can say, because the request reached none or broke the simulated model. */
export interface Refusal {
  readonly status: 404 | 413 | 500;
  readonly message: string;
}

export const providers: readonly Provider[] = [
  {
    createSurface: createAnthropicSurface,
    isMeant: (headers) => headers.has("anthropic-version") || headers.has("x-api-key"),
    refuse: ({ status, message }, newId) => {
      const type = { 404: "not_found_error", 413: "request_too_large", 500: "api_error" }[status];
      const id = newId("req_");
      const body = { type: "error", error: { type, message }, request_id: id };
      return toJson(status, body, { "request-id": id });
    },
  },
  {
    createSurface: createOpenaiSurface,
    // Its clients send nothing of their own; whoever is nobody else's is taken for one.
    isMeant: () => true,
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
    // A client's own retries would only hide what is wrong.
    headers: { "content-type": "application/json", "x-should-retry": "false", ...headers },
    body: JSON.stringify(body),
  };
}
