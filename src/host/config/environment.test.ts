import { describe, expect, test } from "vitest";
import { readStore } from "./environment.ts";

const env = { STRATA_DATA_DIR: "/data" };

describe("where the ledger is", () => {
  test("is what was typed, else the variable, else the configuration, else the data directory", () => {
    const own = { ...env, STRATA_STORE: "/variable.db" };
    expect(readStore(own, "/typed.db", "/configured.db").value).toBe("/typed.db");
    expect(readStore(own, undefined, "/configured.db").value).toBe("/variable.db");
    expect(readStore(env, undefined, "/configured.db")).toEqual({
      value: "/configured.db",
      origin: "ledger.store in the configuration",
    });
    expect(readStore(env)).toEqual({
      value: "/data/ledger.db",
      origin: "the data directory, from STRATA_DATA_DIR",
    });
  });

  test("a connection string is taken as it is, and never repeated where it is refused", () => {
    const url = "postgres://ana:secret@localhost/strata";
    expect(readStore(env, undefined, url).value).toBe(url);
    expect(() => readStore(env, undefined, "mysql://ana:secret@localhost/strata")).toThrow(
      "the store, from ledger.store in the configuration, is neither a file nor a PostgreSQL connection string",
    );
  });
});
