// Injected failures, in the provider's words.
import type { FaultPlace, HttpFault, SimResponse } from "../surface.ts";
import { ApiError, toErrorResponse } from "./api-error.ts";
import { exhaustedHeaders } from "./headers.ts";

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
    case "overflow": {
      const api = context.path === "/v1/chat/completions" ? "chat" : "responses";
      const { status, body } = contextOverflow(api, fault.tokens, fault.tokensMax);
      return toErrorResponse(status, body, context);
    }
  }
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
  return new ApiError(400, { message, type: "invalid_request_error", param, code });
}
