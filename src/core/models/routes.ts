// The routes to a model and the spelling of ids on each.
import type { Endpoint } from "./provider-file.ts";
import * as read from "./read-fields.ts";

export type Routes = ReadonlyMap<string, RouteSpelling>;

export interface RouteSpelling {
  readonly name: string;
  /** Prefixes for the route before an id, lower case. */
  readonly spelledAs: readonly string[];
  /** `[region.]vendor.model-v1:0`. */
  readonly dottedVendor: boolean;
  /** Regions and locations as they appear in ids. */
  readonly regions: ReadonlyMap<string, Endpoint>;
  /** `publishers/vendor/models/model`, also below `projects/project/locations/location/`. */
  readonly publisherPath: boolean;
  /** `model@20250929`. */
  readonly dateAfterAt: boolean;
  /** What its servers take, by name. Null if it is not an own rule of Chat Completions. */
  readonly wire: string | null;
}

export function parseRoutes(value: unknown, file: string): Routes {
  const fields = read.fields(value, file, ["source", "checkedOn", "routes"]);
  return new Map(
    Object.entries(read.record(fields["routes"], `${file}: routes`)).map(([id, route]) => [
      id,
      parseRoute(route, `${file}: ${id}`),
    ]),
  );
}

function parseRoute(value: unknown, place: string): RouteSpelling {
  return read.shape(value, place, {
    name: read.text,
    spelledAs: read.listOf(read.text),
    dottedVendor: read.orElse(false, read.flag),
    regions: read.orElse({}, parseRegions),
    publisherPath: read.orElse(false, read.flag),
    dateAfterAt: read.orElse(false, read.flag),
    wire: read.nullable(read.text),
  });
}

function parseRegions(value: unknown, place: string): RouteSpelling["regions"] {
  const regions = Object.entries(read.record(value, place));
  const endpoints = ["global", "regional"] as const;
  return new Map(
    regions.map(([region, endpoint]) => [
      region,
      read.oneOf(endpoint, endpoints, `${place}.${region}`),
    ]),
  );
}
