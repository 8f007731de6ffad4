// Where providers are, and the headers their credentials travel in.
import { validateHeaderName, validateHeaderValue } from "node:http";
import { StrataError } from "../../core/strata-error.ts";

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

export function anthropicEndpoint(options: EndpointOptions): Endpoint {
  return {
    baseUrl: options.baseUrl ?? "https://api.anthropic.com",
    credentials: { "x-api-key": checkKey(options.apiKey) },
  };
}

export function openaiEndpoint(options: EndpointOptions): Endpoint {
  return {
    baseUrl: options.baseUrl ?? "https://api.openai.com/v1",
    credentials: { authorization: `Bearer ${checkKey(options.apiKey)}` },
  };
}

export interface Target {
  readonly origin: string;
  /** With the query, where the base URL has one. */
  readonly path: string;
}

/** A base URL may end with the version that the path begins with: it is not said twice. */
export function parseTarget(baseUrl: string, path: string): Target {
  const url = URL.parse(baseUrl);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw invalidUrl("is no address of http or https");
  }
  // Credentials inside an address end up in messages and logs of others.
  if (url.username !== "" || url.password !== "") throw invalidUrl("holds a name or a password");
  const base = url.pathname.replace(/\/+$/, "");
  const version = /^\/v\d+(?=\/)/.exec(path)?.[0] ?? "";
  const rest = version !== "" && base.endsWith(version) ? path.slice(version.length) : path;
  return { origin: url.origin, path: `${base}${rest}${url.search}` };
}

/** Names in lower case. */
export function parseCredentials(
  credentials: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(credentials).map(([name, value]) => {
      try {
        validateHeaderName(name);
        validateHeaderValue(name, value);
      } catch {
        // The original error is left out on purpose: it could show the value.
        throw new StrataError(
          "config-invalid",
          `the credentials' header "${name}" cannot be sent: its name or value holds a character that headers cannot`,
          "look for line breaks and typographic quotes in it",
        );
      }
      return [name.toLowerCase(), value];
    }),
  );
}

function checkKey(apiKey: string): string {
  const key = apiKey.trim();
  if (key !== "") return key;
  throw new StrataError("config-invalid", "the API key is empty", "give the provider's API key");
}

function invalidUrl(problem: string): StrataError {
  return new StrataError(
    "config-invalid",
    `the provider's base URL ${problem}`,
    "give an address such as https://api.example.com; keys belong into the credentials",
  );
}
