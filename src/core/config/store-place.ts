// Where a ledger is, as somebody wrote it. One rule for files, variables and options.

export type StorePlace =
  /** A path as it was written: absolute, from the home folder with `~/`, or from some folder. */
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "server"; readonly address: string }
  /** Never with what was written: a mistyped connection string holds a password, too. */
  | { readonly kind: "refused"; readonly why: string };

export function readStorePlace(text: string): StorePlace {
  if (/^postgres(?:ql)?:\/\/\S+$/.test(text)) return { kind: "server", address: text };
  if (text === "" || text.startsWith(":")) {
    return { kind: "refused", why: "is no place that lasts" };
  }
  if (looksLikeServer(text) || text.includes("\0")) {
    return { kind: "refused", why: "is neither a file nor a PostgreSQL connection string" };
  }
  return { kind: "file", path: text };
}

/** What somebody would write who thinks of a server: an address, its parts, or a name and a password. */
function looksLikeServer(text: string): boolean {
  return (
    /^[a-z][a-z0-9+.-]*:/i.test(text) ||
    /\b(?:host|user|password|dbname)\s*=/.test(text) ||
    /^[^/]*:[^/]*@/.test(text)
  );
}
