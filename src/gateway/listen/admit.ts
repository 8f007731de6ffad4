// Who may use the gateway: programs on this machine and those with the token, never a web page.
import type { IncomingHttpHeaders } from "node:http";
import { hostOf, isLoopback, isSameSecret } from "../../api/access/check-headers.ts";
import { tokenHeader } from "../forward/pass-headers.ts";
import type { Refusal } from "../forward/refuse.ts";

/** `token`: null if none is required, which is allowed on loopback addresses only. */
export function findRefusal(headers: IncomingHttpHeaders, token: string | null): Refusal | null {
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
