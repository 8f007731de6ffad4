// What an id says besides the model's name: provider, route, region, a larger window.
import type { Endpoint } from "./provider-file.ts";
import type { RouteSpelling, Routes } from "./routes.ts";

export interface Spelling {
  /** The rest: an id or an alias, with or without a date. Lower case. */
  readonly name: string;
  readonly vendor?: string;
  readonly route?: string;
  readonly endpoint?: Endpoint;
  readonly region?: string;
  readonly longWindow?: boolean;
}

/** The known prefixes, as a catalogue lists them. */
export interface Prefixes {
  readonly vendors: ReadonlyMap<string, string>;
  readonly routes: Routes;
}

/**
 * Splits an id without guessing. A part that fits no known form, or two parts that contradict each
 * other, stay in the name.
 */
export function readSpelling(id: string, prefixes: Prefixes): Spelling {
  const lower = id.toLowerCase();
  if (!lower.endsWith(longWindowSuffix)) return readPrefixes(lower, prefixes);
  const short = lower.slice(0, -longWindowSuffix.length);
  return { ...readPrefixes(short, prefixes), longWindow: true };
}

/** How Claude Code requests a window of one million tokens. */
const longWindowSuffix = "[1m]";

export const longWindowTokens = 1_000_000;

/** At most one route, then one form. The number of parts is fixed, so long ids cost no extra work. */
function readPrefixes(id: string, prefixes: Prefixes): Spelling {
  const head = readRoute(id, prefixes.routes);
  const rest = head?.rest ?? id;
  const vendorFirst = readVendor(rest, prefixes);
  const form = readDotted(rest, prefixes) ??
    readPublisher(rest, prefixes) ??
    vendorFirst ?? { name: rest };
  const asked = [head?.route, form.route, dateRoute(form.name, prefixes.routes)];
  // A provider's name alone selects the provider's own API.
  if (head === null && form === vendorFirst) asked.push(ownApi);
  const routes = [...new Set(asked.filter((route) => route !== undefined))];
  if (routes.length > 1) return { name: id };
  const route = routes[0];
  return route === undefined || route === ownApi ? form : { ...form, route };
}

const ownApi = "";

/** `route:…` and `route/…`. */
function readRoute(
  id: string,
  routes: Routes,
): { readonly route: string; readonly rest: string } | null {
  const parts = splitHead(id);
  if (parts === null) return null;
  const found = routeWith(routes, (each) => each.spelledAs.includes(parts.head));
  return found === null ? null : { route: found.route, rest: parts.rest };
}

/** `vendor:name` and `vendor/name`. */
function readVendor(id: string, { vendors }: Prefixes): Spelling | null {
  const parts = splitHead(id);
  const vendor = vendors.get(parts?.head ?? "");
  return parts === null || vendor === undefined ? null : { name: parts.rest, vendor };
}

function splitHead(id: string): { readonly head: string; readonly rest: string } | null {
  const at = id.search(/[:/]/);
  return at === -1 ? null : { head: id.slice(0, at), rest: id.slice(at + 1) };
}

/** Bedrock: `us.anthropic.claude-sonnet-4-5-20250929-v1:0`, bare or at the end of an ARN. */
function readDotted(id: string, { vendors, routes }: Prefixes): Spelling | null {
  const found = routeWith(routes, (each) => each.dottedVendor);
  if (found === null) return null;
  const arn =
    /^arn:aws[a-z-]*:bedrock:[a-z0-9-]*:\d*:(?:inference-profile|foundation-model)\/(.+)$/;
  const [first = "", ...others] = (arn.exec(id)?.[1] ?? id).split(".");
  // A name may contain dots, so the first part is looked up, not counted.
  const endpoint = found.spelling.regions.get(first);
  const vendor = vendors.get(endpoint === undefined ? first : (others.shift() ?? ""));
  if (vendor === undefined || others.length === 0) return null;
  const name = others.join(".").replace(/-v\d+(?::\d+)?$/, "");
  const asked = endpoint === undefined ? {} : { endpoint, region: first };
  return { name, vendor, route: found.route, ...asked };
}

/** Vertex: `publishers/anthropic/models/claude-…`, also below projects and locations. */
function readPublisher(id: string, { vendors, routes }: Prefixes): Spelling | null {
  const found = routeWith(routes, (each) => each.publisherPath);
  const parts =
    /^(?:projects\/[^/]+\/locations\/([^/]+)\/)?publishers\/([^/]+)\/models\/(.+)$/.exec(id);
  if (found === null || parts === null) return null;
  const [, location, publisher = "", name = ""] = parts;
  const vendor = vendors.get(publisher);
  if (vendor === undefined) return null;
  const spelling = { name, vendor, route: found.route };
  if (location === undefined) return spelling;
  // There are too many locations to list. Any location not listed as global is a region.
  return { ...spelling, endpoint: found.spelling.regions.get(location) ?? "regional" };
}

/** Vertex: `claude-sonnet-4-5@20250929`. */
function dateRoute(name: string, routes: Routes): string | undefined {
  if (!/@\d{8}$/.test(name)) return undefined;
  return routeWith(routes, (each) => each.dateAfterAt)?.route;
}

function routeWith(
  routes: Routes,
  fits: (spelling: RouteSpelling) => boolean,
): { readonly route: string; readonly spelling: RouteSpelling } | null {
  for (const [route, spelling] of routes) if (fits(spelling)) return { route, spelling };
  return null;
}
