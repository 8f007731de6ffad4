// What the headers of a request say about who sent it: from this machine, from a page, with the right secret.
import { hash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/** A host as a URL spells it, without the port, or an address to listen at. */
export function isLoopback(host: string): boolean {
  return (
    host === "localhost" ||
    host === "[::1]" ||
    host === "::1" ||
    /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host)
  );
}

/** The name that the client used for this server, without the port. */
export function hostOf({ host = "" }: IncomingHttpHeaders): string {
  return host.toLowerCase().replace(/:\d*$/, "");
}

/** Sent by a page that came from somewhere else. */
export function isForeignPage({ origin, ...headers }: IncomingHttpHeaders): boolean {
  const site = headers["sec-fetch-site"];
  if (site === "cross-site" || site === "same-site") return true;
  return origin !== undefined && URL.parse(origin)?.host !== (headers.host ?? "").toLowerCase();
}

/** In constant time: hashes have equal lengths, and comparing them reveals nothing about the secret. */
export function isSameSecret(given: string, secret: string): boolean {
  return timingSafeEqual(hash("sha256", given, "buffer"), hash("sha256", secret, "buffer"));
}
