import { describe, expect, test } from "vitest";
import type { RequestChange } from "../../core/models/invalidation.ts";
import { resolveModel } from "../../core/models/resolve-model.ts";
import type { Bill } from "./bill.ts";
import type { BillableBlock, BillableRequest, Lifetime } from "./billable-request.ts";
import { createBilling, type Billing } from "./billing.ts";

const sonnet = modelOf("claude-sonnet-5-5");
const haiku = modelOf("claude-haiku-4-5");
const bedrockOpus = modelOf("anthropic.claude-opus-4-7-v1:0");
const sol = modelOf("gpt-6.1-sol");
const gpt55 = modelOf("gpt-5.5");
const gpt4o = modelOf("gpt-4o");

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

  test("brings back its own expired entry when the response begins, free of charge", () => {
    const billing = createBilling();
    send(billing, sonnet, { blocks: chat, markers: { 0: "5m", 1: "5m" } });
    send(billing, sonnet, { blocks: chat, markers: { 1: "5m" }, atMs: 200_000 });
    const both = { blocks: chat, markers: { 0: "5m", 1: "5m" }, atMs: 400_000 } as const;
    const open = billing.open(toRequest(sonnet, both));
    expect(paid(open.bill)).toEqual({ read: 3000, uncached: 0 });
    expect(outcomes(open.bill)).toEqual(["brought back", "hit"]);
    const early = billing.open(toRequest(sonnet, { ...other, atMs: 400_000 }));
    expect(early.bill.readTokens).toBe(0);
    early.abandon();
    open.begin();
    const bill = send(billing, sonnet, { ...other, atMs: 700_000 });
    expect(paid(bill)).toEqual({ read: 1000, uncached: 500 });
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

  test("creates nothing, unless it is said to write", () => {
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
    "finds entries of another lifetime, unless it is said not to: $id",
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

describe("boundaries of GPT-5.6 and later", () => {
  const user = (name: string, tokens: number): BillableBlock =>
    text(name, tokens, { boundary: "eligible message" });

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
    [gpt4o, 1500, 1408],
    [gpt4o, 1024, 1024],
    [gpt4o, 1023, 0],
    [gpt55, 5000, 4096],
    [gpt55, 2047, 0],
  ])("$id reads whole steps of %d shared tokens: %d", (model, shared, read) => {
    const billing = createBilling();
    send(billing, model, { blocks: [text("shared", shared), text("one", 700)] });
    const bill = send(billing, model, { blocks: [text("shared", shared), text("two", 900)] });
    expect(paid(bill)).toEqual({ read, uncached: shared + 900 - read });
  });

  test.each([
    [gpt4o, 300],
    [gpt55, 1800],
  ])("$id keeps a prefix %d seconds after it was last sent", (model, seconds) => {
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

type Model = BillableRequest["model"];

interface Sent {
  readonly blocks: readonly BillableBlock[];
  readonly markers?: Readonly<Record<number, Lifetime>>;
  readonly mode?: BillableRequest["mode"];
  readonly settings?: BillableRequest["settings"];
  readonly workspace?: string;
  readonly atMs?: number;
}

/** Bills a request whose response begins at once. */
function send(billing: Billing, model: Model, sent: Sent): Bill {
  const open = billing.open(toRequest(model, sent));
  open.begin();
  return open.bill;
}

function toRequest(model: Model, sent: Sent): BillableRequest {
  const { blocks, markers = {}, mode = "implicit", settings = {}, workspace = "ours" } = sent;
  return {
    id: "request",
    workspace,
    model,
    blocks,
    markers: Object.entries(markers).map(([block, lifetime]) => {
      return { block: Number(block), lifetime, origin: "explicit" };
    }),
    mode,
    settings,
    startMs: sent.atMs ?? 0,
  };
}

function text(name: string, tokens: number, more: Partial<BillableBlock> = {}): BillableBlock {
  return { tier: "messages", run: null, boundary: null, ...more, hash: name, tokens };
}

function texts(
  count: number,
  tokens: number,
  more: Partial<BillableBlock> = {},
  name = "block",
): BillableBlock[] {
  return Array.from({ length: count }, (_, index) => text(`${name} ${index}`, tokens, more));
}

function paid({ readTokens, writeTokens, uncachedTokens }: Bill): Record<string, number> {
  const writes = Object.entries(writeTokens).filter(([, tokens]) => tokens > 0);
  return { read: readTokens, ...Object.fromEntries(writes), uncached: uncachedTokens };
}

function outcomes({ markers }: Bill): string[] {
  return markers.map(({ outcome }) => outcome);
}

function modelOf(id: string): Model {
  return resolveModel(id).facts;
}
