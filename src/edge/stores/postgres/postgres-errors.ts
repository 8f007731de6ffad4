// Turns errors of the server or the network into one sentence and advice.
// Codes: https://www.postgresql.org/docs/current/errcodes-appendix.html
import { StrataError, type StrataErrorCode, messageOf } from "../../../core/strata-error.ts";
import type { Address } from "./connection-string.ts";

/** lost: no answer came. again: the server rolled back, and a repetition may succeed. final: it would fail again. */
export type FailureKind = "lost" | "again" | "final";

export function kindOfFailure(error: unknown): FailureKind {
  const code = codeOf(error);
  if (code === "40001" || code === "40P01" || isStalePlan(error)) return "again";
  if (lostCodes.has(code) || code.startsWith("08")) return "lost";
  return code === "" && error instanceof Error && lostMessages.test(error.message)
    ? "lost"
    : "final";
}

/** The connection was broken before the statement was sent. */
export function isUnsent(error: unknown): boolean {
  return error instanceof Error && error.message.endsWith("is not queryable");
}

/** Whether the server answered. Codes of the operating system, such as EPIPE, have no digits. */
export function isServersWord(error: unknown): boolean {
  return /^(?=.*\d)[0-9A-Z]{5}$/.test(codeOf(error));
}

/** The schema changed under a prepared statement. Another connection prepares it again. */
export function isStalePlan(error: unknown): boolean {
  return codeOf(error) === "0A000" && /cached plan/.test(wordsOf(error));
}

/** The table whose key is taken. Undefined for any other error. */
export function takenTable(error: unknown): string | undefined {
  if (codeOf(error) !== "23505") return undefined;
  return error instanceof Error && "table" in error ? String(error.table) : "";
}

/** A row would refer to nothing. */
export function isMissingReference(error: unknown): boolean {
  return codeOf(error) === "23503";
}

/** A guard matched two rows. */
export function isCardinality(error: unknown): boolean {
  return codeOf(error) === "21000";
}

/** For people, without the password. Returns errors from elsewhere unchanged. */
export function toStoreError(error: unknown, address: Address): unknown {
  const isTheirs = codeOf(error) !== "" || kindOfFailure(error) === "lost" || isRefusal(error);
  return isTheirs ? explainFailure(error, address) : error;
}

export function explainFailure(error: unknown, { where, redact }: Address): StrataError {
  if (error instanceof StrataError) return error;
  const code = codeOf(error);
  const text = redact(wordsOf(error));
  const [kind, problem, hint] =
    explanations[code] ??
    (isRefusal(error) ? refusalOf(text) : undefined) ??
    (kindOfFailure(error) === "lost" ? unreachable : unexpected);
  const detail = code === "" ? text : `${text} (${code})`;
  return new StrataError(kind, `the ledger ${where} ${problem}: ${detail}`, hint, { cause: error });
}

/** The connection was lost after a statement was sent that must not be sent twice. */
export function unknownWhether(error: unknown, { where }: Address): StrataError {
  if (error instanceof StrataError) return error;
  return new StrataError(
    "store-unavailable",
    `the connection to the ledger ${where} was lost during a write; it is unknown whether the write took effect`,
    "check the ledger when the server is back, before you repeat the write",
    { cause: error },
  );
}

const lostCodes: ReadonlySet<string> = new Set(
  `57P01 57P02 57P03 57P05 25P03 53300 ECONNRESET ECONNREFUSED ECONNABORTED EPIPE ETIMEDOUT ENOTFOUND EAI_AGAIN
  EHOSTUNREACH EHOSTDOWN ENETUNREACH ENETDOWN ENOENT`.split(/\s+/),
);

/** The driver's messages that have no code. */
const lostMessages =
  /^(?:Connection terminated|timeout e|Client has encountered a connection error|Client was closed)/;

type Explanation = readonly [StrataErrorCode, string, string];

const checkAddress = "check user, password and database in the connection string";

/** Errors that the driver raises before any statement. */
function isRefusal(error: unknown): boolean {
  const code = codeOf(error);
  if (code !== "") return /TLS|SSL|CERT/.test(code);
  return error instanceof Error && /^SASL|\bSSL\b|certificate/.test(error.message);
}

function refusalOf(text: string): Explanation {
  return text.startsWith("SASL") ? noPassword : noEncryption;
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
  "see the server's log; this statement had no effect",
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
    "denies this user a permission",
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
    "free some space and try again; acknowledged data is safe, and this write was not stored",
  ],
  "53300": [
    "store-unavailable",
    "has no connection left",
    "raise max_connections of the server, or let each node take fewer connections",
  ],
  "40P01": [
    "store-unavailable",
    "had a deadlock with other clients",
    "try again; nothing was stored",
  ],
  "57P03": ["store-unavailable", "is starting or stopping", "try again in a moment"],
  "22021": [
    "input-invalid",
    "cannot store this text",
    "remove the character with code 0, which PostgreSQL does not store",
  ],
};

function codeOf(error: unknown): string {
  if (!(error instanceof Error) || error instanceof StrataError || !("code" in error)) return "";
  return typeof error.code === "string" ? error.code : "";
}

/** A host with several addresses gives one error for all of them. The first one is enough. */
function wordsOf(error: unknown): string {
  const [first]: readonly unknown[] = error instanceof AggregateError ? error.errors : [];
  return messageOf(first ?? error);
}
