// The secrets of a configuration, so that they can be taken out of what tools print.
import { isSecretName } from "./mask-secrets.ts";
import type { StrataConfig } from "./schema.ts";
import { isHarmlessHeader } from "./schema/provider-headers.ts";

export interface NamedSecret {
  /** Where it is set, for people. */
  readonly name: string;
  readonly value: string;
}

/** Keys and headers of providers, upstreams, MCP servers and the collector, and passwords in addresses. */
export function secretsIn({
  providers,
  gateway,
  mcp,
  ledger,
  telemetry,
}: Pick<
  StrataConfig,
  "providers" | "gateway" | "mcp" | "ledger" | "telemetry"
>): readonly NamedSecret[] {
  const ofProviders = [...providers].flatMap(([provider, { apiKey, baseUrl, headers }]) => {
    const path = `providers.${provider}`;
    return [
      ...(apiKey === null ? [] : [{ name: `${path}.api_key`, value: apiKey }]),
      ...(baseUrl === null ? [] : secretsInAddress(`${path}.base_url`, baseUrl)),
      ...[...headers].flatMap(([name, value]) => secretsInHeader(`${path}.headers`, name, value)),
    ];
  });
  const ofUpstreams = [...gateway.upstreams].flatMap(([name, { baseUrl, headers }]) => {
    const path = `gateway.upstreams.${name}`;
    return [
      ...secretsInAddress(`${path}.base_url`, baseUrl),
      ...[...headers].flatMap(([header, value]) =>
        secretsInHeader(`${path}.headers`, header, value),
      ),
    ];
  });
  const ofTelemetry = [...telemetry.headers].flatMap(([name, value]) =>
    secretsInHeader("telemetry.headers", name, value),
  );
  const ofServers = [...mcp].flatMap(([server, { env, url, headers }]) => {
    const path = `mcp.${server}`;
    return [
      // A path or a word is no secret, though it stands among them.
      ...[...env]
        .filter(([name]) => isSecretName(name))
        .map(([name, value]) => ({ name: `${path}.env.${name}`, value })),
      ...(url === null ? [] : secretsInAddress(`${path}.url`, url)),
      ...[...headers].flatMap(([name, value]) => secretsInHeader(`${path}.headers`, name, value)),
    ];
  });
  const { store } = ledger;
  return [
    ...ofProviders,
    ...ofUpstreams,
    ...ofTelemetry,
    ...ofServers,
    ...(store === null ? [] : secretsInAddress("ledger.store", store)),
  ];
}

/** The password and secret parameters, as written and decoded. */
export function secretsInAddress(name: string, address: string): readonly NamedSecret[] {
  // Up to the first @ and up to the last: a password may hold one that should have been escaped.
  const passwords = [
    /^[a-z][a-z0-9+.-]*:\/\/[^:/?#@]*:([^@]*)@/i,
    /^[a-z][a-z0-9+.-]*:\/\/[^:/?#@]*:(.*)@/is,
  ].map((pattern) => pattern.exec(address)?.[1] ?? "");
  const parameters = [...address.matchAll(/[?&]([^=&#]{1,128})=([^&#]+)/g)]
    .filter(([, parameter = ""]) => isSecretName(parameter))
    .map(([, , value = ""]) => value);
  return [...new Set([...passwords, ...parameters])]
    .filter((value) => value !== "")
    .flatMap((value) => [...new Set([value, decodePart(value)])])
    .map((value) => ({ name, value }));
}

/** Without a scheme such as `Bearer` before it. */
function secretsInHeader(path: string, header: string, value: string): readonly NamedSecret[] {
  if (isHarmlessHeader(header)) return [];
  const words = value.split(/\s+/).filter((word) => word !== "");
  const secret = words.length > 1 ? words.slice(1).join(" ") : value;
  return secret === "" ? [] : [{ name: `${path}.${header}`, value: secret }];
}

/** A part of an address; as it is if it is not encoded well. */
export function decodePart(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
