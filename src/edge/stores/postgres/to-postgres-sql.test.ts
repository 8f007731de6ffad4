import { describe, expect, test } from "vitest";
import { isRead, numberPlaces, splitWhere, withByteOrder } from "./to-postgres-sql.ts";

describe("numbering places", () => {
  test("places are numbered from left to right", () => {
    expect(numberPlaces("SELECT a FROM t WHERE a = ? AND b IN (?, ?)")).toBe(
      "SELECT a FROM t WHERE a = $1 AND b IN ($2, $3)",
    );
  });

  test("numbering goes on from a given number", () => {
    expect(numberPlaces("a = ? AND b = ?", 12)).toBe("a = $12 AND b = $13");
  });

  test("a question mark inside quotes or a comment is no place", () => {
    const sql = `SELECT 'why?', 'it''s?', "odd?" -- really?\nFROM t WHERE a = ?`;
    expect(numberPlaces(sql)).toBe(
      `SELECT 'why?', 'it''s?', "odd?" -- really?\nFROM t WHERE a = $1`,
    );
  });
});

describe("text in the order of its bytes", () => {
  test("columns of a new table get it", () => {
    expect(withByteOrder("CREATE TABLE t (id TEXT PRIMARY KEY, n BIGINT, note TEXT)")).toBe(
      `CREATE TABLE t (id TEXT COLLATE "C" PRIMARY KEY, n BIGINT, note TEXT COLLATE "C")`,
    );
  });

  test("a column that is added gets it", () => {
    expect(withByteOrder("ALTER TABLE t ADD COLUMN note TEXT")).toBe(
      `ALTER TABLE t ADD COLUMN note TEXT COLLATE "C"`,
    );
  });

  test("other statements, quoted words and columns called text stay as they are", () => {
    expect(withByteOrder("SELECT CAST(a AS TEXT) FROM t")).toBe("SELECT CAST(a AS TEXT) FROM t");
    expect(withByteOrder("CREATE TABLE t (kind BIGINT CHECK (kind <> 'TEXT'))")).toBe(
      "CREATE TABLE t (kind BIGINT CHECK (kind <> 'TEXT'))",
    );
    expect(withByteOrder("CREATE TABLE contents (hash TEXT, text TEXT NOT NULL)")).toBe(
      `CREATE TABLE contents (hash TEXT COLLATE "C", text TEXT COLLATE "C" NOT NULL)`,
    );
  });
});

describe("parting a statement at its WHERE", () => {
  test("the WHERE of a subquery is not the statement's own", () => {
    expect(
      splitWhere("UPDATE t SET a = (SELECT b FROM u WHERE c = 1) WHERE id = ? OR id = 'x'"),
    ).toEqual({
      head: "UPDATE t SET a = (SELECT b FROM u WHERE c = 1)",
      condition: "id = ? OR id = 'x'",
    });
  });

  test("a WHERE inside quotes is none", () => {
    expect(splitWhere("UPDATE t SET a = ' WHERE '")).toBeNull();
  });
});

test("only what changes nothing is a read", () => {
  expect(isRead("SELECT 1")).toBe(true);
  expect(isRead("  select * from t")).toBe(true);
  expect(isRead("WITH a AS (SELECT 1) SELECT * FROM a")).toBe(true);
  expect(isRead("WITH a AS (DELETE FROM t RETURNING 1) SELECT * FROM a")).toBe(false);
  expect(isRead("UPDATE t SET a = 1")).toBe(false);
  expect(isRead("VACUUM t")).toBe(false);
});
