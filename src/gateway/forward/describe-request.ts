// Describes a request without its credentials: only a hash shows which requests belong to one account.
import { hash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { isSecretName } from "../../core/config/mask-secrets.ts";
import { protocols } from "../../core/wire/protocols.ts";
import { tokenHeader, type OwnHeaders } from "./pass-headers.ts";

export interface ToldHeaders {
  /** Names in lower case. Credentials are left out. */
  readonly headers: Readonly<Record<string, string>>;
  /** Empty without credentials. */
  readonly account: string;
  /** Whether the credentials are a person's login, not a key. */
  readonly usesLogin: boolean;
}

/** `own`: what the upstream gets in place of the client's headers. */
export function describeHeaders(
  given: IncomingHttpHeaders,
  path: string,
  { headers: own, without }: OwnHeaders,
): ToldHeaders {
  const described: Record<string, string> = {};
  const secrets: string[] = [];
  const take = (name: string, value: string): void => {
    if (isCredential(name)) secrets.push(`${name}\n${value}`);
    else described[name] = value;
  };
  const replaced = new Set(own.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase()));
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || name === tokenHeader || replaced.has(name)) continue;
    if (without?.has(name) === true) continue;
    take(name, Array.isArray(value) ? value.join(", ") : value);
  }
  for (let at = 0; at < own.length; at += 2) take(own[at]?.toLowerCase() ?? "", own[at + 1] ?? "");
  secrets.push(...keysIn(path));
  // The order of a client's headers means nothing.
  const account = secrets.length === 0 ? "" : hash("sha256", secrets.toSorted().join("\n"), "hex");
  const usesLogin = logins.some((login) => secrets.some((secret) => login.test(secret)));
  return { headers: described, account, usesLogin };
}

const logins: readonly RegExp[] = protocols.flatMap(({ access }) => access.login ?? []);

const keyHeaders: ReadonlySet<string> = new Set([
  ...protocols.map(({ access }) => access.key.name),
  "authorization",
  "cookie",
  "proxy-authorization",
]);

function isCredential(name: string): boolean {
  const known = judgedNames.get(name);
  if (known !== undefined) return known;
  const isSecret = keyHeaders.has(name) || isSecretName(name);
  if (judgedNames.size < judgedNamesMax && name.length <= 64) judgedNames.set(name, isSecret);
  return isSecret;
}

/** Clients send the same few headers with every request. */
const judgedNames = new Map<string, boolean>();
const judgedNamesMax = 1000;

/** A path without keys in its query. */
export function withoutKeys(path: string): string {
  const query = path.indexOf("?");
  if (query === -1) return path;
  return path.slice(0, query) + path.slice(query).replace(member, hideKey);
}

const member = /([?&])([^=&]*)=([^&]*)/g;

function hideKey(whole: string, start: string, name: string): string {
  return isKeyName(name) ? `${start}${name}=***` : whole;
}

function keysIn(path: string): readonly string[] {
  const query = path.indexOf("?");
  if (query === -1) return [];
  return [...path.slice(query).matchAll(member)]
    .filter(([, , name = ""]) => isKeyName(name))
    .map(([, , name, value]) => `${name}\n${value}`);
}

function isKeyName(name: string): boolean {
  return name === "key" || isSecretName(name);
}
