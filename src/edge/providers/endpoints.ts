// Checks configured base URLs and credentials before anything is sent.
import { validateHeaderName, validateHeaderValue } from "node:http";
import { StrataError } from "../../core/strata-error.ts";
import { isKeyLike } from "./redact.ts";

export interface BaseUrl {
  readonly origin: string;
  /**
   * The whole path of a request, with the queries of both. A base URL may end with the version that
   * the path begins with: it is written once.
   */
  pathTo(path: string): string;
}

export function parseBaseUrl(baseUrl: string): BaseUrl {
  const url = URL.parse(baseUrl);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw invalidUrl("is no address of http or https");
  }
  // Credentials inside an address end up in messages and logs of others.
  if (url.username !== "" || url.password !== "") throw invalidUrl("holds a name or a password");
  const base = url.pathname.replace(/\/+$/, "");
  return {
    origin: url.origin,
    pathTo: (path) => {
      const version = /^\/v\d+(?=\/)/.exec(path)?.[0] ?? "";
      const rest = version !== "" && base.endsWith(version) ? path.slice(version.length) : path;
      const query = rest.includes("?") ? url.search.replace("?", "&") : url.search;
      return `${base}${rest}${query}`;
    },
  };
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
          `the credentials' header "${isKeyLike(name) ? "[redacted]" : name}" cannot be sent: its name or value holds a character that headers cannot`,
          "look for line breaks and typographic quotes in it",
        );
      }
      return [name.toLowerCase(), value];
    }),
  );
}

function invalidUrl(problem: string): StrataError {
  return new StrataError(
    "config-invalid",
    `the provider's base URL ${problem}`,
    "give an address such as https://api.example.com; keys belong into the credentials",
  );
}
