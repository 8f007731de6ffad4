// A vendor's address with its places filled in, such as the region in a host.
import { StrataError } from "../strata-error.ts";
import type { ListedVendor } from "./read-vendors.ts";

export type Places = ReadonlyMap<string, string>;

/** Throws if places have no value, and names them all. */
export function fillAddress(vendor: ListedVendor, address: string, places: Places): string {
  const { hosts } = vendor;
  const host = hosts?.others.get(places.get(hosts.place) ?? "") ?? hosts?.usual ?? "";
  const whole = address.replaceAll("{host}", host);
  const missing = [...vendor.places.keys()].filter(
    (place) => whole.includes(`{${place}}`) && !places.has(place),
  );
  if (missing.length > 0) throw refusal(vendor, missing);
  return whole.replaceAll(/\{(\w+)\}/g, (_, place: string) => places.get(place) ?? "");
}

/** What stands after the host; empty for nothing. */
export function pathOfAddress(address: string): string {
  return /^https?:\/\/[^/]+(\/.*)?$/.exec(address)?.[1] ?? "";
}

function refusal({ name, places }: ListedVendor, missing: readonly string[]): StrataError {
  const each = (toText: (place: string) => string): string => missing.map(toText).join(" and ");
  const variables = each((place) => places.get(place)?.[0] ?? place);
  const settings = each((place) => `providers.${name}.places.${place}`);
  return new StrataError(
    "config-invalid",
    `the address of ${name} needs ${each((place) => `a ${place}`)}`,
    `set ${variables}, or ${settings} in your strata.yaml`,
  );
}
