// What a request asks of its upstream, by its method and path: only model calls have a model and a cost that can be known.
import type { RequestAddress } from "../../core/wire/foreign/foreign-reader.ts";
import type { Protocol } from "../../core/wire/protocol.ts";
import { protocols } from "../../core/wire/protocols.ts";

export type RequestKind =
  | { readonly kind: "call"; readonly protocol: Protocol }
  /** Counting tokens, or a list of models: free, and the same for everybody. */
  | { readonly kind: "harmless" }
  | { readonly kind: "other" }
  /** A path that two servers could read in two ways. */
  | { readonly kind: "unclear" };

export interface RequestLine extends RequestAddress {
  readonly method: string;
  readonly path: string;
}

export function kindOfRequest({ method, path, headers }: RequestLine): RequestKind {
  const place = path.split("?", 1)[0] ?? "";
  if (isUnclear(place) || path.includes("#")) return { kind: "unclear" };
  if (method === "GET" || method === "HEAD") {
    return { kind: /\/models(?:\/[^/]+)?$/.test(place) ? "harmless" : "other" };
  }
  const type = headers["content-type"];
  if (method !== "POST" || (type !== undefined && !/\bjson\b/i.test(type))) {
    return { kind: "other" };
  }
  if (protocols.some(({ counting }) => counting?.isAskedAt(place) === true)) {
    return { kind: "harmless" };
  }
  const row = callPaths.find(({ pattern }) => pattern.test(place));
  return row === undefined ? { kind: "other" } : { kind: "call", protocol: row.protocol };
}

/** A server may resolve dots and slashes after we have looked at them. */
function isUnclear(place: string): boolean {
  try {
    return (
      /(?:^|[\\/])\.\.?(?:[\\/]|$)|\\|\0/.test(decodeURIComponent(place)) || place.includes("//")
    );
  } catch {
    return true;
  }
}

/** The paths of all protocols, whatever prefix stands before them. */
const callPaths: readonly { readonly pattern: RegExp; readonly protocol: Protocol }[] =
  protocols.flatMap((protocol) =>
    [false, true].map((stream) => {
      const [path = ""] = protocol.path({ model: "MODEL", stream }).split("?");
      const escaped = path.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace("MODEL", "[^/]+");
      // A path with a model in it stands behind other things elsewhere, such as a project.
      const version = escaped === path ? "/v\\d\\w*/" : "/";
      return { pattern: new RegExp(`${escaped.replace(/^\/v\d\w*\//, version)}$`), protocol };
    }),
  );
