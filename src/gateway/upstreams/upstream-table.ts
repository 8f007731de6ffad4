// Chooses the upstream of a request: by the name at the beginning of its path, else by its path and headers.
import type { KeyHeader } from "../../core/wire/access.ts";
import type { RequestAddress } from "../../core/wire/foreign/foreign-reader.ts";
import type { Protocol } from "../../core/wire/protocol.ts";
import { protocols } from "../../core/wire/protocols.ts";
import { replacedBySigning, type SignUpstream } from "./sign-upstream.ts";
import { parseBaseUrl, type BaseUrl } from "../../edge/providers/endpoints.ts";

export interface Upstream {
  readonly name: string;
  /** Other names at the beginning of a path. */
  readonly aliases: readonly string[];
  /** At least one. The first is used unless a request is of another one's protocol. */
  readonly addresses: readonly UpstreamAddress[];
  /** Sent with every request in place of the client's: names and values in turn. */
  readonly headers: readonly string[];
  /** The protocol that the configuration names; null to recognise it. */
  readonly spoken: Protocol | null;
  /** Signs requests without a key; absent for an upstream that takes clients' own keys only. */
  readonly sign?: SignUpstream;
}

export interface UpstreamAddress {
  readonly baseUrl: string;
  /** Whether the vendor whose protocol it is answers there. */
  readonly isVendor: boolean;
  /** Null for any. */
  readonly protocol: Protocol | null;
  /** Whether requests of the protocol without a name in their path go here. */
  readonly isUsual: boolean;
  /** How a key is sent there; absent if as the protocol says. */
  readonly keyHeader?: KeyHeader;
}

/** The way of one request. */
export interface Target {
  /** The upstream's name. */
  readonly upstream: string;
  readonly origin: string;
  /** With the query. */
  readonly path: string;
  readonly headers: readonly string[];
  /** Names, in lower case, of the client's headers that do not pass; absent if all may. */
  readonly without?: ReadonlySet<string>;
  readonly spoken: Protocol | null;
  /** How a key is sent there. */
  readonly keyHeader: KeyHeader;
  /** Signs the request; absent if the client's own key passes. */
  readonly sign?: SignUpstream;
}

export interface UpstreamTable {
  /** Undefined if nothing shows where it goes. `path` has its query, and header names are in lower case. */
  choose(asked: Asked): Target | undefined;
  /** Whether an upstream is the own API of the protocol's vendor, or imitates it. */
  isVendor(upstream: string, protocol: Protocol): boolean;
  readonly upstreams: readonly Upstream[];
  /** The names with which a path may begin, aliases included. */
  readonly names: ReadonlySet<string>;
}

export interface Asked extends RequestAddress {
  readonly path: string;
}

/** A later upstream replaces an earlier one of its name. */
export function createUpstreamTable(
  upstreams: readonly Upstream[],
  rows: readonly Protocol[] = protocols,
): UpstreamTable {
  const latest = [...new Map(upstreams.map((upstream) => [upstream.name, upstream])).values()];
  const places = new Map(latest.map((upstream) => [upstream.name, toPlaces(upstream)]));
  // A name outweighs another upstream's alias.
  const byName = new Map([
    ...latest.flatMap(({ name, aliases }) => aliases.map((alias) => [alias, name] as const)),
    ...latest.map(({ name }) => [name, name] as const),
  ]);
  const starts = new Set(
    rows.map((protocol) => firstPart(protocol.path({ model: "m", stream: false }))),
  );

  return {
    upstreams: latest,
    names: new Set(byName.keys()),
    isVendor: (name, protocol) =>
      places.get(name)?.some((each) => each.isVendor && each.protocol === protocol) === true,
    choose: (asked) => {
      const named = splitName(asked.path);
      const found = places.get(byName.get(named?.name ?? "") ?? "");
      if (named !== null && found !== undefined) {
        const spoken = recognise({ ...asked, path: named.rest }, rows);
        const place = found.find(({ protocol }) => protocol !== null && protocol === spoken);
        return toTarget(place ?? found[0], { ...asked, path: named.rest }, spoken);
      }
      // A mistyped name must not send a key to the wrong vendor.
      const start = firstPart(asked.path);
      if (!starts.has(start) && !/^v\d/.test(start)) return undefined;
      const protocol = recognise(asked, rows) ?? recogniseKey(asked, rows);
      if (protocol === undefined) return undefined;
      for (const each of places.values()) {
        const place = each.find((one) => one.isUsual && one.protocol === protocol);
        if (place !== undefined) return toTarget(place, asked, protocol);
      }
      return undefined;
    },
  };
}

/** The names with which a path may begin, for people. */
export function prefixesOf({ upstreams }: UpstreamTable): readonly string[] {
  return upstreams.map(({ name }) => `/${name}`);
}

interface Place extends UpstreamAddress {
  readonly upstream: Upstream;
  readonly base: BaseUrl;
  readonly basePath: string;
}

function toPlaces(upstream: Upstream): readonly Place[] {
  return upstream.addresses.map((address) => ({
    ...address,
    upstream,
    base: parseBaseUrl(address.baseUrl),
    basePath: new URL(address.baseUrl).pathname.replace(/\/+$/, ""),
  }));
}

function toTarget(
  place: Place | undefined,
  { path, headers }: Asked,
  recognised: Protocol | undefined,
): Target | undefined {
  if (place === undefined) return undefined;
  const { upstream, base, basePath } = place;
  // Some clients replace the vendor's origin only: the vendor's own path is then in the request already.
  const after = path.slice(basePath.length);
  const isWhole = basePath !== "" && path.startsWith(basePath) && /^[/?]/.test(after);
  const { sign } = upstream;
  const without = sign === undefined ? null : replacedBySigning(headers);
  return {
    upstream: upstream.name,
    origin: base.origin,
    path: base.pathTo(isWhole ? after : path),
    headers: upstream.headers,
    spoken: upstream.spoken,
    keyHeader: place.keyHeader ?? (place.protocol ?? recognised)?.access.key ?? usualKeyHeader,
    ...(sign === undefined || without === null ? {} : { sign, without }),
  };
}

/** As most servers take it. */
const usualKeyHeader: KeyHeader = { name: "authorization", prefix: "Bearer " };

/** `/u/NAME/…` and `/NAME/…`; the rest begins with a slash. */
function splitName(path: string): { readonly name: string; readonly rest: string } | null {
  const parts = /^\/(?:u\/)?([^/?]+)(.*)$/s.exec(path);
  if (parts === null) return null;
  const [, name = "", rest = ""] = parts;
  return { name: name.toLowerCase(), rest: rest.startsWith("/") ? rest : `/${rest}` };
}

function firstPart(path: string): string {
  return /^\/([^/?]*)/.exec(path)?.[1] ?? "";
}

function recognise(asked: RequestAddress, rows: readonly Protocol[]): Protocol | undefined {
  return rows.find(({ foreign }) => foreign.isSentTo(asked));
}

/**
 * For lists of models, files and batches: by headers that begin with a vendor's name, then by the header with the key, which
 * many vendors name after themselves. The common header means the protocol that most servers speak.
 */
function recogniseKey(
  { headers }: RequestAddress,
  rows: readonly Protocol[],
): Protocol | undefined {
  const names = Object.keys(headers);
  const named = rows.find(({ access: { vendor } }) =>
    names.some((name) => vendor !== null && name.startsWith(`${vendor.name}-`)),
  );
  if (named !== undefined) return named;
  const sent = rows.filter(({ access }) => access.key.name in headers);
  return (
    sent.find(({ access }) => access.key.prefix === "") ??
    sent.find(({ access }) => access.compatibleKind !== undefined)
  );
}
