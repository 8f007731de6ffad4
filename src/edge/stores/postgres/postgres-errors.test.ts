import { describe, expect, test } from "vitest";
import { StrataError } from "../../../core/strata-error.ts";
import { parseAddress } from "./connection-string.ts";
import {
  explainFailure,
  isServersWord,
  kindOfFailure,
  takenTable,
  toStoreError,
} from "./postgres-errors.ts";

const address = parseAddress("postgres://me:hunter2hunter2@db.example/ledger");

function failure(code: string, message = "words of the server", more: object = {}): Error {
  return Object.assign(new Error(message), { code, ...more });
}

describe("kinds of failures", () => {
  test.each(["57P01", "57P02", "57P03", "08006", "ECONNRESET", "EPIPE", "ECONNREFUSED", "53300"])(
    "%s is a lost connection",
    (code) => expect(kindOfFailure(failure(code))).toBe("lost"),
  );

  test.each([
    "Connection terminated",
    "Connection terminated unexpectedly",
    "Connection terminated due to connection timeout",
    "timeout exceeded when trying to connect",
    "timeout expired",
    "Client has encountered a connection error and is not queryable",
  ])("%j is a lost connection", (message) => {
    expect(kindOfFailure(new Error(message))).toBe("lost");
  });

  test("what the server took back may succeed next time", () => {
    expect(kindOfFailure(failure("40001"))).toBe("again");
    expect(kindOfFailure(failure("40P01"))).toBe("again");
    expect(kindOfFailure(failure("0A000", "cached plan must not change result type"))).toBe(
      "again",
    );
  });

  test("everything else would fail again", () => {
    expect(kindOfFailure(failure("23505"))).toBe("final");
    expect(kindOfFailure(failure("0A000", "not supported"))).toBe("final");
    expect(kindOfFailure(new Error("our mistake"))).toBe("final");
    expect(kindOfFailure(new StrataError("store-unavailable", "a", "b"))).toBe("final");
  });
});

test("an answer of the server is distinguished from a failure of the network", () => {
  expect(["53300", "57P03", "P0001", "XX000"].map((code) => isServersWord(failure(code)))).toEqual([
    true,
    true,
    true,
    true,
  ]);
  expect(["EPIPE", "ECONNRESET"].map((code) => isServersWord(failure(code)))).toEqual([
    false,
    false,
  ]);
  expect(isServersWord(new Error("timeout expired"))).toBe(false);
});

test("the table of a taken key is named", () => {
  expect(takenTable(failure("23505", "duplicate key", { table: "turns" }))).toBe("turns");
  expect(takenTable(failure("23503", "no such row", { table: "turns" }))).toBeUndefined();
});

test.each([
  ["53100", "store-unavailable", "cannot grow: the server's disk is full"],
  ["25006", "store-unavailable", "is read-only"],
  ["42501", "store-unavailable", "denies this user a permission"],
  ["53300", "store-unavailable", "has no connection left"],
  ["ENOTFOUND", "store-unavailable", "cannot be reached"],
  ["57P03", "store-unavailable", "is starting or stopping"],
  ["28P01", "config-invalid", "refused the password"],
  ["3D000", "config-invalid", "does not exist"],
  ["22021", "input-invalid", "cannot store this text"],
  ["42601", "store-unavailable", "refused a statement"],
])("%s is %s: the ledger %s", (code, kind, problem) => {
  expect(explainFailure(failure(code), address)).toMatchObject({
    code: kind,
    message: `the ledger ledger on db.example:5432 ${problem}: words of the server (${code})`,
  });
});

test("a password in the words of the server is not repeated", () => {
  const { message } = explainFailure(failure("XX000", "bad: hunter2hunter2"), address);
  expect(message).toBe(
    "the ledger ledger on db.example:5432 refused a statement: bad: [redacted] (XX000)",
  );
});

test("what did not come from the server stays what it is", () => {
  const mistake = new TypeError("undefined is not a function");
  expect(toStoreError(mistake, address)).toBe(mistake);
});
