// The router's errors: {"error": {code, message, metadata}}, where code is the status; in Anthropic's form on its Messages API.
import { noRetry, type FaultPlace, type HttpFault, type SimResponse } from "../surface.ts";

export interface RouterRefusal {
  readonly status: number;
  readonly message: string;
  readonly metadata?: object;
  readonly retryAfterSeconds?: number | null;
}

type Context = Pick<FaultPlace, "newId">;

export function refuse(refusal: RouterRefusal, context: Context): SimResponse {
  const { status, message, metadata } = refusal;
  const error = { message, code: status, ...(metadata === undefined ? {} : { metadata }) };
  return answerWith(refusal, { error }, context);
}

export function refuseMessages(refusal: RouterRefusal, context: Context): SimResponse {
  const { status, message } = refusal;
  const type = typeOf[status] ?? (status < 500 ? "invalid_request_error" : "api_error");
  return answerWith(refusal, { type: "error", error: { type, message } }, context);
}

const typeOf: Readonly<Record<number, string>> = {
  401: "authentication_error",
  402: "billing_error",
  404: "not_found_error",
  429: "rate_limit_error",
  503: "overloaded_error",
};

function answerWith(
  { status, retryAfterSeconds: seconds = null }: RouterRefusal,
  body: object,
  { newId }: Context,
): SimResponse {
  const again = seconds === null ? {} : { "retry-after": String(seconds) };
  const headers = { "content-type": "application/json", "x-request-id": newId("req_"), ...again };
  return { status, headers, body: JSON.stringify(body) };
}

/** A failure of the router itself. */
export function ofRouter(fault: HttpFault): RouterRefusal {
  switch (fault.kind) {
    case "rate limited": {
      const { retryAfterSeconds } = fault;
      return { status: 429, message: "Rate limit exceeded", retryAfterSeconds };
    }
    case "server error":
    case "model error":
      return { status: 500, message: "Internal Server Error" };
    case "model timeout":
      return { status: 504, message: "Gateway Timeout" };
    case "overloaded":
      return { status: 503, message: noHost };
    case "overflow":
      return overflow(fault.tokens, fault.tokensMax);
  }
}

/** A failure of the last host that was asked. */
export function ofHost(fault: HttpFault, host: string): RouterRefusal {
  const from = (status: number, raw: string): RouterRefusal => {
    const metadata = { raw, provider_name: host };
    return { status, message: "Provider returned error", metadata };
  };
  switch (fault.kind) {
    case "rate limited": {
      const { retryAfterSeconds } = fault;
      return { ...from(429, `${host} is temporarily rate-limited upstream`), retryAfterSeconds };
    }
    case "server error":
    case "model error":
      return from(502, "internal error");
    case "model timeout":
      return from(504, "timeout");
    case "overloaded":
      return from(503, "overloaded");
    case "overflow":
      return overflow(fault.tokens, fault.tokensMax);
  }
}

export const noHost = "There is no available model provider that meets your routing requirements";

export function overflow(tokens: number, tokensMax: number): RouterRefusal {
  const message = `This endpoint's maximum context length is ${tokensMax} tokens. However, you requested about ${tokens} tokens (${tokens} of text input). Please reduce the length of either one, or use the "middle-out" transform to compress your prompt automatically.`;
  return { status: 400, message };
}

export const noCredit: RouterRefusal = {
  status: 402,
  message: "Insufficient credits. Add more using https://openrouter.ai/settings/credits",
};

export function refuseOutside(
  status: 404 | 413 | 500,
  message: string,
  context: Context,
): SimResponse {
  const response = refuse({ status, message }, context);
  return { ...response, headers: { ...response.headers, ...noRetry } };
}
