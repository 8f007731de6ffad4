// Who may use the gateway: programs on this machine and those with the token, never a web page.
import { hash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { tokenHeader } from "../forward/pass-headers.ts";
import type { Refusal } from "../forward/refuse.ts";

/** `token`: null if none is required, which is allowed on loopback addresses only. */
export function findRefusal(headers: IncomingHttpHeaders, token: string | null): Refusal | null {
  if (token !== null) {
    const given = headers[tokenHeader];
    // Hashes have equal lengths, and comparing them in constant time reveals nothing about the token.
    return typeof given === "string" && timingSafeEqual(digest(given), digest(token))
      ? null
      : {
          status: 401,
          code: "token_required",
          message: `this gateway asks for its token in the header ${tokenHeader}`,
        };
  }
  const host = (headers.host ?? "").toLowerCase().replace(/:\d*$/, "");
  if (!isLoopback(host)) {
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

function digest(text: string): Buffer {
  return hash("sha256", text, "buffer");
}

/** A host as a URL spells it, without the port, or an address to listen at. */
export function isLoopback(host: string): boolean {
  return (
    host === "localhost" ||
    host === "[::1]" ||
    host === "::1" ||
    /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host)
  );
}
