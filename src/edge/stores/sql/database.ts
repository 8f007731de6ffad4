// What the ledger needs from a database. Only the two drivers know a dialect.
import type { Row, TableName, Value } from "./tables.ts";

/** SQL for both databases, with `?` for values. Integers come back as numbers, so sums of money are read as text. */
export interface Database {
  readonly kind: "sqlite" | "postgres";
  /** The database's own clock in milliseconds since 1970, as an SQL expression. */
  readonly clockSql: string;
  /** `FROM q JOIN message_terms m …`: rows of messages that contain the code `q.code`. */
  readonly termsSql: string;
  query(sql: string, values?: readonly Value[]): Promise<readonly ResultRow[]>;
  /** All or nothing. Durable once it resolves. */
  commit(commit: Commit): Promise<CommitResult>;
  hasTable(name: string): Promise<boolean>;
  /** Queries on one consistent snapshot while others write. A database in memory has no snapshots. */
  snapshot<T>(work: (snapshot: Snapshot) => Promise<T>): Promise<T>;
  /**
   * One transaction during which no other process writes to a session; others may read. For migrations and
   * restores. Others wait for it, so do slow work before. This process must not use the database for anything
   * else meanwhile.
   */
  exclusive<T>(work: (query: Database["query"]) => Promise<T>): Promise<T>;
  /** Waits for transactions that are writing to one of these tables now. False if one of them goes on for seconds. */
  areWritersGone(tables: readonly string[]): Promise<boolean>;
  size(): Promise<number>;
  /** What the database's own check finds wrong, in words. */
  check(): Promise<readonly string[]>;
  /** Null once deleted content is gone from the files, as far as possible. Otherwise why not, and what to do. */
  scrub(): Promise<string | null>;
  close(): Promise<void>;
}

export interface Snapshot extends Pick<Database, "query"> {
  /** One query at a time, each to its end, in little memory. */
  rows(sql: string): AsyncIterable<ResultRow>;
}

/** A raw row. Read it with read-row.ts. */
export type ResultRow = Readonly<Record<string, unknown>>;

export interface Commit {
  /** In order. Each must match exactly one row, or nothing is written. The last may be an update. */
  readonly guards: readonly Guard[];
  /** Unless `inOrder`, no write sees the effect of another or what others add meanwhile; no two touch the same row. */
  readonly writes: readonly Write[];
  readonly inOrder?: boolean;
  /**
   * A query that returns a row exactly if the commit took effect, for use after a connection was lost in the
   * middle. Without one, a lost connection is an error. Such a commit cannot take effect twice: it makes its
   * own guard false, or inserts a key, or is harmless to repeat.
   */
  readonly landed?: () => Statement;
}

export interface Statement {
  /** An UPDATE, a DELETE or a guard ends with a WHERE clause. */
  readonly sql: string;
  readonly values: readonly Value[];
}

/**
 * `SELECT 1 FROM one_table WHERE …`, which locks the row, or `UPDATE … WHERE …`. The WHERE depends on its own
 * row only: after a wait the database does not re-read anything else.
 */
export interface Guard extends Statement {
  /** Returned if the guard fails. */
  readonly name: string;
}

export type Write = Insert | Statement;

export interface Insert {
  readonly into: TableName;
  readonly rows: readonly Row[];
  /** Keeps an existing row with the same key. */
  readonly orIgnore?: boolean;
}

export type CommitResult =
  | { readonly kind: "done" }
  /** A guard failed, or a row would refer to nothing (`reference`). Nothing was written. */
  | { readonly kind: "refused"; readonly guard: string }
  /** A key is taken. Nothing was written. */
  | { readonly kind: "taken"; readonly table: string };
