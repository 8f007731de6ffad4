// What an id says besides the model's name: provider, route, region, a larger window.
import type { Endpoint } from "./provider-file.ts";
import type { RouteSpelling, Routes } from "./routes.ts";

export interface Spelling {
  /** What is left: an id, an alias or either with a date. Lower case. */
  readonly name: string;
  readonly vendor?: string;
  readonly route?: string;
  readonly endpoint?: Endpoint;
  readonly longWindow?: boolean;
}

/** The names before a model's, as a catalogue lists them. */
export interface Prefixes {
  readonly vendors: ReadonlyMap<string, string>;
  readonly routes: Routes;
}

/** Takes an id apart without guessing: what fits no known form stays part of the name. */
export function readSpelling(id: string, prefixes: Prefixes): Spelling {
  const lower = id.toLowerCase();
  if (lower.endsWith(longWindowSuffix))
    return {
      ...readPrefixes(lower.slice(0, -longWindowSuffix.length), prefixes),
      longWindow: true,
    };
  return readPrefixes(lower, prefixes);
}

/** How Claude Code asks for a window of one million tokens. */
const longWindowSuffix = "[1m]";

/** What the suffix promises. */
export const longWindowTokens = 1_000_000;

function readPrefixes(id: string, prefixes: Prefixes): Spelling {
  return (
    readDotted(id, prefixes) ??
    readPublisher(id, prefixes) ??
    readHead(id, prefixes) ??
    readAt(id, prefixes) ?? { name: id }
  );
}

/** Bedrock: `us.anthropic.claude-sonnet-4-5-20250929-v1:0`, bare or at the end of an ARN. */
function readDotted(id: string, { vendors, routes }: Prefixes): Spelling | null {
  const found = routeWith(routes, (each) => each.dottedVendor);
  const arn =
    /^arn:aws[a-z-]*:bedrock:[a-z0-9-]*:\d*:(?:inference-profile|foundation-model)\/(.+)$/;
  const parts = /^(?:([a-z-]+)\.)?([a-z0-9-]+)\.(.+?)(?:-v\d+(?::\d+)?)?$/.exec(
    arn.exec(id)?.[1] ?? id,
  );
  if (found === null || parts === null) return null;
  const [, region, vendorName = "", name = ""] = parts;
  const vendor = vendors.get(vendorName);
  const endpoint = region === undefined ? undefined : found.spelling.regions.get(region);
  if (vendor === undefined || (region !== undefined && endpoint === undefined)) return null;
  return { name, vendor, route: found.route, ...(endpoint === undefined ? {} : { endpoint }) };
}

/** Vertex: `publishers/anthropic/models/claude-…`, also below projects and locations. */
function readPublisher(id: string, { vendors, routes }: Prefixes): Spelling | null {
  const found = routeWith(routes, (each) => each.publisherPath);
  const parts = /^(?:projects\/[^/]+\/locations\/[^/]+\/)?publishers\/([^/]+)\/models\/(.+)$/.exec(
    id,
  );
  const vendor = vendors.get(parts?.[1] ?? "");
  if (found === null || parts === null || vendor === undefined) return null;
  return { name: parts[2] ?? "", vendor, route: found.route };
}

/** `route:id`, `route/id`, `vendor:name`, `vendor/name`. */
function readHead(id: string, prefixes: Prefixes): Spelling | null {
  const parts = /^([a-z0-9_-]+)([:/])(.+)$/.exec(id);
  if (parts === null) return null;
  const [, head = "", separator, rest = ""] = parts;
  const route = routeWith(prefixes.routes, (each) => each.spelledAs.includes(head));
  if (route !== null) return { ...readPrefixes(rest, prefixes), route: route.route };
  const vendor = prefixes.vendors.get(head);
  if (vendor === undefined) return null;
  const slashed = routeWith(prefixes.routes, (each) => each.vendorSlash);
  if (separator === "/" && slashed !== null) return { name: rest, vendor, route: slashed.route };
  return { name: rest, vendor };
}

/** Vertex: `claude-sonnet-4-5@20250929`. */
function readAt(id: string, { routes }: Prefixes): Spelling | null {
  const found = routeWith(routes, (each) => each.dateAfterAt);
  return found !== null && /@\d{8}$/.test(id) ? { name: id, route: found.route } : null;
}

function routeWith(
  routes: Routes,
  fits: (spelling: RouteSpelling) => boolean,
): { readonly route: string; readonly spelling: RouteSpelling } | null {
  for (const [route, spelling] of routes) if (fits(spelling)) return { route, spelling };
  return null;
}
