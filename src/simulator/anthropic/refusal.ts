// The provider's errors: types, body and texts.
import type { HttpFault, SimResponse } from "../surface.ts";

const statusOf = {
  invalid_request_error: 400,
  authentication_error: 401,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
} as const;

export type ErrorType = keyof typeof statusOf;

/** Thrown while reading a request, caught once per route. */
export class Refusal extends Error {
  readonly type: ErrorType;
  readonly details: Readonly<Record<string, unknown>> | null;

  constructor(
    type: ErrorType,
    message: string,
    details: Readonly<Record<string, unknown>> | null = null,
  ) {
    super(message);
    this.name = "Refusal";
    this.type = type;
    this.details = details;
  }
}

export function invalid(message: string, details?: Readonly<Record<string, unknown>>): Refusal {
  return new Refusal("invalid_request_error", message, details ?? null);
}

export function extraInput(path: string): Refusal {
  return invalid(`${path}: Extra inputs are not permitted`);
}

/** For errors whose text is not published: the message says that it is ours. */
export function invented(message: string, details?: Readonly<Record<string, unknown>>): Refusal {
  return invalid(`${message} [simulator wording: the provider's text is not published]`, details);
}

/** For features of the provider that the simulator lacks: an error instead of a wrong answer. */
export function notSimulated(what: string): Refusal {
  return invalid(`${what}: not simulated`);
}

export function refusalResponse(
  refusal: Refusal,
  requestId: string,
  headers: Readonly<Record<string, string>> = {},
): SimResponse {
  const { type, message, details } = refusal;
  const error = { type, message, ...(details === null ? {} : { details }) };
  return {
    status: statusOf[type],
    headers: { "content-type": "application/json", "request-id": requestId, ...headers },
    body: JSON.stringify({ type: "error", error, request_id: requestId }),
  };
}

export function refusalOf(fault: HttpFault): Refusal {
  switch (fault.kind) {
    case "rate limited":
      return new Refusal(
        "rate_limit_error",
        "This request would exceed your organization's rate limit. Please try again later.",
      );
    case "server error":
      return new Refusal("api_error", "Internal server error");
    case "overloaded":
      return new Refusal("overloaded_error", "Overloaded");
    case "model timeout":
      return new Refusal("timeout_error", "Request timed out");
    case "model error":
      return new Refusal("api_error", "Internal server error");
    case "overflow":
      return promptTooLong(fault.tokens, fault.tokensMax);
  }
}

export function promptTooLong(tokens: number, tokensMax: number): Refusal {
  return invalid(`prompt is too long: ${tokens} tokens > ${tokensMax} maximum`);
}

/** Other routes to these models word this refusal, and only this one, in their own way. */
export function isPromptTooLong({ message }: Refusal): boolean {
  return message.startsWith("prompt is too long: ");
}

export function jsonResponse(body: string): SimResponse {
  return { status: 200, headers: { "content-type": "application/json" }, body };
}
