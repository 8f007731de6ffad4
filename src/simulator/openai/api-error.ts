// The provider's errors: {"error": {message, type, param, code}} with a status.
import type { FaultPlace, HttpFault, SimResponse, SurfaceContext } from "../surface.ts";
import { exhaustedHeaders, jsonHeaders } from "./headers.ts";

export interface ErrorBody {
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string | null;
}

/** Thrown while reading a request; the route turns it into the answer. */
export class ApiError extends Error {
  readonly status: number;
  readonly body: ErrorBody;
  /** For a prompt that is too long. */
  readonly tokens: { readonly sent: number; readonly max: number } | null;

  constructor(status: number, body: ErrorBody, tokens: ApiError["tokens"] = null) {
    super(body.message);
    this.name = "ApiError";
    this.status = status;
    this.body = body;
    this.tokens = tokens;
  }
}

export function toErrorResponse(
  status: number,
  body: ErrorBody,
  context: Pick<SurfaceContext, "newId">,
  more: Readonly<Record<string, string>> = {},
): SimResponse {
  return {
    status,
    headers: { ...jsonHeaders(context), ...more },
    body: JSON.stringify({ error: body }, null, 2),
  };
}

export function invalid(message: string, param: string | null, code: string | null): ApiError {
  return new ApiError(400, { message, type: "invalid_request_error", param, code });
}

export function missing(param: string): ApiError {
  return invalid(`Missing required parameter: '${param}'.`, param, "missing_required_parameter");
}

export function wrongType(param: string, expected: string, got: string): ApiError {
  const message = `Invalid type for '${param}': expected ${expected}, but got ${got} instead.`;
  return invalid(message, param, "invalid_type");
}

export function wrongValue(param: string, got: string, supported: readonly string[]): ApiError {
  const message = `Invalid value: '${got}'. Supported values are: ${inWords(supported)}.`;
  return invalid(message, param, "invalid_value");
}

export function unknownParameter(param: string): ApiError {
  return invalid(`Unknown parameter: '${param}'.`, param, "unknown_parameter");
}

export function unsupportedParameter(param: string, instead = ""): ApiError {
  const message = `Unsupported parameter: '${param}' is not supported with this model.${instead}`;
  return invalid(message, param, "unsupported_parameter");
}

/** For features of the provider that this simulator lacks. */
export function notSimulated(what: string, param: string): ApiError {
  return invalid(`${what} is not simulated.`, param, "not_simulated");
}

function inWords(names: readonly string[]): string {
  const quoted = names.map((name) => `'${name}'`);
  const last = quoted.at(-1) ?? "";
  if (quoted.length < 3) return quoted.join(" and ");
  return `${quoted.slice(0, -1).join(", ")}, and ${last}`;
}

export function toFault(fault: HttpFault, context: FaultPlace): SimResponse {
  switch (fault.kind) {
    case "rate limited": {
      const { retryAfterSeconds } = fault;
      const again = retryAfterSeconds === null ? "" : ` Please try again in ${retryAfterSeconds}s.`;
      const message = `Rate limit reached for requests.${again} Visit https://platform.openai.com/account/rate-limits to learn more.`;
      const body = { message, type: "requests", param: null, code: "rate_limit_exceeded" };
      return toErrorResponse(429, body, context, exhaustedHeaders(retryAfterSeconds));
    }
    case "server error": {
      const message = "The server had an error while processing your request. Sorry about that!";
      const body = { message, type: "server_error", param: null, code: "server_error" };
      return toErrorResponse(500, body, context);
    }
    case "overloaded": {
      const message = "Our servers are currently overloaded. Please try again later.";
      const code = "server_is_overloaded";
      const body = { message, type: "service_unavailable_error", param: null, code };
      return toErrorResponse(503, body, context);
    }
    case "model timeout": {
      const message = "The server took too long to process your request. Please try again.";
      const body = { message, type: "server_error", param: null, code: "timeout" };
      return toErrorResponse(504, body, context);
    }
    case "model error": {
      const message = "The model produced an error while processing your request.";
      const body = { message, type: "server_error", param: null, code: "model_error" };
      return toErrorResponse(500, body, context);
    }
    case "overflow": {
      const api = context.path === "/v1/chat/completions" ? "chat" : "responses";
      const { status, body } = contextOverflow(api, fault.tokens, fault.tokensMax);
      return toErrorResponse(status, body, context);
    }
  }
}

/** Chat Completions puts an error into a chunk; Responses has an event for it. */
export function toErrorEvent({ path }: FaultPlace): string {
  const message = "The server had an error while processing your request. Sorry about that!";
  const code = "server_error";
  if (path === "/v1/chat/completions") {
    const error = { message, type: "server_error", param: null, code };
    return `data: ${JSON.stringify({ error })}\n\n`;
  }
  const type = "error";
  return `event: error\ndata: ${JSON.stringify({ type, code, message, param: null })}\n\n`;
}

export function contextOverflow(
  api: "chat" | "responses",
  tokens: number,
  tokensMax: number,
): ApiError {
  const message =
    api === "responses"
      ? "Your input exceeds the context window of this model. Please adjust your input and try again."
      : `This model's maximum context length is ${tokensMax} tokens. However, your messages resulted in ${tokens} tokens. Please reduce the length of the messages.`;
  const param = api === "responses" ? "input" : "messages";
  const code = "context_length_exceeded";
  const body = { message, type: "invalid_request_error", param, code };
  return new ApiError(400, body, { sent: tokens, max: tokensMax });
}
