// The router's errors: {"error": {code, message, metadata}}, where code is the status.
import { noRetry, type FaultPlace, type HttpFault, type SimResponse } from "../surface.ts";

export interface RouterRefusal {
  readonly status: number;
  readonly message: string;
  readonly metadata?: object;
}

export function refuse(
  { status, message, metadata }: RouterRefusal,
  { newId }: Pick<FaultPlace, "newId">,
  more: Readonly<Record<string, string>> = {},
): SimResponse {
  const error = { message, code: status, ...(metadata === undefined ? {} : { metadata }) };
  const headers = { "content-type": "application/json", "x-request-id": newId("req_"), ...more };
  return { status, headers, body: JSON.stringify({ error }) };
}

/** A failure of the router itself. */
export function toFault(fault: HttpFault, place: Pick<FaultPlace, "newId">): SimResponse {
  switch (fault.kind) {
    case "rate limited": {
      const { retryAfterSeconds: seconds } = fault;
      const more = seconds === null ? {} : { "retry-after": String(seconds) };
      return refuse({ status: 429, message: "Rate limit exceeded" }, place, more);
    }
    case "server error":
      return refuse({ status: 500, message: "Internal Server Error" }, place);
    case "overloaded":
      return refuse({ status: 503, message: noHost }, place);
    case "overflow":
      return refuse(overflow(fault.tokens, fault.tokensMax), place);
  }
}

/** A failure of the last host that was asked. */
export function toHostFault(
  fault: HttpFault,
  host: string,
  place: Pick<FaultPlace, "newId">,
): SimResponse {
  const from = (status: number, raw: string): RouterRefusal => {
    const metadata = { raw, provider_name: host };
    return { status, message: "Provider returned error", metadata };
  };
  switch (fault.kind) {
    case "rate limited": {
      const { retryAfterSeconds: seconds } = fault;
      const more = seconds === null ? {} : { "retry-after": String(seconds) };
      return refuse(from(429, `${host} is temporarily rate-limited upstream`), place, more);
    }
    case "server error":
      return refuse(from(502, "internal error"), place);
    case "overloaded":
      return refuse(from(503, "overloaded"), place);
    case "overflow":
      return refuse(overflow(fault.tokens, fault.tokensMax), place);
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
  place: Pick<FaultPlace, "newId">,
): SimResponse {
  return refuse({ status, message }, place, noRetry);
}
