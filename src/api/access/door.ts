// Decides who asks: by the token, by a login, by a virtual key, or by coming from this machine where nothing else is configured.
import type { IncomingHttpHeaders } from "node:http";
import { refuseWith } from "../answer/api-error.ts";
import { owner, type Access } from "./access.ts";
import { hostOf, isForeignPage, isLoopback, isSameSecret } from "./check-headers.ts";
import { loginCookie, type Logins } from "./logins.ts";

export interface DoorOptions {
  /** Null where none is configured: then everyone on this machine is the owner, unless there are keys. */
  readonly token: string | null;
  /** The name of the virtual key that a request carries: null for none, undefined where there are no keys. */
  readonly keyOf?: ((headers: IncomingHttpHeaders) => string | null | undefined) | undefined;
}

export interface Door {
  /** Throws for strangers. */
  admit(headers: IncomingHttpHeaders, nowMs: number): Access;
  /** Throws for pages of other origins and, without a token, for names that are not this machine's: before a login, too. */
  checkPlace(headers: IncomingHttpHeaders): void;
}

export function createDoor({ token, keyOf }: DoorOptions, logins: Logins): Door {
  const checkPlace = (headers: IncomingHttpHeaders): void => {
    if (token === null && !isLoopback(hostOf(headers))) throw foreignHost();
    if (isForeignPage(headers)) throw foreignOrigin();
  };
  return {
    checkPlace,
    admit: (headers, nowMs) => {
      const given = tokenOf(headers);
      // A page of another origin cannot send this header: it would have to ask first, and gets no.
      if (token !== null && given !== null && isSameSecret(given, token)) return owner;
      const name = keyOf?.(headers);
      if (typeof name === "string") return { kind: "key", name };
      checkPlace(headers);
      const cookie = cookieOf(headers);
      if (cookie !== null && logins.isOpen(cookie, nowMs)) return owner;
      if (token === null && name === undefined) return owner;
      throw refuseWith(
        "token_required",
        "this gateway asks for its token",
        "send it in the header x-strata-token, or as authorization: Bearer",
      );
    },
  };
}

function foreignHost(): Error {
  return refuseWith(
    "foreign_host",
    "without a token the API answers to loopback names only",
    "ask by localhost or 127.0.0.1, or configure a token",
  );
}

function foreignOrigin(): Error {
  return refuseWith(
    "foreign_origin",
    "the API answers no page of another origin",
    "ask from the page that the gateway serves, or from a program",
  );
}

function tokenOf(headers: IncomingHttpHeaders): string | null {
  const own = headers["x-strata-token"];
  if (typeof own === "string") return own;
  return /^Bearer +(\S+) *$/i.exec(headers.authorization ?? "")?.[1] ?? null;
}

export function cookieOf({ cookie = "" }: IncomingHttpHeaders): string | null {
  const pairs = cookie.split(";").map((pair) => pair.trim().split("="));
  return pairs.find(([name]) => name === loginCookie)?.[1] ?? null;
}
