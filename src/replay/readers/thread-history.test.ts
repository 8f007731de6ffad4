import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createDrafting, createDrafts, type BlockDraft } from "./block-draft.ts";
import { charactersCounter } from "./test-kit.ts";
import { createThreadHistory } from "./thread-history.ts";

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
const facts = {
  thread: "",
  startMs: null,
  endMs: null,
  model: null,
  usage: null,
  settings: {},
} as const;
const image = { type: "image", source: { kind: "file", fileId: "f" } } as const;
const drafts = (letters: string): BlockDraft[] => letters.split("").flatMap(draft);

describe("the history of a thread", () => {
  test("keeps what is equal from the start, and brings the rest", () => {
    const history = createThreadHistory();
    history.advance(0, drafts("abcd"), facts);
    const { keep, append } = history.advance(1, drafts("bxd"), facts);
    expect(keep).toBe(2);
    expect(append.map(({ excerpt }) => excerpt)).toEqual(["x", "d"]);
  });

  test("knows whether there are images in it", () => {
    const history = createThreadHistory();
    const images = { "images appear or vanish": "images" };
    expect(history.advance(0, drafts("aib"), facts).settings).toEqual(images);
    expect(history.advance(2, drafts("c"), facts).settings).toEqual(images);
    expect(history.advance(1, drafts("c"), facts).settings).toEqual({});
  });

  test("what is kept and what is added is always the whole request", () => {
    const letters = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 8 });
    fc.assert(
      fc.property(fc.array(letters), (requests) => {
        const history = createThreadHistory();
        let shown: (string | undefined)[] = [];
        for (const request of requests) {
          const { keep, append } = history.advance(0, drafts(request), facts);
          shown = [...shown.slice(0, keep), ...append.map(({ excerpt }) => excerpt)];
          expect(shown.join("")).toBe(request);
        }
      }),
    );
  });
});
