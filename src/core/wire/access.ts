// How providers of a protocol are reached: what configuration and transport need to know of it, as data.
import { StrataError } from "../strata-error.ts";

export interface ProtocolAccess {
  /** `providers.*.kind` in strata.yaml. */
  readonly kind: string;
  /** The kind for other providers that speak it; these must name their address. */
  readonly compatibleKind?: string;
  /** Of the vendor itself. */
  readonly baseUrl: string;
  readonly key: KeyHeader;
  /** Who is asked in this protocol without being configured; null for nobody. */
  readonly vendor: Vendor | null;
}

/** The header that a key travels in. */
export interface KeyHeader {
  /** In lower case. */
  readonly name: string;
  /** Stands before the key. */
  readonly prefix: string;
}

export interface Vendor {
  /** As model facts name the provider. */
  readonly name: string;
  /** The variables its own programs read. */
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
