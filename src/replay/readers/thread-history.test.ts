import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createDrafting, createDrafts, type BlockDraft } from "./block-draft.ts";
import { charactersCounter } from "./test-kit.ts";
import { createThreadHistory, toRecordedBlocks } from "./thread-history.ts";

const drafting = createDrafting(charactersCounter, true);

function draft(text: string): BlockDraft[] {
  const read = {
    path: "",
    section: "",
    tier: "T3",
    role: "user",
    kind: "text",
    text,
    endsMessage: true,
    mayCarryMarker: true,
    markers: [],
    ...(text === "i" ? { counted: image } : {}),
  } as const;
  return createDrafts([read], drafting);
}
const image = { type: "image", source: { kind: "file", fileId: "f" } } as const;
const drafts = (letters: string): BlockDraft[] => letters.split("").flatMap(draft);

describe("the history of a thread", () => {
  test("keeps what is equal from the start, and brings the rest", () => {
    const history = createThreadHistory();
    history.advance(0, drafts("abcd"));
    const step = history.advance(1, drafts("bxd"));
    expect(step.keep).toBe(2);
    expect(toRecordedBlocks(step.added, "o200k").map(({ excerpt }) => excerpt)).toEqual(["x", "d"]);
  });

  test("knows whether there are images in it", () => {
    const history = createThreadHistory();
    history.advance(0, drafts("aib"));
    expect(history.hasImages).toBe(true);
    history.advance(2, drafts("c"));
    expect(history.hasImages).toBe(true);
    history.advance(1, drafts("c"));
    expect(history.hasImages).toBe(false);
  });

  test("what is kept and what is added is always the whole request", () => {
    const letters = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 8 });
    fc.assert(
      fc.property(fc.array(letters), (requests) => {
        const history = createThreadHistory();
        let shown: (string | undefined)[] = [];
        for (const request of requests) {
          const { keep, added } = history.advance(0, drafts(request));
          shown = [...shown.slice(0, keep), ...added.map(({ excerpt }) => excerpt)];
          expect(shown.join("")).toBe(request);
        }
      }),
    );
  });
});
