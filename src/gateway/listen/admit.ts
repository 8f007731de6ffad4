// Who may use the gateway: programs on this machine and those with the token or a key, never a web page.
import type { IncomingMessage } from "node:http";
import { hostOf, isLoopback, isSameSecret } from "../../api/access/check-headers.ts";
import { tokenHeader } from "../forward/pass-headers.ts";
import type { Refusal } from "../forward/refuse.ts";

export interface StrangerRules {
  /** Null if none is required. */
  readonly token: string | null;
  /** Whether the host of a request and the page that sends it are looked at. Elsewhere than on this machine, keys or a token decide. */
  readonly isLocal: boolean;
  /** More headers than this are refused. */
  readonly headersMax: number;
}

export function findRefusal(
  { headers, rawHeaders }: Pick<IncomingMessage, "headers" | "rawHeaders">,
  { token, isLocal, headersMax }: StrangerRules,
): Refusal | null {
  if (rawHeaders.length > headersMax * 2) {
    const message = `this gateway takes ${headersMax} headers`;
    return { status: 431, code: "too_many_headers", message };
  }
  if (token !== null) {
    const given = headers[tokenHeader];
    return typeof given === "string" && isSameSecret(given, token)
      ? null
      : {
          status: 401,
          code: "token_required",
          message: `this gateway asks for its token in the header ${tokenHeader}`,
        };
  }
  if (!isLocal) return null;
  if (!isLoopback(hostOf(headers))) {
    return {
      status: 403,
      code: "foreign_host",
      message: "this gateway answers to loopback names only, such as localhost and 127.0.0.1",
    };
  }
  const isForeign =
    (headers.origin !== undefined && !isLoopback(URL.parse(headers.origin)?.hostname ?? "")) ||
    headers["sec-fetch-site"] === "cross-site";
  return isForeign
    ? { status: 403, code: "foreign_origin", message: "this gateway does not answer web pages" }
    : null;
}
