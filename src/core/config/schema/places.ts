// Paths, and the place of the ledger.
import type { ConfigNode, ScalarValue } from "../config-node.ts";
import { leaf, whole } from "../leaves.ts";
import { maskAddress, masked } from "../mask-secrets.ts";
import { converted, group, written } from "../sections.ts";
import type { ReadContext, Spec } from "../spec.ts";
import { readStorePlace } from "../store-place.ts";

export interface LedgerConfig {
  /** A file or a connection string, never to be printed; null for the file in the data directory. */
  readonly store: string | null;
  readonly leaseMs: number;
  /** Older events are removed; null for never. */
  readonly eventsKeptDays: number | null;
}

export const ledger: Spec<LedgerConfig> = group("the record of sessions", {
  store: store(),
  leaseMs: written(
    "lease_seconds",
    converted(
      whole(
        { usual: 30, min: 1, max: 7200 },
        "how long a session stays taken after its process was last heard of",
      ),
      (seconds) => seconds * 1000,
    ),
  ),
  eventsKeptDays: converted(
    whole(
      { usual: 0, min: 0, max: 36_500 },
      "older events are removed when an engine is opened and once a day, except those kept for audits; 0: never",
    ),
    (days) => (days === 0 ? null : days),
  ),
});

/** In a file, a relative path starts at that file's folder. A variable is read in every folder, so it must be absolute. */
export function path(meaning: string): Spec<string | null> {
  return leaf<string | null>({
    meaning,
    allowed: "an absolute path, or in a file one relative to the file's folder",
    usual: null,
    accept: toPath,
    shape: { usual: null, fromText: (given) => given },
  });
}

function store(): Spec<string | null> {
  return leaf<string | null>({
    meaning:
      "a file, or postgres://user:password@host:5432/database; default: ledger.db in the data directory",
    allowed: "a path or a PostgreSQL connection string",
    usual: null,
    accept: (value, node, context) => {
      if (typeof value !== "string") return undefined;
      if (value === "") return null;
      const place = readStorePlace(value);
      if (place.kind === "server") return place.address;
      return place.kind === "refused" ? undefined : toPath(place.path, node, context);
    },
    shape: { usual: null, fromText: (given) => given, show: showStore },
  });
}

function showStore(text: string): string {
  return readStorePlace(text).kind === "refused" ? masked : maskAddress(text);
}

function toPath(
  value: ScalarValue,
  { origin }: ConfigNode,
  { homeFolder }: ReadContext,
): string | null | undefined {
  if (typeof value !== "string" || value.includes("\0")) return undefined;
  if (value === "") return null;
  if (value.startsWith("/")) return value;
  if (value === "~" || value.startsWith("~/")) {
    return homeFolder === null ? undefined : `${homeFolder}${value.slice(1)}`;
  }
  if (origin.kind !== "file") return undefined;
  const folder = /^(.*)\/[^/]*$/.exec(origin.file)?.[1];
  return folder === undefined ? undefined : `${folder}/${value.replace(/^\.\//, "")}`;
}
