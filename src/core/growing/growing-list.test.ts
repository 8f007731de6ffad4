import { expect, test } from "vitest";
import { growingList, itemsOf, joinLists } from "./growing-list.ts";

test("two lists that grow from one do not disturb each other or the one they grew from", () => {
  const start = growingList(["a", "b"]);
  const left = start.append(["c"]);
  const right = start.append(["x", "y"]);
  expect([...itemsOf(start)]).toEqual(["a", "b"]);
  expect([...itemsOf(left)]).toEqual(["a", "b", "c"]);
  expect([...itemsOf(right)]).toEqual(["a", "b", "x", "y"]);
  expect([...itemsOf(left.append(["d"]))]).toEqual(["a", "b", "c", "d"]);
  expect([...itemsOf(left)]).toEqual(["a", "b", "c"]);
});

test("a list ends where it ended, whatever was appended since", () => {
  const start = growingList<string>();
  start.append(["later"]);
  expect(start.length).toBe(0);
  expect(start.at(0)).toBeUndefined();
  expect(start.at(-1)).toBeUndefined();
});

test("appending nothing gives an equal list that still grows by itself", () => {
  const start = growingList([1]);
  const same = start.append([]);
  start.append([2]);
  expect([...itemsOf(same.append([3]))]).toEqual([1, 3]);
});

test("a list does not change with the array it was made from", () => {
  const items = [1, 2];
  const list = growingList(items);
  items.push(3);
  items[0] = 9;
  expect([...itemsOf(list)]).toEqual([1, 2]);
});

test("100,000 items are appended one by one without copying what is there", () => {
  let list = growingList<number>();
  for (let item = 0; item < 100_000; item += 1) list = list.append([item]);
  expect(list.length).toBe(100_000);
  expect(list.at(99_999)).toBe(99_999);
});

test("joined lists read as one, arrays and empty lists among them", () => {
  const joined = joinLists(growingList(["a"]), [], ["b", "c"], growingList(["d"]));
  expect(joined.length).toBe(4);
  expect([0, 1, 2, 3].map((index) => joined.at(index))).toEqual(["a", "b", "c", "d"]);
  expect([joined.at(4), joined.at(-1)]).toEqual([undefined, undefined]);
  expect([...itemsOf(joined)]).toEqual(["a", "b", "c", "d"]);
});
