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
  const flags = ["dottedVendor", "publisherPath", "dateAfterAt"];
  const route = read.fields(value, place, ["name", "spelledAs", "regions", "wire", ...flags]);
  const flag = (name: string): boolean => read.flag(route[name] ?? false, `${place}.${name}`);
  const regions = Object.entries(read.record(route["regions"] ?? {}, `${place}.regions`));
  return {
    name: read.text(route["name"], `${place}.name`),
    spelledAs: read.list(route["spelledAs"], `${place}.spelledAs`, read.text),
    dottedVendor: flag("dottedVendor"),
    regions: new Map(
      regions.map(([region, endpoint]) => [
        region,
        read.oneOf(endpoint, ["global", "regional"] as const, `${place}.regions.${region}`),
      ]),
    ),
    publisherPath: flag("publisherPath"),
    dateAfterAt: flag("dateAfterAt"),
    wire: read.optional(route["wire"], `${place}.wire`, read.text),
  };
}
