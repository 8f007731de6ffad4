// The examples of OpenAI's guide: boundaries of newer models, steps of older ones.
import { describe, expect, test } from "vitest";
import { modelOf, outcomes, paid, send, text, texts } from "../../../harness/bill-example.ts";
import type { BillableBlock } from "./billable-request.ts";
import { createBilling } from "./billing.ts";

const sol = modelOf("gpt-6.1-sol");

describe("boundaries of GPT-5.6 and later", () => {
  test("the end of the latest message is kept unasked", () => {
    const billing = createBilling();
    const first = send(billing, sol, { blocks: [user("first", 2000)] });
    expect(paid(first)).toEqual({ read: 0, "30m": 2000, uncached: 0 });
    expect(first.markers.map(({ origin }) => origin)).toEqual(["automatic"]);
    const blocks = [user("first", 2000), text("reply", 300), user("second", 500), text("more", 50)];
    expect(paid(send(billing, sol, { blocks }))).toEqual({ read: 2000, "30m": 800, uncached: 50 });
  });

  test("a shared beginning with another end is read only where a marker stands", () => {
    const shared = text("shared", 2000);
    for (const [markers, read] of [
      [{}, 0],
      [{ 0: "30m" }, 2000],
    ] as const) {
      const billing = createBilling();
      send(billing, sol, { blocks: [shared, user("one", 100)], markers });
      const bill = send(billing, sol, { blocks: [shared, user("two", 100)], markers });
      expect(bill.readTokens).toBe(read);
    }
  });

  test("explicit mode without markers neither reads nor writes", () => {
    const billing = createBilling();
    send(billing, sol, { blocks: [user("first", 2000)] });
    const bill = send(billing, sol, { blocks: [user("first", 2000)], mode: "explicit" });
    expect(paid(bill)).toEqual({ read: 0, uncached: 2000 });
    expect(bill.reason).toEqual({ kind: "no marker" });
  });

  test("of six markers the latest count: three beside the implicit one, four in explicit mode", () => {
    const blocks = [...texts(6, 1100), user("question", 100)];
    const all = { 0: "30m", 1: "30m", 2: "30m", 3: "30m", 4: "30m", 5: "30m" } as const;
    const over = "over the limit";
    const implicit = send(createBilling(), sol, { blocks, markers: all });
    expect(outcomes(implicit)).toEqual([
      over,
      over,
      over,
      "written",
      "written",
      "written",
      "written",
    ]);
    expect(paid(implicit)).toEqual({ read: 0, "30m": 6700, uncached: 0 });
    const explicit = send(createBilling(), sol, { blocks, markers: all, mode: "explicit" });
    expect(outcomes(explicit)).toEqual([over, over, "written", "written", "written", "written"]);
    expect(paid(explicit)).toEqual({ read: 0, "30m": 6600, uncached: 100 });
  });

  test("a stretch is paid for the longest lifetime that needs it, whatever the order", () => {
    const markers = { 0: "30m", 1: "12h", 2: "30m" } as const;
    const bill = send(createBilling(), sol, { blocks: texts(3, 2000), markers, mode: "explicit" });
    expect(paid(bill)).toEqual({ read: 0, "12h": 4000, "30m": 2000, uncached: 0 });
  });

  test.each([
    [21, 1100],
    [22, 0],
  ])(
    "with %d messages the first one is read for %d tokens: twenty earlier ones are looked up",
    (count, read) => {
      const messages = Array.from({ length: count }, (_, index) =>
        user(`${index}`, index === 0 ? 1100 : 10),
      );
      const billing = createBilling();
      send(billing, sol, { blocks: messages.slice(0, 1) });
      expect(send(billing, sol, { blocks: messages }).readTokens).toBe(read);
    },
  );

  test.each([
    [52, 1300],
    [53, 0],
  ])(
    "of %d markers the third reads %d tokens: the first 2 and the latest 50 are looked up",
    (count, read) => {
      const blocks = [text("long", 1100), ...texts(60, 100)];
      const markers = Object.fromEntries(
        Array.from({ length: count }, (_, index) => [index, "30m"] as const),
      );
      const billing = createBilling();
      send(billing, sol, { blocks, markers: { 2: "30m" }, mode: "explicit" });
      expect(send(billing, sol, { blocks, markers, mode: "explicit" }).readTokens).toBe(read);
    },
  );
});

describe("steps of older OpenAI models", () => {
  test.each([
    ["gpt-4o", 1500, 1408],
    ["gpt-4o", 1024, 1024],
    ["gpt-4o", 1023, 0],
    ["gpt-5.5", 5000, 4096],
    ["gpt-5.5", 2047, 0],
  ] as const)("%s reads of %d shared tokens the whole steps: %d", (id, shared, read) => {
    const model = modelOf(id);
    const billing = createBilling();
    send(billing, model, { blocks: [text("shared", shared), text("one", 700)] });
    const bill = send(billing, model, { blocks: [text("shared", shared), text("two", 900)] });
    expect(paid(bill)).toEqual({ read, uncached: shared + 900 - read });
  });

  test.each([
    ["gpt-4o", 300],
    ["gpt-5.5", 1800],
  ] as const)("%s keeps a prefix %d seconds after it was last sent", (id, seconds) => {
    const model = modelOf(id);
    const blocks = [text("prompt", 2048)];
    const billing = createBilling();
    send(billing, model, { blocks });
    for (const [atMs, read] of [
      [seconds * 1000, 2048],
      [seconds * 2000, 2048],
      [seconds * 3000 + 1, 0],
    ] as const) {
      expect(send(billing, model, { blocks, atMs }).readTokens).toBe(read);
    }
  });
});

function user(name: string, tokens: number): BillableBlock {
  return text(name, tokens, { boundary: "eligible message" });
}
