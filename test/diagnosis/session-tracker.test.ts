import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { entriesByBlock, expectBill } from "../../src/core/cache/expect-bill.ts";
import type { KnownEntry } from "../../src/core/cache/cache-state.ts";
import type { Usage } from "../../src/core/message/usage.ts";
import type { ForeignRequest } from "../../src/core/wire/foreign/foreign-request.ts";
import { readRequest } from "../../src/core/wire/foreign/read-request.ts";
import {
  goOn,
  marker,
  messagesBody,
  sonnet,
  startMs,
  textOf,
  tool,
  usageOf,
  type MessagesBody,
} from "../../src/core/diagnosis/test-kit.ts";
import { createTracker, type Tracker } from "../../harness/planted/session-tracker.ts";

const tail = 3568;

describe("a tracked session", () => {
  test("reports nothing for its first call, nor for one that reads what was written", () => {
    const tracker = createTracker();
    expect(observe(tracker, messagesBody(), usageOf(0, tail, 0))).toBeNull();
    expect(observe(tracker, messagesBody(goOn), usageOf(tail, 1000, 0), 30_000)).toBeNull();
  });

  test("shows what changed, also where only hashes of the call before are kept", () => {
    const changed = messagesBody((body) => {
      goOn(body);
      body.system = [{ type: "text", text: `${textOf(2000, "rule")}!`, ...marker }];
    });
    const [withText, withHashes] = [4_000_000, 0].map((textCharactersMax) => {
      const tracker = createTracker({ textCharactersMax });
      observe(tracker, messagesBody(), usageOf(0, tail, 0));
      return observe(tracker, changed, usageOf(0, 4568, 0), 30_000);
    });
    const common = { cause: "system changed", reportedReadTokens: 0 };
    const place = { index: 2, path: "system.0", section: "system block 0" };
    expect(withText).toMatchObject({
      ...common,
      block: { ...place, byteOffset: 7200, before: "…ule rule rule rule rule " },
    });
    expect(withHashes).toMatchObject({
      ...common,
      block: { ...place, byteOffset: null, before: null },
    });
  });

  test("knows what was written two calls ago", () => {
    const tracker = createTracker();
    const next = messagesBody((body) => {
      hour(body);
      goOn(body);
    });
    observe(tracker, messagesBody(hour), usageOf(0, tail, 0));
    observe(tracker, next, usageOf(tail, 1000, 0), 30_000);
    // Ten minutes later the system is still there; the provider says that it read nothing of it.
    expect(observe(tracker, next, usageOf(2068, 2500, 0), 630_000)?.cause).toBe("lifetime expired");
    expect(observe(tracker, next, usageOf(0, 4568, 0), 660_000)?.cause).toBe("provider lost it");
  });

  test("takes a sub-agent and a title for conversations of their own", () => {
    const tracker = createTracker();
    const worker = messagesBody((body) => {
      body.tools = [tool("Bash")];
      body.system = [{ type: "text", text: textOf(1500, "work"), ...marker }];
      body.messages = [{ role: "user", content: [{ type: "text", text: "Find it", ...marker }] }];
    });
    observe(tracker, messagesBody(), usageOf(0, tail, 0));
    expect(observe(tracker, worker, usageOf(0, 1540, 0), 1000)).toBeNull();
    expect(observe(tracker, messagesBody(goOn), usageOf(tail, 1000, 0), 30_000)).toBeNull();
    expect(observe(tracker, worker, usageOf(0, 1540, 0), 31_000)?.cause).toBe("provider lost it");
  });

  test("reports calls that were sent side by side", () => {
    const tracker = createTracker();
    observe(tracker, messagesBody(), usageOf(0, tail, 0));
    expect(observe(tracker, messagesBody(), usageOf(0, tail, 0), 100)?.cause).toBe(
      "written concurrently",
    );
  });

  test("is silent where only the ending is another one, as when several are tried", () => {
    const tracker = createTracker();
    observe(tracker, messagesBody(), usageOf(0, tail, 0));
    observe(tracker, messagesBody(goOn), usageOf(tail, 1000, 0), 30_000);
    // The reply before it is shared and could not be read: not every place is marked.
    const other = messagesBody((body) => goOn(body, textOf(300, "else")));
    expect(observe(tracker, other, usageOf(tail, 800, 0), 60_000)).toBeNull();
  });

  test("does not blame the model for a few tokens that are missing from a reply's count", () => {
    const tracker = createTracker();
    observe(tracker, messagesBody(), usageOf(0, tail, 0));
    const next = observe(tracker, messagesBody(goOn), usageOf(tail - 100, 1100, 0), 30_000);
    expect(next).toMatchObject({ cause: "provider lost it", lostTokens: 100 });
  });

  test("believes what a reply says was written, whatever was counted", () => {
    const tracker = createTracker();
    // Counted at 370 tokens; the provider's own count is above its minimum.
    observe(tracker, messagesBody(dense), usageOf(0, 1100, 3));
    expect(observe(tracker, messagesBody(dense), usageOf(1100, 0, 3), 30_000)).toBeNull();
    expect(observe(tracker, messagesBody(dense), usageOf(0, 1100, 3), 60_000)).toMatchObject({
      cause: "provider lost it",
      lostTokens: 1100,
    });
  });
});

test("a call that continues what the provider keeps is counted, and forgets nothing", () => {
  const tracker = createTracker();
  const continued = messagesBody((body) => {
    body["thread"] = { type: "continue", previous_message_id: "msg_1" };
    body.tools = [];
    body.system = [];
    body.messages = body.messages.slice(-1);
  });
  observe(tracker, messagesBody(), usageOf(0, tail, 0));
  expect(observe(tracker, continued, usageOf(0, 4000, 0), 10_000)).toBeNull();
  expect(tracker.uncompared).toBe(1);
  expect(observe(tracker, messagesBody(goOn), usageOf(0, 4568, 0), 30_000)?.cause).toBe(
    "provider lost it",
  );
});

describe("memory", () => {
  test("holds a bounded number of sessions, the latest ones", () => {
    const tracker = createTracker({ sessionsMax: 3 });
    const keys = ["a", "b", "c", "d", "a"];
    for (const key of keys) observe(tracker, messagesBody(), usageOf(0, tail, 0), 0, key);
    expect(tracker.sessions).toBe(3);
    expect(observe(tracker, messagesBody(), usageOf(0, tail, 0), 30_000, "b")).toBeNull();
    expect(observe(tracker, messagesBody(), usageOf(0, tail, 0), 30_000, "a")?.cause).toBe(
      "provider lost it",
    );
  });

  test("holds a bounded number of blocks, characters and conversations", () => {
    const tracker = createTracker({ blocksMax: 20, textCharactersMax: 30_000, threadsMax: 2 });
    for (let number = 0; number < 30; number += 1) {
      const request = messagesBody((body) => {
        body.system = [{ type: "text", text: textOf(1500, `rule${number}`), ...marker }];
        body.messages[0]!.content = `question ${number}`;
      });
      observe(tracker, request, usageOf(0, 3000), number * 1000, `session ${number % 7}`);
      expect(tracker.blocks).toBeLessThanOrEqual(20);
      expect(tracker.textCharacters).toBeLessThanOrEqual(30_000);
    }
    expect(tracker.sessions).toBeGreaterThan(0);
  });
});

// Goal: no false alarm. Method: random append-only conversations, billed by the published rules.
test("200 append-only conversations without a break give no miss", () => {
  const turn = fc.record({
    tokens: fc.integer({ min: 1, max: 3000 }),
    blocks: fc.integer({ min: 1, max: 12 }),
    isTool: fc.boolean(),
    gapMs: fc.integer({ min: 5000, max: 300_000 }),
  });
  const conversation = fc.record({
    tools: fc.integer({ min: 0, max: 6 }),
    systemTokens: fc.integer({ min: 1100, max: 9000 }),
    isSystemMarked: fc.boolean(),
    turns: fc.array(turn, { minLength: 1, maxLength: 8 }),
  });
  fc.assert(
    fc.property(conversation, ({ tools, systemTokens, isSystemMarked, turns }) => {
      const tracker = createTracker();
      const bill = createBill();
      const history: unknown[] = [];
      let nowMs = 0;
      for (const [number, { tokens, blocks, isTool, gapMs }] of turns.entries()) {
        nowMs += gapMs;
        const texts = Array.from({ length: blocks }, (_, part) => ({
          type: "text",
          text: textOf(Math.ceil(tokens / blocks), `t${number}p${part}`),
        }));
        const id = `toolu_${number}`;
        const asked = isTool && number > 0;
        const content = asked ? [{ type: "tool_result", tool_use_id: id, content: texts }] : texts;
        if (number > 0) {
          const use = asked ? [{ type: "tool_use", id, name: "Bash", input: {} }] : [];
          history.push({ role: "assistant", content: [{ type: "text", text: "Yes." }, ...use] });
        }
        const marked = content.map((block, place) =>
          place === content.length - 1 ? { ...block, ...marker } : block,
        );
        const system = { type: "text", text: textOf(systemTokens, "rule") };
        const request = readRequest(
          JSON.stringify({
            model: "claude-sonnet-4-6",
            max_tokens: 1,
            tools: Array.from({ length: tools }, (_, place) => tool(`tool${place}`)),
            system: [isSystemMarked ? { ...system, ...marker } : system],
            messages: [...history, { role: "user", content: marked }],
          }),
        );
        history.push({ role: "user", content });
        expect(observe(tracker, request, bill(request, nowMs), nowMs)).toBeNull();
      }
    }),
    { numRuns: 200 },
  );
});

function hour(body: MessagesBody): void {
  const [system] = body.system;
  if (system !== undefined) system["cache_control"] = { type: "ephemeral", ttl: "1h" };
}

function dense(body: MessagesBody): void {
  body.system = [{ type: "text", text: textOf(300) }];
  body.messages = [{ role: "user", content: [{ type: "text", text: "Hello", ...marker }] }];
}

/** A provider that does what its rules say. */
function createBill(): (request: ForeignRequest, nowMs: number) => Usage {
  let known: readonly KnownEntry[] = [];
  return ({ blocks, markers }, nowMs) => {
    const bill = expectBill({
      blocks,
      markers,
      requestMarker: null,
      mode: "explicit",
      rules: sonnet.cache,
      entries: entriesByBlock(known),
      ruler: (block) => blocks[block]?.endTokens ?? 0,
      nowMs: startMs + nowMs,
    });
    const refreshed = new Set(bill.refreshed);
    known = [
      ...known.map((entry) =>
        refreshed.has(entry) ? { ...entry, touchedMs: startMs + nowMs } : entry,
      ),
      ...bill.written,
    ];
    return usageOf(bill.readTokens, bill.writeTokens["5m"] ?? 0, bill.uncachedTokens);
  };
}

/** A call that takes two seconds. */
function observe(
  tracker: Tracker,
  request: ForeignRequest,
  usage: Usage,
  afterMs = 0,
  session = "session",
): ReturnType<Tracker["observe"]> {
  const start = startMs + afterMs;
  const call = { usage, rules: sonnet, startMs: start, endMs: start + 2000 };
  return tracker.observe(session, request, call);
}
