import { expect, test } from "vitest";
import { createStatementNames } from "./run-statements.ts";

test("a statement has a name from its second time on, always the same", () => {
  const nameOf = createStatementNames();
  expect(nameOf("SELECT 1")).toBeUndefined();
  const name = nameOf("SELECT 1");
  expect(name).toMatch(/^strata_[0-9a-f]{32}$/);
  expect(nameOf("SELECT 1")).toBe(name);
  expect(createStatementNames()("SELECT 1")).toBeUndefined();
});

test("there are never more names than allowed, and the one used longest ago goes", () => {
  const nameOf = createStatementNames(2);
  const use = (sql: string): string | undefined => (nameOf(sql), nameOf(sql));
  const first = use("a");
  use("b");
  expect(nameOf("a")).toBe(first);
  expect(use("c")).toBeDefined();
  expect(nameOf("a")).toBe(first);
  expect(nameOf("b")).toBeUndefined();
});
