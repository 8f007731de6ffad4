// Reads the place of a ledger: one rule for files, variables and options.

export type StorePlace =
  /** A path as written: absolute, with `~/`, or relative. */
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "server"; readonly address: string }
  /** Does not repeat the text: a mistyped connection string may hold a password. */
  | { readonly kind: "refused"; readonly why: string };

export function readStorePlace(text: string): StorePlace {
  if (/^postgres(?:ql)?:\/\/\S+$/.test(text) && !hasBrokenPort(text)) {
    return { kind: "server", address: text };
  }
  if (text === "" || text.startsWith(":")) {
    return { kind: "refused", why: "is not a lasting place" };
  }
  if (looksLikeServer(text) || text.includes("\0")) {
    return { kind: "refused", why: "is neither a file nor a PostgreSQL connection string" };
  }
  return { kind: "file", path: text };
}

/** An address, its parts, or a name and a password: meant as a server, not as a file. */
function looksLikeServer(text: string): boolean {
  return (
    /^[a-z][a-z0-9+.-]*:/i.test(text) ||
    /\b(?:host|user|password|dbname)\s*=/.test(text) ||
    /^(?:\/\/)?[^/]*@/.test(text)
  );
}

/** Without a host, a password stands where the port should be. */
function hasBrokenPort(address: string): boolean {
  const [, place = ""] = /^[^:]*:\/\/([^/?#]*)/.exec(address) ?? [];
  const [, port] = /^(?:.*@)?(?:\[[^\]]*\]|[^:]*)(?::(.*))?$/.exec(place) ?? [];
  // Several hosts have several ports.
  return port !== undefined && !place.includes(",") && !/^\d{0,5}$/.test(port);
}
