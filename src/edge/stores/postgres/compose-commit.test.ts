import { describe, expect, test } from "vitest";
import { composeCommit, planSteps } from "./compose-commit.ts";

const lease = {
  name: "lease",
  sql: "SELECT 1 FROM sessions WHERE id = ? OR id = ?",
  values: ["a", "b"],
};
const pointer = {
  name: "pointer",
  sql: "UPDATE sessions SET next_seq = ? WHERE id = ? AND next_seq = ?",
  values: [2, "a", 1],
};

describe("a commit as one statement", () => {
  test("guards come first, each on condition of the one before, then the writes", () => {
    expect(
      composeCommit({
        guards: [lease, pointer],
        writes: [
          {
            into: "contents",
            rows: [
              { hash: "h1", text: "one" },
              { hash: "h2", text: "two" },
            ],
            orIgnore: true,
          },
          { sql: "DELETE FROM compaction_locks_v1 WHERE session_id = ?", values: ["a"] },
        ],
      }),
    ).toEqual({
      sql:
        "WITH g0 AS (SELECT 1 FROM sessions WHERE id = $1 OR id = $2 FOR NO KEY UPDATE), " +
        "g1 AS (UPDATE sessions SET next_seq = $3 WHERE (id = $4 AND next_seq = $5) AND (SELECT true FROM g0) RETURNING 1), " +
        "w0 AS (INSERT INTO contents (hash, text) SELECT * FROM unnest($6::text[], $7::text[]) WHERE (SELECT true FROM g1) ON CONFLICT DO NOTHING), " +
        "w1 AS (DELETE FROM compaction_locks_v1 WHERE (session_id = $8) AND (SELECT true FROM g1)) " +
        "SELECT (SELECT 1 FROM g0) AS g0, (SELECT 1 FROM g1) AS g1",
      values: ["a", "b", 2, "a", 1, ["h1", "h2"], ["one", "two"], "a"],
    });
  });

  test("without guards the writes happen in any case", () => {
    expect(
      composeCommit({
        guards: [],
        writes: [{ into: "branches", rows: [{ id: 7n, parent_branch_id: null }] }],
      }),
    ).toEqual({
      sql:
        "WITH w0 AS (INSERT INTO branches (id, parent_branch_id, fork_seq) SELECT $1::bigint, $2::bigint, $3::bigint) " +
        "SELECT 1 AS done",
      values: [7n, null, null],
    });
  });

  test("the statement is the same for two rows and for a hundred", () => {
    expect(sqlFor(100)).toBe(sqlFor(2));
  });

  test("a commit of the same form has the very same statement, with its own values", () => {
    const forms = ["one", "two"].map((text) =>
      composeCommit({
        guards: [{ ...pointer, values: [2, text, 1] }],
        writes: [{ into: "contents", rows: [{ hash: "h", text }], orIgnore: true }],
      }),
    );
    const sql =
      "WITH g0 AS (UPDATE sessions SET next_seq = $1 WHERE id = $2 AND next_seq = $3 RETURNING 1), " +
      "w0 AS (INSERT INTO contents (hash, text) SELECT $4::text, $5::text WHERE (SELECT true FROM g0) ON CONFLICT DO NOTHING) " +
      "SELECT (SELECT 1 FROM g0) AS g0";
    expect(forms).toEqual([
      { sql, values: [2, "one", 1, "h", "one"] },
      { sql, values: [2, "two", 1, "h", "two"] },
    ]);
  });

  test("the same insert with and without a conflict allowed, and another number of rows, are other statements", () => {
    const rows = [{ hash: "h", text: "t" }];
    const texts = [
      { into: "contents" as const, rows },
      { into: "contents" as const, rows, orIgnore: true },
      { into: "contents" as const, rows: [...rows, ...rows] },
    ].map((write) => composeCommit({ guards: [], writes: [write] })?.sql);
    expect(texts).toEqual([
      "WITH w0 AS (INSERT INTO contents (hash, text) SELECT $1::text, $2::text) SELECT 1 AS done",
      "WITH w0 AS (INSERT INTO contents (hash, text) SELECT $1::text, $2::text ON CONFLICT DO NOTHING) SELECT 1 AS done",
      "WITH w0 AS (INSERT INTO contents (hash, text) SELECT * FROM unnest($1::text[], $2::text[])) SELECT 1 AS done",
    ]);
  });

  test("a column the table does not have is our mistake", () => {
    expect(() =>
      composeCommit({ guards: [], writes: [{ into: "contents", rows: [{ hsah: "h" }] }] }),
    ).toThrow("a row has a column that contents does not have");
  });
});

describe("a commit that needs several statements", () => {
  test("an update before another guard would stay if that one fails", () => {
    expect(composeCommit({ guards: [pointer, lease], writes: [] })).toBeNull();
  });

  test("writes in order see each other", () => {
    expect(composeCommit({ guards: [pointer], writes: [], inOrder: true })).toBeNull();
  });

  test("a statement that cannot be made conditional goes on its own", () => {
    const copy = {
      sql: "INSERT INTO contents SELECT * FROM contents WHERE hash = ?",
      values: ["h"],
    };
    expect(composeCommit({ guards: [pointer], writes: [copy] })).toBeNull();
  });

  test("each statement stands for itself", () => {
    expect(
      planSteps({
        guards: [pointer, lease],
        writes: [
          { sql: "DELETE FROM events WHERE session_id = ?", values: ["a"] },
          { into: "contents", rows: [{ hash: "h", text: "t" }] },
          { into: "events", rows: [] },
        ],
      }),
    ).toEqual({
      guards: [
        {
          sql: "UPDATE sessions SET next_seq = $1 WHERE id = $2 AND next_seq = $3 RETURNING 1",
          values: [2, "a", 1],
        },
        {
          sql: "SELECT 1 FROM sessions WHERE id = $1 OR id = $2 FOR NO KEY UPDATE",
          values: ["a", "b"],
        },
      ],
      writes: [
        { sql: "DELETE FROM events WHERE session_id = $1", values: ["a"] },
        {
          sql: "INSERT INTO contents (hash, text) SELECT $1::text, $2::text",
          values: ["h", "t"],
        },
      ],
    });
  });

  test("an insert of many megabytes is divided", () => {
    const text = "x".repeat(3_000_000);
    const rows = ["a", "b", "c", "d"].map((hash) => ({ hash, text }));
    const commit = { guards: [], writes: [{ into: "contents", rows } as const] };
    expect(composeCommit(commit)).toBeNull();
    // Each text is a value of its own, which no driver has to escape.
    expect(planSteps(commit).writes.map(({ values }) => values)).toEqual([
      ["a", text, "b", text],
      ["c", text, "d", text],
    ]);
    expect(planSteps(commit).writes[0]?.sql).toBe(
      "INSERT INTO contents (hash, text) SELECT * FROM (VALUES ($1::text, $2::text), ($3::text, $4::text)) AS given (hash, text)",
    );
  });
});

function sqlFor(rowCount: number): string | undefined {
  const rows = Array.from({ length: rowCount }, (_, index) => ({ hash: `${index}`, text: "" }));
  return composeCommit({ guards: [pointer], writes: [{ into: "contents", rows }] })?.sql;
}
