// Vendors that speak somebody else's protocol: their addresses and variables, from vendors.json.
import * as read from "../models/read-fields.ts";
import type { Vendor } from "./access.ts";
import vendorsFile from "./vendors.json" with { type: "json" };

export interface ListedVendor extends Vendor {
  /** The kind in strata.yaml → the address where it is spoken. The first is the usual one. */
  readonly addresses: ReadonlyMap<string, string>;
  /** A server on this machine: it needs no key. */
  readonly isLocal: boolean;
  /** A router: its hosts have a cache each, and may be asked for by name. */
  readonly hasManyHosts: boolean;
  /** The model of an agent without one. Null if none is known to be there. */
  readonly usualModel: string | null;
}

export const listedVendors: readonly ListedVendor[] = parseVendors(vendorsFile, "vendors.json");

function parseVendors(value: unknown, file: string): readonly ListedVendor[] {
  const { vendors } = read.shape(value, file, {
    source: read.text,
    checkedOn: read.day,
    vendors: read.record,
  });
  return Object.entries(vendors).map(([name, vendor]) => {
    const { note: _, ...rest } = read.shape(vendor, `${file}: ${name}`, {
      addresses: parseAddresses,
      keyVariable: read.text,
      urlVariable: read.text,
      isLocal: read.orElse(false, read.flag),
      hasManyHosts: read.orElse(false, read.flag),
      usualModel: read.nullable(read.text),
      note: read.nullable(read.text),
    });
    return { name, ...rest };
  });
}

function parseAddresses(value: unknown, place: string): ListedVendor["addresses"] {
  const addresses = Object.entries(read.record(value, place));
  return new Map(addresses.map(([kind, url]) => [kind, read.text(url, `${place}.${kind}`)]));
}
