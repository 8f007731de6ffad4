// Where clients put their key: the headers of every protocol, and the query. Nothing of it reaches an upstream.
import type { IncomingHttpHeaders } from "node:http";
import { protocols } from "../../core/wire/protocols.ts";
import { hashKey, type GatewayKey } from "./gateway-key.ts";

interface KeyPlace {
  /** A header, in lower case. */
  readonly name: string;
  /** In lower case, with its space. */
  readonly prefix: string;
}

const places: readonly KeyPlace[] = uniquePlaces([
  ...protocols.flatMap(({ access }) => [access.key, access.compatibleKey ?? access.key]),
  { name: "authorization", prefix: "Bearer " },
  { name: "api-key", prefix: "" },
]);

/** Headers with credentials, in lower case. Those of a client with a key of ours are not for any upstream. */
export const credentialHeaders: ReadonlySet<string> = new Set([
  ...places.map(({ name }) => name),
  "cookie",
  "proxy-authorization",
]);

function uniquePlaces(
  given: readonly { readonly name: string; readonly prefix: string }[],
): readonly KeyPlace[] {
  const byText = new Map(given.map(({ name, prefix }) => [`${name} ${prefix}`, { name, prefix }]));
  return [...byText.values()].map(({ name, prefix }) => ({ name, prefix: prefix.toLowerCase() }));
}

/** Null if the request has none that is known. A header that is sent several times counts once, as Node reads it. */
export function findKey(
  {
    headers,
    url = "",
  }: { readonly headers: IncomingHttpHeaders; readonly url?: string | undefined },
  byHash: ReadonlyMap<string, GatewayKey>,
): GatewayKey | null {
  for (const { name, prefix } of places) {
    const value = headers[name];
    if (typeof value !== "string") continue;
    if (!value.slice(0, prefix.length).toLowerCase().startsWith(prefix)) continue;
    const found = byHash.get(hashKey(value.slice(prefix.length).trim()));
    if (found !== undefined) return found;
  }
  for (const key of keysInQuery(url)) {
    const found = byHash.get(hashKey(key));
    if (found !== undefined) return found;
  }
  return null;
}

/** A path without the keys in its query. */
export function withoutQueryKeys(path: string): string {
  const [rest, query] = splitQuery(path);
  if (query === null) return path;
  const kept = query.split("&").filter((member) => !isKeyMember(member));
  return kept.length === 0 ? rest : `${rest}?${kept.join("&")}`;
}

function keysInQuery(path: string): readonly string[] {
  const [, query] = splitQuery(path);
  if (query === null) return [];
  return query
    .split("&")
    .filter(isKeyMember)
    .map((member) => decode(member.slice(member.indexOf("=") + 1)));
}

function splitQuery(path: string): readonly [path: string, query: string | null] {
  const at = path.indexOf("?");
  return at === -1 ? [path, null] : [path.slice(0, at), path.slice(at + 1)];
}

function isKeyMember(member: string): boolean {
  return decode(member.split("=")[0] ?? "") === "key";
}

/** As it is if it is not encoded well. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
