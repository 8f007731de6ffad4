import { expect, test } from "vitest";
import { placeHead, toCopiedRuns } from "./compaction-head.ts";
import type { HistoryMessage } from "./history.ts";
import { chatTurn, toTurn } from "./plan/test-kit.ts";

/** As stored in the ledger: all messages of the compaction's turn. */
const stored: readonly HistoryMessage[] = toTurn("fold", [
  ["user", 1],
  ["user", 2],
  ["text", 3],
  ["user", 4],
  ["text", 5],
]);
const after = chatTurn("c", 10);
const lead = {
  noteCount: 1,
  requestCount: 1,
  copied: [
    { turnId: "a", index: 4, count: 1 },
    { turnId: "b", index: 0, count: 2 },
  ],
};

test("what a fold copied is where it was said, and what it made is no part of a turn", () => {
  const { history, storedLength } = placeHead([...stored, ...after], "fold", lead);
  expect(storedLength).toBe(5);
  expect(
    history.map(({ turnId, index, compactionPart }) => [turnId, index, compactionPart]),
  ).toEqual([
    ["fold", 0, "notes"],
    ["fold", 1, "request"],
    ["a", 4, undefined],
    ["b", 0, undefined],
    ["b", 1, undefined],
    ["c", 0, undefined],
    ["c", 1, undefined],
  ]);
  expect(toCopiedRuns(history.slice(2, 5))).toEqual(lead.copied);
});

test("messages that are not next to each other are runs of their own", () => {
  const [first, , third] = toTurn("a", [
    ["user", 1],
    ["text", 1],
    ["text", 1],
  ]);
  if (first === undefined || third === undefined) throw new Error("three messages");
  expect(toCopiedRuns([first, third])).toEqual([
    { turnId: "a", index: 0, count: 1 },
    { turnId: "a", index: 2, count: 1 },
  ]);
});

test.each<[string, unknown]>([
  ["nothing", null],
  ["something else", { noteCount: "1" }],
  ["too few messages", { ...lead, copied: [] }],
  ["more than there can be", { ...lead, copied: [{ turnId: "a", index: 0, count: 1e12 }] }],
])("where %s was stored, all of the fold's messages are notes", (_name, told) => {
  const { history } = placeHead([...stored, ...after], "fold", told);
  expect(history.map(({ compactionPart }) => compactionPart)).toEqual([
    ...stored.map(() => "notes"),
    undefined,
    undefined,
  ]);
});

test("without a fold the history is as it was read", () => {
  expect(placeHead(after, null, null)).toEqual({ history: after, storedLength: 0 });
});
