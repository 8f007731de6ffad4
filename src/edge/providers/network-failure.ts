// What sockets and HTTP parsers throw → a failure as a value.
import { messageOf } from "../../core/strata-error.ts";
import type { ProviderFailure } from "../../core/wire/failure.ts";
import { connectLimitCode } from "./connector.ts";
import { timedOut, type Timeouts } from "./timeouts.ts";

/** Rethrows errors that only our own mistake can cause. */
export function toNetworkFailure(error: unknown, timeouts: Timeouts): ProviderFailure {
  const code = codeOf(error);
  switch (code) {
    case "UND_ERR_REQ_CONTENT_LENGTH_MISMATCH":
      throw error;
    // A configured header or path is invalid; a retry would fail too.
    case "UND_ERR_INVALID_ARG":
    case "UND_ERR_NOT_SUPPORTED":
      return { kind: "invalid-request", detail: `it cannot be sent: ${describeError(error)}` };
    case connectLimitCode:
      return timedOut("connectMs", timeouts);
    case "UND_ERR_HEADERS_OVERFLOW":
      return { kind: "malformed", detail: "the answer's headers are too large" };
    default:
      return isParserError(error)
        ? { kind: "malformed", detail: describeError(error) }
        : { kind: "unreachable", detail: describeError(error) };
  }
}

/** Some of them have no code. */
function isParserError(error: unknown): boolean {
  return error instanceof Error && error.name === "HTTPParserError";
}

/** `connect ECONNREFUSED 127.0.0.1:1`, or the same for each address that was tried. */
function describeError(error: unknown): string {
  const code = codeOf(error);
  const message = messageOf(error);
  if (message === "") return code === "" ? "the connection failed" : code;
  return code === "" || message.includes(code) ? message : `${message} (${code})`;
}

function codeOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : "";
  return typeof code === "string" ? code : "";
}
