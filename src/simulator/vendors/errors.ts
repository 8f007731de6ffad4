// Errors of vendors: each has a form of its own, and words of its own for a prompt that is too long.
import { noRetry, type FaultPlace, type HttpFault, type SimResponse } from "../surface.ts";
import type { ApiError } from "../openai/api-error.ts";
import type { VendorRefusal } from "./refusals.ts";
import type { VendorRow } from "./vendor-row.ts";

type Context = Pick<FaultPlace, "newId">;

/** An error in the vendor's form. */
export function refuse(
  row: VendorRow,
  refusal: VendorRefusal,
  { newId }: Context,
  more: Readonly<Record<string, string>> = {},
): SimResponse {
  const { status, body = formOf(row, refusal) } = refusal;
  const headers = { "content-type": "application/json", "x-request-id": newId("req_"), ...more };
  return { status, headers, body: JSON.stringify(body) };
}

function formOf(row: VendorRow, { status, message, type, code }: VendorRefusal): object {
  const usual = status < 500 ? "invalid_request_error" : "server_error";
  const named = { message, type: type ?? usual, param: null, code: code ?? null };
  switch (row.errors) {
    case "openai":
      return { error: named };
    case "flat":
      return { object: "error", ...named };
    case "flat by name":
      return { object: "error", ...named, type: errorName(status), code: status };
    case "numbered":
      return { error: { code: code ?? numberOf(status), message } };
    case "server":
      return { error: { code: status, message, type: type ?? usual } };
    case "text":
      return { error: message };
    case "code and text":
      return { code: code ?? textOf(status), error: message };
  }
}

/** vLLM's names. */
function errorName(status: number): string {
  if (status === 404) return "NotFoundError";
  return status < 500 ? "BadRequestError" : "InternalServerError";
}

/** Z.ai's numbers: authentication, the model, the parameters, the rate, the network. */
function numberOf(status: number): string {
  const numbers: Readonly<Record<number, string>> = { 401: "1001", 404: "1211", 429: "1302" };
  return numbers[status] ?? (status < 500 ? "1210" : "1234");
}

/** xAI's words, where it has no code. */
function textOf(status: number): string {
  if (status === 404) return "Some requested entity was not found";
  if (status === 429) return "Some resource has been exhausted";
  return status < 500 ? "Client specified an invalid argument" : "Internal error";
}

/** What a reader shared with OpenAI's surface refuses, in its words. A prompt that is too long has the vendor's. */
export function toRefusal({ status, body }: ApiError): VendorRefusal {
  const { message, type, code } = body;
  return { status, message, type, ...(code === null ? {} : { code }) };
}

export function overflow(row: VendorRow, tokens: number, tokensMax: number): VendorRefusal {
  const message = row.overflow
    .replaceAll("{tokens}", String(tokens))
    .replaceAll("{max}", String(tokensMax))
    .replaceAll("{over}", String(tokens - tokensMax));
  const isCoded = row.errors === "numbered";
  return { status: 400, message, ...(isCoded ? { code: "1261" } : {}) };
}

export function noModel(name: string): VendorRefusal {
  const message = `The model \`${name}\` does not exist or you do not have access to it.`;
  return { status: 404, message, type: "not_found_error" };
}

export const noKey: VendorRefusal = {
  status: 401,
  message: "Authentication failed: the API key is missing or invalid",
  type: "authentication_error",
};

export function toFault(row: VendorRow, fault: HttpFault, place: FaultPlace): SimResponse {
  switch (fault.kind) {
    case "rate limited": {
      const { retryAfterSeconds: seconds } = fault;
      const again = seconds === null ? "" : ` Please try again in ${seconds}s.`;
      const message = `Rate limit reached for requests.${again}`;
      const more = seconds === null ? {} : { "retry-after": String(seconds) };
      return refuse(row, { status: 429, message, type: "rate_limit_error" }, place, more);
    }
    case "server error":
    case "model error":
      return refuse(row, { status: 500, message: "Internal server error" }, place);
    case "model timeout":
      return refuse(row, { status: 504, message: "The model did not answer in time" }, place);
    case "overloaded": {
      const message = "The server is overloaded. Please try again later.";
      return refuse(row, { status: 503, message, type: "overloaded_error" }, place);
    }
    case "overflow":
      return refuse(row, overflow(row, fault.tokens, fault.tokensMax), place);
  }
}

export function refuseOutside(
  row: VendorRow,
  status: 404 | 413 | 500,
  message: string,
  context: Context,
): SimResponse {
  return refuse(row, { status, message }, context, noRetry);
}
