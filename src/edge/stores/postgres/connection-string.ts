// Parses the user's connection string: a name for messages, and the secrets never to repeat.
import { decodePart } from "../../../core/config/secrets.ts";
import { StrataError } from "../../../core/strata-error.ts";

export interface Address {
  readonly connectionString: string;
  /** Host, port and database, for messages. */
  readonly where: string;
  /** Removes the password and names of users from a text of the server. */
  readonly redact: (text: string) => string;
}

/** Errors never quote the string: it may contain a password in an unexpected place. */
export function parseAddress(text: string): Address {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^postgres(?:ql)?:$/.test(url.protocol)) {
    throw invalid("the connection string of the ledger is not a PostgreSQL URL");
  }
  // An unencoded / ? # in a password ends the host early, and the rest appears here.
  if (url.hash !== "" || `${url.pathname}${url.search}`.includes("@")) {
    throw invalid("the password in the connection string of the ledger is not encoded");
  }
  const host = url.searchParams.get("host") ?? decodePart(url.hostname);
  const port = url.searchParams.get("port") ?? (url.port || "5432");
  const database = decodePart(url.pathname.slice(1)) || "the default database";
  return {
    connectionString: text,
    where: `${database} on ${host || "localhost"}:${port}`,
    redact: createRedact([url.password, url.searchParams.get("password") ?? ""]),
  };
}

function invalid(message: string): StrataError {
  return new StrataError(
    "config-invalid",
    message,
    "write it as postgres://user:password@host:5432/database, with special characters of the password as %XX",
  );
}

function createRedact(passwords: readonly string[]): (text: string) => string {
  const secrets = passwords
    .flatMap((each) => [each, decodePart(each)])
    .filter((each) => each !== "");
  return (text) =>
    secrets
      .reduce((rest, secret) => rest.replaceAll(secret, "[redacted]"), text)
      .replace(/\b(user|role) "[^"]*"/g, '$1 "[redacted]"');
}
