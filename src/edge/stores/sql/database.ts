// What the ledger asks of a database. Only the two drivers below know a dialect.
import type { Row, TableName, Value } from "./tables.ts";

/**
 * SQL here is what SQLite and PostgreSQL both understand, with `?` for values. Integers come back as numbers,
 * so sums of money are read as text.
 */
export interface Database {
  readonly kind: "sqlite" | "postgres";
  /** The database's own clock in milliseconds since 1970, as an SQL expression. */
  readonly clockSql: string;
  /** `FROM q JOIN message_terms m …`: rows of messages that hold the code `q.code`. */
  readonly termsSql: string;
  query(sql: string, values?: readonly Value[]): Promise<readonly ResultRow[]>;
  /** All of it or nothing, durable once it resolves. */
  commit(commit: Commit): Promise<CommitResult>;
  /** Whether there is a table of this name. */
  hasTable(name: string): Promise<boolean>;
  /** Queries that all see one moment, while others go on writing. A database in memory has no such moment. */
  snapshot<T>(work: (snapshot: Snapshot) => Promise<T>): Promise<T>;
  /**
   * One transaction during which nobody else writes to a session; others may read. For migrations and restores.
   * Others wait for it, so whatever is slow is done before; this process does nothing else with the database.
   */
  exclusive<T>(work: (query: Database["query"]) => Promise<T>): Promise<T>;
  /** Told when any connection committed with `advanced`. Returns how to stop. */
  onAdvance(handler: (sessionId: string) => void): () => void;
  /** Bytes on disk. */
  size(): Promise<number>;
  /** What the database itself finds wrong, in words. */
  check(): Promise<readonly string[]>;
  /** Null once deleted content is gone from the files, as far as the database can; else why not, and what to do. */
  scrub(): Promise<string | null>;
  close(): Promise<void>;
}

export interface Snapshot extends Pick<Database, "query"> {
  /** One query at a time, each to its end, in little memory. */
  rows(sql: string): AsyncIterable<ResultRow>;
}

/** A row as it comes; read it with read-row.ts. */
export type ResultRow = Readonly<Record<string, unknown>>;

export interface Commit {
  /** In order. Each must touch exactly one row, or nothing is written; the last may be an update. */
  readonly guards: readonly Guard[];
  /**
   * No write sees what another one did, or rows that others add while a guard waits, and no two touch the same
   * row, unless they are `inOrder`.
   */
  readonly writes: readonly Write[];
  readonly inOrder?: boolean;
  /** Sessions whose pointer moves: other processes and nodes are told. */
  readonly advanced?: readonly string[];
  /**
   * Whether the commit took effect, asked after a connection was lost in the middle of it: a query that gives
   * a row exactly when it did. Without one, a lost connection is an error. Such a commit cannot take effect
   * twice: it makes a guard of its own false, or inserts a key, or may be repeated.
   */
  readonly landed?: Statement;
}

export interface Statement {
  /** Ends with a WHERE clause where it is an UPDATE, a DELETE or a guard. */
  readonly sql: string;
  readonly values: readonly Value[];
}

/**
 * `SELECT 1 FROM one_table WHERE …`, whose row is locked, or `UPDATE … WHERE …`. Its WHERE looks at its own row
 * only: after a wait nothing else is looked at again.
 */
export interface Guard extends Statement {
  /** Told when it does not hold. */
  readonly name: string;
}

export type Write = Insert | Statement;

export interface Insert {
  readonly into: TableName;
  readonly rows: readonly Row[];
  /** A row whose key is there already is left as it is. */
  readonly orIgnore?: boolean;
}

export type CommitResult =
  | { readonly kind: "done" }
  /** A guard did not hold, or a row would point at nothing (`reference`): nothing was written. */
  | { readonly kind: "refused"; readonly guard: string }
  /** A key is taken: nothing was written. */
  | { readonly kind: "taken"; readonly table: string };
