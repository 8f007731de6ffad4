// A vendor's address with its places filled in, such as the region in a host.
import { StrataError } from "../strata-error.ts";
import type { ListedVendor } from "./read-vendors.ts";

export type Places = ReadonlyMap<string, string>;

/** Throws if a place has no value. */
export function fillAddress(vendor: ListedVendor, address: string, places: Places): string {
  const { hosts } = vendor;
  const host = hosts?.others.get(places.get(hosts.place) ?? "") ?? hosts?.usual ?? "";
  return address
    .replaceAll("{host}", host)
    .replaceAll(/\{(\w+)\}/g, (_, place: string) => places.get(place) ?? refuse(vendor, place));
}

/** What stands after the host; empty for nothing. */
export function pathOfAddress(address: string): string {
  return /^https?:\/\/[^/]+(\/.*)?$/.exec(address)?.[1] ?? "";
}

function refuse({ name, places }: ListedVendor, place: string): never {
  const variable = places.get(place)?.[0];
  const setting = `providers.${name}.places.${place} in your strata.yaml`;
  throw new StrataError(
    "config-invalid",
    `the address of ${name} needs a ${place}`,
    variable === undefined ? `set ${setting}` : `set ${variable}, or ${setting}`,
  );
}
