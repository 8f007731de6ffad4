import { expect, test } from "vitest";
import { createIds, drawOf } from "./ids.ts";

test("ids are the same for the same seed, and no two alike", () => {
  const [one, two] = [createIds(1), createIds(1)];
  const ids = Array.from({ length: 1000 }, () => one.newId("msg_"));
  expect(ids[0]).toMatch(/^msg_01[0-9A-Za-z]{22}$/);
  expect(new Set(ids).size).toBe(1000);
  expect(two.newId("msg_")).toBe(ids[0]);
  expect(createIds(2).newId("msg_")).not.toBe(ids[0]);
});

test("without a seed a key does not show its workspace", () => {
  expect(createIds(undefined).workspaceOf("k")).not.toBe(createIds(undefined).workspaceOf("k"));
  const ids = createIds(1);
  expect(ids.workspaceOf("k")).toBe(ids.workspaceOf("k"));
  expect(ids.workspaceOf("k")).not.toBe(ids.workspaceOf("l"));
  // Keys of one vendor share a prefix.
  expect(ids.workspaceOf("sk-ant-api03-one")).not.toBe(ids.workspaceOf("sk-ant-api03-two"));
});

test("draws spread from 0 up to 1", () => {
  const draws = Array.from({ length: 1000 }, (_, index) => drawOf(`${index}`));
  expect(draws.every((draw) => draw >= 0 && draw < 1)).toBe(true);
  const mean = draws.reduce((sum, draw) => sum + draw, 0) / draws.length;
  expect(Math.abs(mean - 0.5)).toBeLessThan(0.03);
});
