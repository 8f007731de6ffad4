// Checks configured base URLs and credentials before anything is sent.
import { validateHeaderName, validateHeaderValue } from "node:http";
import { StrataError } from "../../core/strata-error.ts";
import { isKeyLike } from "./redact.ts";

export interface BaseUrl {
  readonly origin: string;
  /**
   * The whole path of a request, with the queries of both. A base URL may have what the path begins with, such as a
   * version at its end or before a project: then its own is written.
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
      const rest = path.slice(repeatedLength(base, path));
      const query = rest.includes("?") ? url.search.replace("?", "&") : url.search;
      return `${base}${rest}${query}`;
    },
  };
}

/** How much of a path the base URL already has: a version, its own or another, or the publisher of a model. */
function repeatedLength(base: string, path: string): number {
  const version = /^\/v\d+(?:(?:alpha|beta)\d*)?(?=\/)/.exec(path)?.[0];
  if (version !== undefined) return hasVersion.test(base) ? version.length : 0;
  const publisher = /^\/publishers\/[^/]+(?=\/)/.exec(path)?.[0] ?? "";
  return base.endsWith(publisher) ? publisher.length : 0;
}

const hasVersion =
  /\/v\d+(?:(?:alpha|beta)\d*)?(?:\/projects\/[^/]+\/locations\/[^/]+(?:\/publishers\/[^/]+)?)?$/;

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
