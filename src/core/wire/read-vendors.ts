// Vendors that speak another vendor's protocol: their addresses and variables, from vendors.json.
import * as read from "../models/read-fields.ts";
import type { Vendor } from "./access.ts";
import vendorsFile from "./vendors.json" with { type: "json" };

export interface ListedVendor extends Vendor {
  /** The kind in strata.yaml → the address where it is spoken, which may have places in braces. The first is the usual one. */
  readonly addresses: ReadonlyMap<string, string>;
  /** The places in its addresses, such as a region → the variables that the vendor's own programs read, the strongest first. */
  readonly places: ReadonlyMap<string, readonly string[]>;
  /** Its hosts by place, if `{host}` stands in an address. */
  readonly hosts: VendorHosts | null;
  /** Whose credentials sign what is sent without a key; null for a vendor that takes keys only. */
  readonly cloud: VendorCloud | null;
  /** The kinds for models of these providers, where it is not the usual one that serves them. */
  readonly kindOfProvider: ReadonlyMap<string, string>;
  /** A server on this machine: it needs no key. */
  readonly isLocal: boolean;
  /** A router: its hosts have a cache each, and may be asked for by name. */
  readonly hasManyHosts: boolean;
  /** The model of an agent without one. Null if none is known to be there. */
  readonly usualModel: string | null;
}

export interface VendorHosts {
  /** The place whose value decides, about the price too. */
  readonly place: string;
  /** With that place in braces. */
  readonly usual: string;
  /** By value. */
  readonly others: ReadonlyMap<string, string>;
}

export interface VendorCloud {
  readonly name: Cloud;
  /** Any of them says that this machine has credentials. */
  readonly variables: readonly string[];
}

export const clouds = ["aws", "google"] as const;

export type Cloud = (typeof clouds)[number];

export const listedVendors: readonly ListedVendor[] = parseVendors(vendorsFile, "vendors.json");

function parseVendors(value: unknown, file: string): readonly ListedVendor[] {
  const { vendors } = read.shape(value, file, {
    source: read.text,
    checkedOn: read.day,
    vendors: read.record,
  });
  return Object.entries(vendors).map(([name, vendor]) => {
    const { note: _, ...rest } = read.shape(vendor, `${file}: ${name}`, {
      addresses: parseTexts,
      places: read.orElse({}, parsePlaces),
      hosts: read.nullable(parseHosts),
      cloud: read.nullable(parseCloud),
      kindOfProvider: read.orElse({}, parseTexts),
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

function parseTexts(value: unknown, place: string): ReadonlyMap<string, string> {
  const texts = Object.entries(read.record(value, place));
  return new Map(texts.map(([name, text]) => [name, read.text(text, `${place}.${name}`)]));
}

function parsePlaces(value: unknown, place: string): ListedVendor["places"] {
  const places = Object.entries(read.record(value, place));
  return new Map(
    places.map(([name, names]) => [name, read.list(names, `${place}.${name}`, read.text)]),
  );
}

function parseHosts(value: unknown, place: string): VendorHosts {
  return read.shape(value, place, { place: read.text, usual: read.text, others: parseTexts });
}

function parseCloud(value: unknown, place: string): VendorCloud {
  return read.shape(value, place, {
    name: read.choice(clouds),
    variables: read.listOf(read.text),
  });
}
