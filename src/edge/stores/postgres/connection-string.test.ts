import { expect, test } from "vitest";
import { parseAddress } from "./connection-string.ts";

test("a connection string is called by its database and host", () => {
  expect(parseAddress("postgres://me:secret@db.example:6543/ledger").where).toBe(
    "ledger on db.example:6543",
  );
  expect(parseAddress("postgresql://db.example").where).toBe(
    "the default database on db.example:5432",
  );
  expect(parseAddress("postgres:///ledger?host=/run/postgresql").where).toBe(
    "ledger on /run/postgresql:5432",
  );
});

test("the password is taken out of texts, encoded or not", () => {
  const { redact } = parseAddress("postgres://me:pa%2Fss@host/db");
  expect(redact("no entry for me:pa/ss or me:pa%2Fss")).toBe(
    "no entry for me:[redacted] or me:[redacted]",
  );
});

test.each([
  "",
  "ledger.db",
  "mysql://me:secret@host/db",
  "postgres://me:sec/ret@host/db",
  "postgres://me:12/secret@host/db",
  "postgres://me:12?secret@host/db",
  "postgres://me:secret#x@host/db",
  "postgres://me:secret@host:port/db",
])("%j is refused without being repeated", (text) => {
  expect(() => parseAddress(text)).toThrow(
    expect.objectContaining({
      code: "config-invalid",
      message: expect.not.stringContaining("sec"),
      hint: "write it as postgres://user:password@host:5432/database, with special characters of the password as %XX",
    }),
  );
});
