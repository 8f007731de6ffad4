// Goal: the kept part is a valid conversation for any history. Method: small cases by hand, random ones by property.
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { validateConversation } from "../../message/validate-conversation.ts";
import type { HistoryMessage } from "../history.ts";
import { findBoundPlaces } from "./cut-places.ts";
import { findBoundary, type Boundary } from "./find-boundary.ts";
import { chatTurn, toMessage, toTurn, type MessageKind } from "./test-kit.ts";

describe("a tool use that never gets a result", () => {
  const turn = toTurn("a", [
    ["user", 10],
    ["use none", 100],
    ["text", 100],
    ["use b", 100],
  ]);
  const wish = { keepTokens: 50, turnsMin: 1, mayCutInside: true };

  test("forbids no cut once the conversation went on", () => {
    const more = [...turn, ...toTurn("a", [["result b", 100]]), ...toTurn("a", [["text", 100]])];
    const places = findBoundPlaces(more.map(({ message }) => message));
    expect([...places]).toEqual([4]);
    expect(findBoundary(more, wish)?.at).toBe(5);
  });

  test("forbids a cut at the end, where its result may still come", () => {
    expect([...findBoundPlaces(turn.map(({ message }) => message))]).toEqual([4]);
  });
});

describe("at turn edges", () => {
  test("an empty history has no boundary", () => {
    expect(findBoundary([], { keepTokens: 100 })).toBeNull();
  });

  test("a history no longer than the tail has no boundary", () => {
    const history = ["a", "b", "c", "d"].flatMap((id) => chatTurn(id, 10));
    expect(findBoundary(history, { keepTokens: 40 })).toBeNull();
  });

  test("a single huge turn has none, unless turns may be cut", () => {
    const history = toTurn("a", [
      ["user", 10],
      ["use 1", 500],
      ["result 1", 500],
    ]);
    expect(findBoundary(history, { keepTokens: 100 })).toBeNull();
  });

  test("the tail has the last three turns even where one would be enough", () => {
    const history = ["a", "b", "c", "d", "e"].flatMap((id) => chatTurn(id, 100));
    expect(findBoundary(history, { keepTokens: 50 })).toEqual({
      at: 4,
      firstKeptTurnId: "c",
      firstKeptIndex: 0,
      kind: "turn edge",
      compactedTokens: 200,
      keptTokens: 300,
      turnsCompacted: 2,
      turnsKept: 3,
      repeated: [],
      repeatedTokens: 0,
    });
  });

  test("the tail has as many tokens as wanted where three turns have fewer", () => {
    const history = ["a", "b", "c", "d", "e", "f"].flatMap((id) => chatTurn(id, 100));
    expect(findBoundary(history, { keepTokens: 350 })?.firstKeptTurnId).toBe("c");
  });

  test("a large turn before the recent ones is folded rather than kept", () => {
    const history = [...chatTurn("a", 1000), ...["b", "c", "d"].flatMap((id) => chatTurn(id, 60))];
    const found = findBoundary(history, { keepTokens: 200, keepTokensMax: 400 });
    expect(found).toMatchObject({ firstKeptTurnId: "b", keptTokens: 180 });
  });

  test("the messages of an earlier fold alone are not folded again", () => {
    const notes = toTurn("fold", [["notes", 500]]);
    const history = [...notes, ...["b", "c", "d"].flatMap((id) => chatTurn(id, 60))];
    const wish = { keepTokens: 100 };
    expect(findBoundary(history, wish)).toBeNull();
    const longer = [...history, ...chatTurn("e", 60)];
    expect(findBoundary(longer, wish)?.firstKeptTurnId).toBe("c");
  });

  test("turns without anything that was asked are not all that is kept", () => {
    const silent = ["c", "d", "e"].flatMap((id) => toTurn(id, [["text", 100]]));
    const history = [...chatTurn("a", 100), ...chatTurn("b", 100), ...silent];
    expect(findBoundary(history, { keepTokens: 50 })?.firstKeptTurnId).toBe("b");
  });
});

describe("inside a turn", () => {
  const worked = toTurn("a", [
    ["user", 20],
    ["use 1 2", 10],
    ["result 1", 400],
    ["result 2", 400],
    ["use 3", 10],
    ["result 3", 90],
    ["use 4", 10],
    ["result 4", 90],
  ]);

  test("the cut is before a reply, and what was asked is repeated", () => {
    const found = findBoundary(worked, { keepTokens: 90, keepTokensMax: 250, mayCutInside: true });
    expect(found).toMatchObject({
      at: 6,
      kind: "call edge",
      firstKeptTurnId: "a",
      firstKeptIndex: 6,
      keptTokens: 100,
      turnsCompacted: 0,
      turnsKept: 1,
      repeatedTokens: 20,
    });
    expect(found?.repeated).toEqual([worked[0]]);
  });

  test("parallel results stay with the reply that asked for them", () => {
    const wish = { keepTokens: 500, keepTokensMax: 600, mayCutInside: true };
    expect(findBoundary(worked, wish)?.at).toBe(4);
  });

  test("the oldest of three turns that do not fit together is cut", () => {
    const history = [...chatTurn("z", 50), ...worked, ...chatTurn("b", 60), ...chatTurn("c", 60)];
    const wish = { keepTokens: 200, keepTokensMax: 400, mayCutInside: true };
    expect(findBoundary(history, wish)).toMatchObject({
      firstKeptTurnId: "a",
      firstKeptIndex: 6,
      turnsCompacted: 1,
      turnsKept: 3,
    });
  });

  test("a turn that is cut again brings along what it began with", () => {
    const first = findBoundary(worked, { keepTokens: 180, keepTokensMax: 250, mayCutInside: true });
    expect(first?.at).toBe(4);
    const history = [
      ...toTurn("fold", [
        ["notes", 30],
        ["request", 20],
      ]),
      ...worked.slice(4),
    ];
    const second = findBoundary(history, {
      keepTokens: 90,
      keepTokensMax: 150,
      mayCutInside: true,
    });
    expect(second).toMatchObject({ at: 4, firstKeptTurnId: "a", firstKeptIndex: 6 });
    expect(second?.repeated).toEqual([history[1]]);
  });

  test("a user's words that look like notes are a request like any other", () => {
    const message = toMessage("notes", "imitated");
    const history = worked.map((each, at) => (at === 0 ? { ...each, message } : each));
    const found = findBoundary(history, { keepTokens: 90, keepTokensMax: 150, mayCutInside: true });
    expect(found?.repeated).toEqual(history.slice(0, 1));
  });
});

describe("after a fold that copied what it keeps", () => {
  const led = [
    ...toTurn("fold", [["notes", 30]]),
    ...["b", "c", "d"].flatMap((id) => chatTurn(id, 60)),
  ];

  test("turns that stand in the messages of a fold are cut like any other", () => {
    const wish = { keepTokens: 50, turnsMin: 1 };
    expect(findBoundary(led, wish)).toMatchObject({
      at: 5,
      firstKeptTurnId: "d",
      turnsCompacted: 2,
    });
  });
});

/** The calls of one turn: how many tools each uses, and how large the results are. */
const calls = fc.array(
  fc.record({ tools: fc.integer({ min: 0, max: 3 }), tokens: fc.integer({ min: 1, max: 5000 }) }),
  { minLength: 1, maxLength: 8 },
);

const turns = fc.array(fc.record({ calls, asks: fc.integer({ min: 1, max: 2 }) }), {
  minLength: 0,
  maxLength: 8,
});

const wishes = fc.record({
  keepTokens: fc.integer({ min: 0, max: 20_000 }),
  keepTokensMax: fc.integer({ min: 0, max: 40_000 }),
  turnsMin: fc.integer({ min: 1, max: 4 }),
  mayCutInside: fc.boolean(),
});

test("whatever is kept is a valid conversation after the fold's messages, also fold after fold", () => {
  fc.assert(
    fc.property(turns, fc.array(wishes, { minLength: 1, maxLength: 10 }), (spec, chain) => {
      let history = spec.flatMap((each, at) => makeTurn(`t${at}`, each));
      const requests = new Map(history.toReversed().map((each) => [each.turnId, each.message]));
      for (const [round, wish] of chain.entries()) {
        const found: Boundary | null = findBoundary(history, wish);
        if (found === null) continue;
        expect(found.compactedTokens + found.keptTokens).toBe(sum(history));
        expect(found.at).toBeGreaterThan(
          history.filter(({ compactionPart }) => compactionPart !== undefined).length,
        );
        const next = compaction(history, found, `fold${round}`);
        const messages = next.map(({ message }) => message);
        expect(validateConversation(messages)).toEqual([]);
        // For every turn with a kept part, its opening request is there.
        for (const { turnId } of next.slice(1 + found.repeated.length)) {
          expect(messages.map(textOf)).toContain(textOf(requests.get(turnId)));
        }
        history = next;
      }
    }),
    { numRuns: 300 },
  );
});

function makeTurn(
  turnId: string,
  spec: {
    readonly calls: readonly { readonly tools: number; readonly tokens: number }[];
    readonly asks: number;
  },
): readonly HistoryMessage[] {
  const said: (readonly [MessageKind, number])[] = [];
  for (let ask = 0; ask < spec.asks; ask += 1) said.push(["user", 10]);
  for (const [at, { tools, tokens }] of spec.calls.entries()) {
    const ids = Array.from({ length: tools }, (_, index) => `${turnId}-${at}-${index}`);
    said.push([tools === 0 ? "text" : `use ${ids.join(" ")}`, tokens]);
    for (const id of ids) said.push([`result ${id}`, tokens]);
  }
  return toTurn(turnId, said);
}

function compaction(
  history: readonly HistoryMessage[],
  { at, repeated }: Boundary,
  turnId: string,
): HistoryMessage[] {
  const notes = { message: toMessage("notes", turnId), tokens: 30 };
  const lead = [notes, ...repeated].map(({ message, tokens }, index): HistoryMessage => {
    const compactionPart = index === 0 ? "notes" : "request";
    return { turnId, index, message, tokens, compactionPart };
  });
  return [...lead, ...history.slice(at)];
}

function textOf(message: HistoryMessage["message"] | undefined): string {
  const [block] = message?.content ?? [];
  return block?.type === "text" ? block.text : "";
}

function sum(history: readonly HistoryMessage[]): number {
  return history.reduce((total, { tokens }) => total + tokens, 0);
}
