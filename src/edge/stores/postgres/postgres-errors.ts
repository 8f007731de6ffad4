// What the server or the network reports → one sentence and what to do.
// Codes: https://www.postgresql.org/docs/current/errcodes-appendix.html
import { StrataError, type StrataErrorCode, messageOf } from "../../../core/strata-error.ts";
import type { Address } from "./connection-string.ts";

/**
 * lost: the connection is gone, and with it the answer. again: the server took everything back, and the same
 * statement may succeed next time. final: it would fail again.
 */
export type FailureKind = "lost" | "again" | "final";

export function kindOfFailure(error: unknown): FailureKind {
  const code = codeOf(error);
  if (code === "40001" || code === "40P01" || isStalePlan(error)) return "again";
  if (lostCodes.has(code) || code.startsWith("08")) return "lost";
  return code === "" && error instanceof Error && lostMessages.test(error.message)
    ? "lost"
    : "final";
}

/** The connection was broken before the statement could leave. */
export function isUnsent(error: unknown): boolean {
  return error instanceof Error && error.message.endsWith("is not queryable");
}

/** The server answered, whatever it said. Codes of the system, as EPIPE, have no digits. */
export function isServersWord(error: unknown): boolean {
  return /^(?=.*\d)[0-9A-Z]{5}$/.test(codeOf(error));
}

/** The schema changed under a prepared statement: another connection prepares it anew. */
export function isStalePlan(error: unknown): boolean {
  return codeOf(error) === "0A000" && /cached plan/.test(wordsOf(error));
}

/** The table whose key is taken; undefined for any other error. */
export function takenTable(error: unknown): string | undefined {
  if (codeOf(error) !== "23505") return undefined;
  return error instanceof Error && "table" in error ? String(error.table) : "";
}

/** A row would point at nothing. */
export function isMissingReference(error: unknown): boolean {
  return codeOf(error) === "23503";
}

/** Two rows where a guard asks for one. */
export function isCardinality(error: unknown): boolean {
  return codeOf(error) === "21000";
}

/** For people, without the password. What is neither the server's nor the network's is given back as it is. */
export function toStoreError(error: unknown, address: Address): unknown {
  const isTheirs = codeOf(error) !== "" || kindOfFailure(error) === "lost" || isRefusal(error);
  return isTheirs ? explainFailure(error, address) : error;
}

export function explainFailure(error: unknown, { where, redact }: Address): StrataError {
  if (error instanceof StrataError) return error;
  const code = codeOf(error);
  const said = redact(wordsOf(error));
  const [kind, problem, hint] =
    explanations[code] ??
    (isRefusal(error) ? refusalOf(said) : undefined) ??
    (kindOfFailure(error) === "lost" ? unreachable : unexpected);
  const detail = code === "" ? said : `${said} (${code})`;
  return new StrataError(kind, `the ledger ${where} ${problem}: ${detail}`, hint, { cause: error });
}

/** A connection was lost after something was sent that must not be sent twice. */
export function unknownWhether(error: unknown, { where }: Address): StrataError {
  if (error instanceof StrataError) return error;
  return new StrataError(
    "store-unavailable",
    `the connection to the ledger ${where} was lost during a write, and nobody knows whether it took effect`,
    "look at the ledger when the server is back, before doing it again",
    { cause: error },
  );
}

const lostCodes: ReadonlySet<string> = new Set(
  `57P01 57P02 57P03 57P05 25P03 53300 ECONNRESET ECONNREFUSED ECONNABORTED EPIPE ETIMEDOUT ENOTFOUND EAI_AGAIN
  EHOSTUNREACH EHOSTDOWN ENETUNREACH ENETDOWN ENOENT`.split(/\s+/),
);

/** As the driver words it where there is no code. */
const lostMessages =
  /^(?:Connection terminated|timeout e|Client has encountered a connection error|Client was closed)/;

type Explanation = readonly [StrataErrorCode, string, string];

const checkAddress = "check user, password and database in the connection string";

/** What the driver finds itself before anything is asked. */
function isRefusal(error: unknown): boolean {
  const code = codeOf(error);
  if (code !== "") return /TLS|SSL|CERT/.test(code);
  return error instanceof Error && /^SASL|\bSSL\b|certificate/.test(error.message);
}

function refusalOf(said: string): Explanation {
  return said.startsWith("SASL") ? noPassword : noEncryption;
}

const noPassword: Explanation = [
  "config-invalid",
  "asks for a password",
  "add one to the connection string: postgres://user:password@host/database",
];
const noEncryption: Explanation = [
  "config-invalid",
  "cannot be reached over an encrypted connection",
  "check sslmode and sslrootcert in the connection string",
];
const unreachable: Explanation = [
  "store-unavailable",
  "cannot be reached",
  "check that the server runs, and host and port in the connection string",
];
const unexpected: Explanation = [
  "store-unavailable",
  "refused a statement",
  "look at the server's log; nothing of this statement was kept",
];

const explanations: Readonly<Record<string, Explanation>> = {
  "28P01": ["config-invalid", "refused the password", checkAddress],
  "28000": [
    "config-invalid",
    "refused this user",
    "check the user in the connection string, and that pg_hba.conf lets it in from here",
  ],
  "3D000": [
    "config-invalid",
    "does not exist",
    "create the database with `createdb`, or correct its name in the connection string",
  ],
  "42501": [
    "store-unavailable",
    "lets this user do too little",
    "as the owner: GRANT USAGE, CREATE ON SCHEMA public TO the user, or make it the owner of the tables",
  ],
  "25006": [
    "store-unavailable",
    "is read-only",
    "name the primary server, not a standby; nothing was written",
  ],
  "53100": [
    "store-unavailable",
    "cannot grow: the server's disk is full",
    "make room and try again; what was acknowledged is safe, and nothing of this write was kept",
  ],
  "53300": [
    "store-unavailable",
    "has no connection left",
    "raise max_connections of the server, or let each node take fewer connections",
  ],
  "40P01": [
    "store-unavailable",
    "was used by others who waited for this",
    "try again; nothing of it was kept",
  ],
  "57P03": ["store-unavailable", "is starting or stopping", "try again in a moment"],
  "22021": [
    "input-invalid",
    "cannot keep this text",
    "take out the character with the code 0, which PostgreSQL does not store",
  ],
};

function codeOf(error: unknown): string {
  if (!(error instanceof Error) || error instanceof StrataError || !("code" in error)) return "";
  return typeof error.code === "string" ? error.code : "";
}

/** A host with several addresses gives one error for all of them; the first says enough. */
function wordsOf(error: unknown): string {
  const [first]: readonly unknown[] = error instanceof AggregateError ? error.errors : [];
  return messageOf(first ?? error);
}
