import { afterEach, beforeEach, expect, test } from "vitest";
import type { Ledger } from "../../core/ledger/ledger.ts";
import { openLedger } from "../../edge/stores/open-ledger.ts";
import { findSessionId, shortName } from "./name-session.ts";

const ids = [
  "c78c6c0b-8c74-4414-959c-e498cfa6f220",
  "c78c9999-8c74-4414-959c-e498cfa6f221",
  "c78c-mine",
];

let ledger: Ledger;

beforeEach(async () => {
  ledger = await openLedger(":memory:");
  for (const id of ids) {
    await ledger.createSession({ id, agent: "a", role: "unified", model: "m", provider: "p" });
  }
});

afterEach(() => ledger.close());

test("a generated id is shortened, a given name is not", () => {
  expect(ids.map(shortName)).toEqual(["c78c6c0b", "c78c9999", "c78c-mine"]);
});

test("the first letters of a generated id find it while they are unique", async () => {
  expect(await findSessionId(ledger, "c78c6")).toBe(ids[0]);
  expect(await findSessionId(ledger, "c78c-mine")).toBe("c78c-mine");
  await expect(findSessionId(ledger, "c78c")).rejects.toThrow("several sessions begin with c78c");
});

test("an unknown or too short id is returned unchanged", async () => {
  expect(await findSessionId(ledger, "c78")).toBe("c78");
  expect(await findSessionId(ledger, "nobody")).toBe("nobody");
});
