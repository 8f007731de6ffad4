// Providers whose models are not listed: any name after theirs is a model, with what holds for all of them.
import type { Fields } from "../message/fields.ts";
import { openProvidersFile } from "./built-in-files.ts";
import type { ProviderFile } from "./provider-file.ts";
import * as read from "./read-fields.ts";

export interface OpenProvider {
  readonly file: ProviderFile;
  /** Whether a model's name has its vendor's before it, as `meta/llama`. */
  readonly namesHaveVendor: boolean;
}

/** A model that such a provider would know, by the name before it. */
export interface OpenModel {
  readonly provider: OpenProvider;
  /** As the provider spells it. */
  readonly name: string;
}

/** `unlisted`: what holds for a model of which nothing is known. */
export function parseOpenProviders(unlisted: ProviderFile): readonly OpenProvider[] {
  const file = "open-providers.json";
  const given = read.shape(openProvidersFile, file, {
    source: read.text,
    checkedOn: read.day,
    defaults: read.record,
    providers: read.record,
  });
  return Object.entries(given.providers).map(([provider, value]) => {
    const place = `${file}: ${provider}`;
    const own = read.shape(value, place, {
      name: read.text,
      spelledAs: read.listOf(read.text),
      defaults: read.text,
      namesHaveVendor: read.orElse(false, read.flag),
    });
    const ofKind = read.record(given.defaults[own.defaults], `${place}.defaults`);
    const { source, checkedOn } = given;
    const defaults: Fields = read.mergeFields(unlisted.defaults, { source, checkedOn }, ofKind);
    const { name, spelledAs, namesHaveVendor } = own;
    return {
      file: { ...unlisted, file, provider, name, spelledAs, routes: { [provider]: {} }, defaults },
      namesHaveVendor,
    };
  });
}

/**
 * Upper and lower case of the name stay: such servers tell them apart. Null for a name that cannot be one.
 * `isElsewhere`: whether a vendor's name means another way to a model than this provider.
 */
export function findOpenModel(
  id: string,
  providers: readonly OpenProvider[],
  isElsewhere: (vendor: string, provider: string) => boolean,
): OpenModel | null {
  const parts = /^([^:/\s]+)[:/](\S{1,200})$/.exec(id);
  const [, head = "", name = ""] = parts ?? [];
  const provider = providers.find(({ file }) => file.spelledAs.includes(head.toLowerCase()));
  if (provider === undefined) return null;
  if (!provider.namesHaveVendor) return { provider, name };
  const [vendor = "", ...rest] = name.split("/");
  const isName = vendor !== "" && rest.join("") !== "";
  return isName && !isElsewhere(vendor.toLowerCase(), provider.file.provider)
    ? { provider, name }
    : null;
}
