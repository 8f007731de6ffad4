// The examples in the provider's documents for Claude, and one for each option.
import { describe, expect, test } from "vitest";
import {
  modelOf,
  outcomes,
  paid,
  send,
  text,
  texts,
  toRequest,
} from "../../../harness/bill-example.ts";
import type { RequestChange } from "../../core/models/invalidation.ts";
import { createBilling } from "./billing.ts";
import type { BillingOptions } from "./options.ts";

const sonnet = modelOf("claude-sonnet-5-5");
const haiku = modelOf("claude-haiku-4-5");
const bedrockOpus = modelOf("anthropic.claude-opus-4-7-v1:0");
const sol = modelOf("gpt-6.1-sol");

describe("lookback of Claude", () => {
  test("an entry at block 15 is one position too far for a marker at block 35", () => {
    const billing = createBilling();
    send(billing, sonnet, { blocks: texts(15, 100), markers: { 14: "5m" } });
    const bill = send(billing, sonnet, { blocks: texts(35, 100), markers: { 34: "5m" } });
    expect(paid(bill)).toEqual({ read: 0, "5m": 3500, uncached: 0 });
    expect(bill.reason).toEqual({ kind: "beyond lookback", block: 14 });
  });

  test("a marker at block 34 reaches it", () => {
    const billing = createBilling();
    send(billing, sonnet, { blocks: texts(15, 100), markers: { 14: "5m" } });
    const bill = send(billing, sonnet, { blocks: texts(34, 100), markers: { 33: "5m" } });
    expect(paid(bill)).toEqual({ read: 1500, "5m": 1900, uncached: 0 });
  });

  test("a second marker at block 15 hits what the one at 35 misses", () => {
    const billing = createBilling();
    send(billing, sonnet, { blocks: texts(15, 100), markers: { 14: "5m" } });
    const markers = { 14: "5m", 34: "5m" } as const;
    const bill = send(billing, sonnet, { blocks: texts(35, 100), markers });
    expect(paid(bill)).toEqual({ read: 1500, "5m": 2000, uncached: 0 });
    expect(bill.hitBlock).toBe(14);
    expect(outcomes(bill)).toEqual(["hit", "written"]);
  });

  const calls = [
    ...texts(5, 1000),
    ...texts(10, 1000, { run: "tool_use" }, "use"),
    ...texts(10, 1000, { run: "tool_result" }, "result"),
  ];

  test("ten tool uses and ten results are two positions on the Claude API", () => {
    const billing = createBilling();
    send(billing, haiku, { blocks: texts(5, 1000), markers: { 4: "5m" } });
    const bill = send(billing, haiku, { blocks: calls, markers: { 24: "5m" } });
    expect(paid(bill)).toEqual({ read: 5000, "5m": 20_000, uncached: 0 });
  });

  test("they are twenty on Bedrock", () => {
    const billing = createBilling();
    send(billing, bedrockOpus, { blocks: texts(5, 1000), markers: { 4: "5m" } });
    const bill = send(billing, bedrockOpus, { blocks: calls, markers: { 24: "5m" } });
    expect(paid(bill)).toEqual({ read: 0, "5m": 25_000, uncached: 0 });
  });

  test("any model counts every block where one asks for it", () => {
    const sent = { blocks: texts(5, 1000), markers: { 4: "5m" } } as const;
    for (const [toolRuns, read] of [
      ["by route", 5000],
      ["every block", 0],
    ] as const) {
      const billing = createBilling({ toolRuns });
      send(billing, haiku, sent);
      expect(send(billing, haiku, { blocks: calls, markers: { 24: "5m" } }).readTokens).toBe(read);
    }
  });

  test("an entry inside a run is found at the run's position, or only at its end", () => {
    const first = { blocks: calls.slice(0, 10), markers: { 9: "5m" } } as const;
    const second = { blocks: calls, markers: { 24: "5m" } } as const;
    const generous = createBilling();
    send(generous, haiku, first);
    expect(send(generous, haiku, second).readTokens).toBe(10_000);
    const strict = createBilling({ entryInsideRun: "only at the run's end" });
    send(strict, haiku, first);
    expect(send(strict, haiku, second).readTokens).toBe(0);
  });

  test("each tool definition is a position unless they are counted as one", () => {
    const tools = texts(25, 100, { tier: "tools" });
    for (const [toolDefinitions, read] of [
      ["positions", 0],
      ["one position", 600],
    ] as const) {
      const billing = createBilling({ toolDefinitions });
      send(billing, sonnet, { blocks: tools, markers: { 5: "5m" } });
      const bill = send(billing, sonnet, {
        blocks: [...tools, ...texts(1, 100)],
        markers: { 25: "5m" },
      });
      expect(bill.readTokens).toBe(read);
    }
  });
});

describe("what a marker writes", () => {
  const mixed = [1000, 2000, 3000, 400].map((tokens, index) => text(`part ${index}`, tokens));

  test("mixed lifetimes pay A, B and C, and what follows the last marker is plain input", () => {
    const billing = createBilling();
    send(billing, sonnet, { blocks: mixed.slice(0, 1), markers: { 0: "1h" } });
    const markers = { 1: "1h", 2: "5m" } as const;
    const bill = send(billing, sonnet, { blocks: mixed, markers });
    expect(paid(bill)).toEqual({ read: 1000, "1h": 2000, "5m": 3000, uncached: 400 });
  });

  test("without a hit A is zero", () => {
    const markers = { 0: "1h", 1: "1h", 2: "5m" } as const;
    const bill = send(createBilling(), sonnet, { blocks: mixed, markers });
    expect(paid(bill)).toEqual({ read: 0, "1h": 3000, "5m": 3000, uncached: 400 });
    expect(bill.reason.kind).toBe("never written");
  });

  test("a prefix below the floor is silently not kept", () => {
    const billing = createBilling();
    const low = { blocks: [text("short", 511)], markers: { 0: "5m" } } as const;
    for (const bill of [send(billing, sonnet, low), send(billing, sonnet, low)]) {
      expect(paid(bill)).toEqual({ read: 0, uncached: 511 });
      expect(outcomes(bill)).toEqual(["below the minimum"]);
      expect(bill.reason).toEqual({ kind: "below the minimum", minimumTokens: 512 });
    }
    const enough = { blocks: [text("enough", 512)], markers: { 0: "5m" } } as const;
    expect(paid(send(billing, sonnet, enough))).toEqual({ read: 0, "5m": 512, uncached: 0 });
    expect(paid(send(billing, sonnet, enough))).toEqual({ read: 512, uncached: 0 });
  });

  test("no marker means no caching", () => {
    const bill = send(createBilling(), sonnet, { blocks: mixed });
    expect(paid(bill)).toEqual({ read: 0, uncached: 6400 });
    expect(bill.reason).toEqual({ kind: "no marker" });
  });
});

describe("when an entry can be read", () => {
  const cold = { blocks: texts(3, 1000), markers: { 2: "5m" } } as const;

  test("three parallel cold requests write three times, the fourth reads", () => {
    const billing = createBilling();
    const open = [0, 1, 2].map(() => billing.open(toRequest(sonnet, cold)));
    for (const { bill } of open) {
      expect(paid(bill)).toEqual({ read: 0, "5m": 3000, uncached: 0 });
    }
    expect(open[2]?.bill.reason.kind).toBe("not readable yet");
    open[1]?.begin();
    expect(paid(send(billing, sonnet, cold))).toEqual({ read: 3000, uncached: 0 });
  });

  test("an abandoned request keeps nothing alive, not even when others were abandoned with it", () => {
    const billing = createBilling();
    send(billing, sonnet, cold);
    const first = billing.open(toRequest(sonnet, { ...cold, atMs: 100_000 }));
    const second = billing.open(toRequest(sonnet, { ...cold, atMs: 200_000 }));
    expect([first.bill.readTokens, second.bill.readTokens]).toEqual([3000, 3000]);
    first.abandon();
    second.abandon();
    expect(billing.entries(0).map(({ expiresMs }) => expiresMs)).toEqual([300_000]);
  });

  test("when memory is short, read entries stay and unused ones go", () => {
    const billing = createBilling({ entriesMax: 2 });
    for (const workspace of ["hot", "cold", "hot", "new"]) {
      send(billing, sonnet, { ...cold, workspace });
    }
    expect(send(billing, sonnet, { ...cold, workspace: "hot" }).readTokens).toBe(3000);
    expect(send(billing, sonnet, { ...cold, workspace: "cold" }).readTokens).toBe(0);
  });

  test("what expired is forgotten after a day", () => {
    const billing = createBilling();
    send(billing, sonnet, cold);
    const day = 24 * 3600_000;
    send(billing, sonnet, { ...cold, workspace: "other", atMs: 300_000 + day });
    expect(billing.entries(0)).toHaveLength(2);
    send(billing, sonnet, { ...cold, workspace: "third", atMs: 300_001 + day });
    expect(billing.entries(0)).toHaveLength(2);
  });

  test("an abandoned request wrote nothing", () => {
    const billing = createBilling();
    billing.open(toRequest(sonnet, cold)).abandon();
    expect(paid(send(billing, sonnet, cold))).toEqual({ read: 0, "5m": 3000, uncached: 0 });
  });

  test.each([
    ["5m", 300],
    ["1h", 3600],
  ] as const)(
    "a %s entry is found after exactly %d seconds and not a millisecond later",
    (lifetime, seconds) => {
      const request = { ...cold, markers: { 2: lifetime } };
      for (const [atMs, read] of [
        [seconds * 1000, 3000],
        [seconds * 1000 + 1, 0],
      ] as const) {
        const billing = createBilling();
        send(billing, sonnet, request);
        expect(send(billing, sonnet, { ...request, atMs }).readTokens).toBe(read);
      }
    },
  );

  test("a read starts the lifetime anew, free of charge", () => {
    const billing = createBilling();
    send(billing, sonnet, cold);
    for (const atMs of [200_000, 480_000, 780_000]) {
      expect(paid(send(billing, sonnet, { ...cold, atMs }))).toEqual({ read: 3000, uncached: 0 });
    }
    const late = send(billing, sonnet, { ...cold, atMs: 1_080_001 });
    expect(late.reason).toEqual({ kind: "expired", block: 2, agoMs: 1 });
  });

  test("lifetimes count from the start of a request, or from the end of its response", () => {
    for (const [clock, read] of [
      ["request start", 0],
      ["response end", 3000],
    ] as const) {
      const billing = createBilling({ clock });
      const open = billing.open(toRequest(sonnet, cold));
      open.begin();
      open.end(240_000);
      expect(send(billing, sonnet, { ...cold, atMs: 540_000 }).readTokens).toBe(read);
    }
  });

  test("grace lets an entry be found a little longer", () => {
    const billing = createBilling({ graceMs: 10_000 });
    send(billing, sonnet, cold);
    expect(send(billing, sonnet, { ...cold, atMs: 310_000 }).readTokens).toBe(3000);
    expect(send(billing, sonnet, { ...cold, atMs: 620_001 }).readTokens).toBe(0);
  });

  test("a late answer to an older request does not shorten what a newer one wrote", () => {
    const billing = createBilling();
    const older = billing.open(toRequest(sonnet, cold));
    const newer = billing.open(toRequest(sonnet, { ...cold, atMs: 200_000 }));
    newer.begin();
    older.begin();
    expect(send(billing, sonnet, { ...cold, atMs: 500_000 }).readTokens).toBe(3000);
  });

  test("a prefix of a response that runs for days is there when it ends", () => {
    const billing = createBilling({ clock: "response end" });
    const long = billing.open(toRequest(sonnet, cold));
    long.begin();
    const twoDaysMs = 48 * 3_600_000;
    send(billing, sonnet, { blocks: texts(30, 50), markers: { 29: "5m" }, atMs: twoDaysMs });
    long.end(twoDaysMs);
    expect(send(billing, sonnet, { ...cold, atMs: twoDaysMs + 1 }).readTokens).toBe(3000);
  });

  test("nor does a rewrite take it from the end of a response that still uses it", () => {
    const billing = createBilling({ clock: "response end" });
    const long = billing.open(toRequest(sonnet, cold));
    long.begin();
    send(billing, sonnet, { ...cold, atMs: 400_000 });
    long.end(600_000);
    expect(send(billing, sonnet, { ...cold, atMs: 900_000 }).readTokens).toBe(3000);
  });
});

describe("a marker at or before the hit", () => {
  const system = text("system", 1000, { tier: "system" });
  const chat = [system, text("question", 2000)];
  const other = { blocks: [system, text("another question", 500)], markers: { 0: "5m" } } as const;

  test("does not bring back its own expired entry, unless the option says that it writes", () => {
    for (const [markerBeforeHit, outcome, read] of [
      ["refreshes only", "nothing there to refresh", 0],
      ["writes", "written", 1000],
    ] as const) {
      const billing = createBilling({ markerBeforeHit });
      send(billing, sonnet, { blocks: chat, markers: { 0: "5m", 1: "5m" } });
      send(billing, sonnet, { blocks: chat, markers: { 1: "5m" }, atMs: 200_000 });
      const both = { blocks: chat, markers: { 0: "5m", 1: "5m" }, atMs: 400_000 } as const;
      const open = billing.open(toRequest(sonnet, both));
      expect(paid(open.bill)).toEqual({ read: 3000, uncached: 0 });
      expect(outcomes(open.bill)).toEqual([outcome, "hit"]);
      const early = billing.open(toRequest(sonnet, { ...other, atMs: 400_000 }));
      expect(early.bill.readTokens).toBe(0);
      early.abandon();
      open.begin();
      expect(send(billing, sonnet, { ...other, atMs: 700_000 }).readTokens).toBe(read);
    }
  });

  test("does not make a 1h entry of a 5m one, but refreshes it", () => {
    const billing = createBilling();
    send(billing, sonnet, { blocks: chat, markers: { 0: "5m", 1: "5m" } });
    const long = { blocks: chat, markers: { 0: "1h", 1: "5m" }, atMs: 100_000 } as const;
    expect(outcomes(send(billing, sonnet, long))).toEqual(["refreshed", "hit"]);
    const live = billing.entries(400_000).filter(({ state }) => state === "live");
    expect(live.map(({ lifetime }) => lifetime)).toEqual(["5m", "5m"]);
    const bill = send(billing, sonnet, { ...other, atMs: 400_001 });
    expect(paid(bill)).toEqual({ read: 0, "5m": 1000, uncached: 500 });
  });

  test("creates nothing, unless the option says that it writes", () => {
    for (const [markerBeforeHit, outcome, read] of [
      ["refreshes only", "nothing there to refresh", 0],
      ["writes", "written", 1000],
    ] as const) {
      const billing = createBilling({ markerBeforeHit });
      send(billing, sonnet, { blocks: chat, markers: { 1: "5m" } });
      const bill = send(billing, sonnet, { blocks: chat, markers: { 0: "5m", 1: "5m" } });
      expect(paid(bill)).toEqual({ read: 3000, uncached: 0 });
      expect(outcomes(bill)).toEqual([outcome, "hit"]);
      expect(send(billing, sonnet, other).readTokens).toBe(read);
    }
  });

  test.each([sonnet, sol])(
    "finds entries of another lifetime, unless the option says not: $id",
    (model) => {
      const [short, long] = model.cache.lifetimes.map(({ lifetime }) => lifetime);
      for (const [crossLifetime, read] of [
        ["found", 3000],
        ["not found", 0],
      ] as const) {
        const billing = createBilling({ crossLifetime });
        send(billing, model, { blocks: chat, markers: { 1: long ?? "1h" }, mode: "explicit" });
        const again = { blocks: chat, markers: { 1: short ?? "5m" }, mode: "explicit" } as const;
        expect(send(billing, model, again).readTokens).toBe(read);
      }
    },
  );
});

describe("a marker for 1h after a prefix that was found for 5m", () => {
  const chat = texts(4, 1000);
  const minute = 60_000;
  /** 2,000 tokens for 5m, then a step of 1,000 for 1h, then a look at 3,000 tokens after a pause of seven minutes. */
  const afterPause = (entryLives: BillingOptions["entryLives"]) => {
    const billing = createBilling({ entryLives });
    send(billing, sonnet, { blocks: chat.slice(0, 2), markers: { 1: "5m" } });
    const step = { blocks: chat.slice(0, 3), markers: { 2: "1h" }, atMs: minute } as const;
    const stepBill = send(billing, sonnet, step);
    const look = { blocks: chat, markers: { 3: "5m" }, atMs: 8 * minute } as const;
    return { step: paid(stepBill), look: paid(send(billing, sonnet, look)) };
  };

  test("keeps the whole prefix for an hour", () => {
    expect(afterPause("as its marker says")).toEqual({
      step: { read: 2000, "1h": 1000, uncached: 0 },
      look: { read: 3000, "5m": 1000, uncached: 0 },
    });
  });

  test("costs the same and dies after 5m if an entry lives only as long as its shortest part", () => {
    expect(afterPause("as its shortest part")).toEqual({
      step: { read: 2000, "1h": 1000, uncached: 0 },
      look: { read: 0, "5m": 4000, uncached: 0 },
    });
  });

  test("a prefix that was written for an hour from the start lives for an hour by either reading", () => {
    const billing = createBilling({ entryLives: "as its shortest part" });
    send(billing, sonnet, { blocks: chat.slice(0, 2), markers: { 1: "1h" } });
    send(billing, sonnet, { blocks: chat.slice(0, 3), markers: { 2: "1h" }, atMs: minute });
    const look = { blocks: chat, markers: { 3: "5m" }, atMs: 50 * minute } as const;
    expect(paid(send(billing, sonnet, look))).toEqual({ read: 3000, "5m": 1000, uncached: 0 });
  });

  test("reads keep an entry with a short part alive for 5m at a time", () => {
    const billing = createBilling({ entryLives: "as its shortest part" });
    send(billing, sonnet, { blocks: chat.slice(0, 2), markers: { 1: "5m" } });
    const step = { blocks: chat.slice(0, 3), markers: { 2: "1h" } } as const;
    const reads = [0, 4, 8, 14].map(
      (at) => send(billing, sonnet, { ...step, atMs: at * minute }).readTokens,
    );
    expect(reads).toEqual([2000, 3000, 3000, 0]);
  });
});

describe("what outlives a change", () => {
  const tiers = (["tools", "system", "messages"] as const).map((tier) =>
    text(tier, 1000, { tier }),
  );
  const markers = { 0: "1h", 1: "5m", 2: "5m" } as const;

  test.each<[RequestChange, number]>([
    ["web search or fetch", 1000],
    ["citations", 1000],
    ["speed", 1000],
    ["tool choice", 2000],
    ["parallel tool use", 2000],
    ["images appear or vanish", 2000],
    ["thinking", 0],
    ["effort", 0],
    ["streaming", 3000],
    ["output limit", 3000],
    ["metadata", 3000],
    ["marker moved", 3000],
    ["verbosity", 3000],
  ])("%s: %d tokens are still read", (change, read) => {
    const billing = createBilling();
    send(billing, sonnet, { blocks: tiers, markers });
    const bill = send(billing, sonnet, { blocks: tiers, markers, settings: { [change]: "other" } });
    expect(bill.readTokens).toBe(read);
    expect(send(billing, sonnet, { blocks: tiers, markers }).readTokens).toBe(3000);
  });

  test.each([0, 1, 2])("an edit in tier %d loses it and all after it", (edited) => {
    const billing = createBilling();
    send(billing, sonnet, { blocks: tiers, markers });
    const blocks = tiers.map((block, index) =>
      index === edited ? text("new", 1000, block) : block,
    );
    expect(send(billing, sonnet, { blocks, markers }).readTokens).toBe(edited * 1000);
  });

  test("a prior user turn's thinking counts for Haiku 4.5 and not for Sonnet 5.5", () => {
    for (const [model, read] of [
      [sonnet, 15_000],
      [haiku, 10_000],
    ] as const) {
      const billing = createBilling();
      const blocks = tiers.map((block) => ({ ...block, tokens: 5000 }));
      send(billing, model, { blocks, markers });
      const settings = { "user turn after thinking": "yes" };
      expect(send(billing, model, { blocks, markers, settings }).readTokens).toBe(read);
    }
  });

  test("entries belong to one workspace, one model and one route", () => {
    const billing = createBilling();
    const opus = modelOf("claude-opus-4-7");
    const blocks = tiers.map((block) => ({ ...block, tokens: 5000 }));
    send(billing, opus, { blocks, markers });
    expect(send(billing, opus, { blocks, markers, workspace: "other" }).readTokens).toBe(0);
    expect(send(billing, haiku, { blocks, markers }).readTokens).toBe(0);
    expect(send(billing, bedrockOpus, { blocks, markers }).readTokens).toBe(0);
    expect(send(billing, opus, { blocks, markers }).readTokens).toBe(15_000);
  });
});
