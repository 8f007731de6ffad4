// How to reach the providers of a protocol: data for configuration and transport.
import { StrataError } from "../strata-error.ts";

export interface ProtocolAccess {
  /** `providers.*.kind` in strata.yaml. */
  readonly kind: string;
  /** The kind for other providers of this protocol. They must give a base_url. */
  readonly compatibleKind?: string;
  /** The vendor's own address. */
  readonly baseUrl: string;
  /** The address holds a region or a project: the one above is an example, and no default. */
  readonly isExample?: true;
  readonly key: KeyHeader;
  /** The header of the key for providers of the compatible kind; the same by default. */
  readonly compatibleKey?: KeyHeader;
  /** Matches an `authorization` header with a person's login, which a subscription pays, in place of a key. */
  readonly login?: RegExp;
  /** The vendor that needs no entry in strata.yaml; null for none. */
  readonly vendor: Vendor | null;
}

/** The header that carries the API key. */
export interface KeyHeader {
  /** In lower case. */
  readonly name: string;
  /** Goes before the key. */
  readonly prefix: string;
}

export interface Vendor {
  /** The provider's name in the facts of its models. */
  readonly name: string;
  /** The environment variables that the vendor's own programs read. */
  readonly keyVariable: string;
  readonly urlVariable: string;
}

export interface Endpoint {
  readonly baseUrl: string;
  /** Header names and values; never recorded. */
  readonly credentials: Readonly<Record<string, string>>;
}

export interface EndpointOptions {
  readonly apiKey: string;
  /** For a gateway, a simulator or a compatible provider. */
  readonly baseUrl?: string;
}

export function toEndpoint(
  { baseUrl, key }: Pick<ProtocolAccess, "baseUrl" | "key">,
  options: EndpointOptions,
): Endpoint {
  return {
    baseUrl: options.baseUrl ?? baseUrl,
    credentials: { [key.name]: `${key.prefix}${checkKey(options.apiKey)}` },
  };
}

function checkKey(apiKey: string): string {
  const key = apiKey.trim();
  if (key !== "") return key;
  throw new StrataError("config-invalid", "the API key is empty", "give the provider's API key");
}
