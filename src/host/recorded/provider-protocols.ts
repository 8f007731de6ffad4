// How the command line reaches a provider: its protocols, and the endpoint that its variables name.
import { StrataError } from "../../core/strata-error.ts";
import { toEndpoint, type Endpoint } from "../../core/wire/access.ts";
import type { Protocol } from "../../core/wire/protocol.ts";
import { findProtocol, findVendor, protocols, vendors } from "../../core/wire/protocols.ts";
import type { Environment } from "../../core/config/environment.ts";
import { readProviderAccess } from "../config/environment.ts";

export type FoundEndpoint =
  | {
      readonly kind: "found";
      readonly endpoint: Endpoint;
      /** The variables that name it. */
      readonly origin: string;
    }
  /** In words, such as "OPENAI_API_KEY is not set". */
  | { readonly kind: "none"; readonly why: string };

export function findEndpoint(env: Environment, provider: string): FoundEndpoint {
  const access = readProviderAccess(env, provider);
  const vendor = findVendor(provider);
  if (access === null || vendor === undefined) {
    const known = vendors.map(({ name }) => name).join(" and ");
    return { kind: "none", why: `strata can ask models of ${known}, not of ${provider}` };
  }
  const { apiKey, keyName, baseUrl, urlName } = access;
  if (apiKey === null) return { kind: "none", why: `${keyName} is not set` };
  const endpoint = toEndpoint(vendor.protocol.access, {
    apiKey,
    ...(baseUrl === null ? {} : { baseUrl }),
  });
  const origin = baseUrl === null ? keyName : `${keyName} and ${urlName}`;
  return { kind: "found", endpoint, origin };
}

/** Finds the protocol that a session was recorded with. */
export function protocolNamed(name: string): Protocol {
  const protocol = findProtocol(name);
  if (protocol !== undefined) return protocol;
  throw new StrataError(
    "input-invalid",
    `the protocol ${name} is not known`,
    `it is none of ${protocols.map((each) => each.name).join(", ")}; use the program that recorded it`,
  );
}
