import { describe, expect, test } from "vitest";
import type { Usage } from "../message/usage.ts";
import type { ModelFacts } from "../models/model-facts.ts";
import { explainMiss } from "./explain-miss.ts";
import type { Explanation } from "./explanation.ts";
import type { ForeignRequest } from "../wire/foreign/foreign-request.ts";
import { readRequest } from "../wire/foreign/read-request.ts";
import {
  goOn,
  gpt,
  haiku,
  marker,
  messagesBody,
  sonnet,
  startMs,
  textOf,
  tokensAt,
  tool,
  usageOf,
  type MessagesBody,
} from "./test-kit.ts";

interface Case {
  readonly previous?: ForeignRequest | null;
  readonly usage?: Usage | null;
  readonly gapMs?: number;
  readonly previousLatencyMs?: number;
  readonly rules?: ModelFacts;
}

/** Compares with the usual body, 30 s later, when the provider does what its rules say. */
function explain(current: ForeignRequest, given: Case = {}): Explanation {
  const { previous = messagesBody(), usage = null, gapMs = 30_000, rules = sonnet } = given;
  const { previousLatencyMs = 0 } = given;
  const timing = { gapMs, startMs, previousLatencyMs };
  return explainMiss({ previous, current, usage, rules, timing });
}

// Tokens of the usual body up to its two markers.
const systemTokens = tokensAt(messagesBody(), "system.0");
const tailTokens = tokensAt(messagesBody(), "messages.2.content.0");

test("the usual body has 2,000 tokens of system text and 1,500 of messages", () => {
  expect(systemTokens).toBe(2068);
  expect(tailTokens).toBe(3568);
});

describe("causes", () => {
  test("first call: nothing was there to read", () => {
    expect(explain(messagesBody(), { previous: null })).toMatchObject({
      cause: "first call",
      expectedReadTokens: 0,
      lostTokens: 0,
      block: null,
    });
  });

  test("no miss: an append-only continuation reads all that was marked", () => {
    expect(explain(next())).toEqual({
      expectedReadTokens: tailTokens,
      reportedReadTokens: tailTokens,
      cause: "no miss",
      detail: null,
      block: null,
      lostTokens: 0,
      lostPicoUsd: 0n,
      advice: "Nothing to do.",
      detectedBy: [],
    });
  });

  test("model changed", () => {
    const current = next((body) => {
      body.model = "claude-opus-4-8";
    });
    expect(explain(current)).toMatchObject({
      cause: "model changed",
      detail: "model: claude-sonnet-4-6 → claude-opus-4-8",
      block: { index: 0, path: "tools.0" },
      lostTokens: tailTokens,
    });
  });

  test("another spelling of the model is the same model", () => {
    const current = next((body) => {
      body.model = "anthropic/claude-sonnet-4.6";
    });
    expect(explain(current).cause).toBe("no miss");
  });

  test("tools changed, with the first tool that is another one", () => {
    const current = next((body) => {
      body.tools = [tool("Bash"), tool("Glob"), tool("Read")];
    });
    const { cause, block, lostTokens } = explain(current);
    expect(cause).toBe("tools changed");
    expect(block).toEqual({
      index: 1,
      path: "tools.1",
      tier: "T0",
      section: "tool Glob",
      byteOffset: 25,
      before: '…"description":"The tool Read.","input_schema":{"type":"object","properties":{"…',
      after: '…"description":"The tool Glob.","input_schema":{"type":"object","properties":{"…',
    });
    expect(lostTokens).toBe(3568);
  });

  test("tools reordered", () => {
    const current = next((body) => {
      body.tools = body.tools.toReversed();
    });
    expect(explain(current)).toMatchObject({
      cause: "tools reordered",
      block: { index: 0, path: "tools.0", section: "tool Read" },
      advice: "Send tools in a fixed order, for instance sorted by name.",
    });
  });

  test("system changed by one byte, with the byte and what stands around it", () => {
    const current = next((body) => {
      const text = textOf(2000, "rule");
      body.system = [{ type: "text", text: `${text.slice(0, 100)}ü${text.slice(101)}`, ...marker }];
    });
    const { cause, block } = explain(current);
    expect(cause).toBe("system changed");
    expect(block).toMatchObject({ index: 2, path: "system.0", tier: "T1", byteOffset: 100 });
    expect(block?.before).toBe(
      "…ule rule rule rule rule rule rule rule rule rule rule rule rule rule rule rule…",
    );
    expect(block?.after).toBe(
      "…ule rule rule rule rule üule rule rule rule rule rule rule rule rule rule rule…",
    );
  });

  test("history rewritten, with the message; what stands before it is still read", () => {
    const current = next((body) => {
      const [first] = body.messages;
      if (first !== undefined) first.content = textOf(500, "other");
    });
    const explanation = explain(current);
    expect(explanation).toMatchObject({
      cause: "history rewritten",
      block: { path: "messages.0.content.0", section: "user message 0", byteOffset: 0 },
      reportedReadTokens: systemTokens,
    });
    expect(explanation.lostTokens).toBe(1500);
  });

  test("parameter changed: the tier that is lost, and the setting", () => {
    const choice = next((body) => {
      body["tool_choice"] = { type: "any" };
    });
    expect(explain(choice)).toMatchObject({
      cause: "parameter changed",
      detail: "tool choice: auto → any",
      block: { path: "messages.0.content.0", before: "auto", after: "any" },
      reportedReadTokens: systemTokens,
      lostTokens: tailTokens - systemTokens,
    });
    const effort = next((body) => {
      body["output_config"] = { effort: "low" };
    });
    expect(explain(effort)).toMatchObject({
      cause: "parameter changed",
      detail: "effort: default → low",
      block: { path: "tools.0" },
      lostTokens: tailTokens,
    });
  });

  test("parameter changed: an image appears", () => {
    const source = { type: "base64", media_type: "image/png", data: "AA==" };
    const current = next((body) => {
      body.messages.at(-1)!.content = [{ type: "image", source, ...marker }];
    });
    expect(explain(current)).toMatchObject({
      cause: "parameter changed",
      detail: "images appear or vanish: no images → images",
    });
  });

  test("parameter changed: a model that drops thinking once the user speaks", () => {
    const loop = [
      { role: "user", content: textOf(300, "ask") },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "Hm", signature: textOf(300, "sig") },
          { type: "tool_use", id: "t", name: "Bash", input: { command: textOf(300, "run") } },
        ],
      },
    ];
    const result = { type: "tool_result", tool_use_id: "t", content: "ok" };
    const previous = thinkingBody([...loop, { role: "user", content: [{ ...result, ...marker }] }]);
    const current = thinkingBody([
      ...loop,
      { role: "user", content: [result] },
      { role: "assistant", content: "Done." },
      { role: "user", content: [{ type: "text", text: "Thanks", ...marker }] },
    ]);
    expect(explain(current, { previous, rules: haiku })).toMatchObject({
      cause: "parameter changed",
      detail: "user turn after thinking: kept → dropped",
      block: { path: "messages.1.content.0", section: "thinking in assistant message 1" },
    });
  });

  test("lifetime expired, counted from start to start", () => {
    expect(explain(next(), { gapMs: 300_000 }).cause).toBe("no miss");
    expect(explain(next(), { gapMs: 301_000 })).toMatchObject({
      cause: "lifetime expired",
      block: { path: "messages.2.content.0" },
      lostTokens: tailTokens,
      advice:
        "The pause of 5 min outlived the entry: use a longer lifetime for the part before it, or repeat the prefix in time.",
    });
  });

  test("lifetime expired of the tail alone, where the system lives an hour", () => {
    const given = { previous: messagesBody(long), gapMs: 600_000 };
    expect(explain(next(long), given)).toMatchObject({
      cause: "lifetime expired",
      reportedReadTokens: systemTokens,
      lostTokens: tailTokens - systemTokens,
    });
  });

  test("below the minimum: the marked prefix was too short to be kept", () => {
    const current = messagesBody((body) => {
      short(body);
      body.messages.push({ role: "assistant", content: "Hi" }, { role: "user", content: "And?" });
    });
    expect(explain(current, { previous: messagesBody(short) })).toMatchObject({
      cause: "below the minimum",
      block: { path: "messages.0.content.0" },
      expectedReadTokens: 370,
      advice:
        "The marked prefix is shorter than the 1024 tokens that are kept at least: mark a longer one, or pad the system prompt.",
    });
  });

  test("beyond lookback: one call added more than 20 blocks", () => {
    expect(explain(grown(18)).cause).toBe("no miss");
    expect(explain(grown(19))).toMatchObject({
      cause: "beyond lookback",
      block: { path: "messages.2.content.0" },
      lostTokens: tailTokens,
    });
  });

  test("written concurrently: sent before the other response began", () => {
    const given = { previousLatencyMs: 2000, gapMs: 500 };
    expect(explain(messagesBody(), given)).toMatchObject({
      cause: "written concurrently",
      lostTokens: tailTokens,
    });
    expect(explain(messagesBody(), { ...given, gapMs: 2000 }).cause).toBe("no miss");
  });

  test("provider lost it: everything was right, and nothing was read", () => {
    const usage = usageOf(0, 4568);
    expect(explain(next(), { usage })).toMatchObject({
      cause: "provider lost it",
      reportedReadTokens: 0,
      block: { path: "messages.2.content.0" },
      detectedBy: ["expected more"],
    });
  });

  test("nothing was marked, neither then nor now", () => {
    expect(explain(messagesBody(unmarked), { previous: messagesBody(unmarked) })).toMatchObject({
      cause: "nothing was marked",
      expectedReadTokens: tailTokens,
    });
    const current = next((body) => {
      body.system = [{ type: "text", text: textOf(2000, "rule") }];
      body.messages.at(-1)!.content = textOf(500, "more");
    });
    expect(explain(current)).toMatchObject({ cause: "nothing was marked", lostTokens: tailTokens });
  });
});

test("nothing was marked: another conversation could have read the system prompt, had it been marked", () => {
  const given = { previous: messagesBody(tailOnly("One question")) };
  expect(explain(messagesBody(tailOnly("Something else")), given)).toMatchObject({
    cause: "nothing was marked",
    block: { path: "system.0" },
    lostTokens: systemTokens,
  });
});

describe("what is no break", () => {
  test("a change behind the last marker", () => {
    const previous = messagesBody(withTail("It is 12:00:01."));
    expect(explain(messagesBody(withTail("It is 12:05:44.")), { previous }).cause).toBe("no miss");
  });

  test("a moved marker and text instead of a list", () => {
    const current = next((body) => {
      body.system = [{ type: "text", text: textOf(2000, "rule") }];
      body.messages[0]!.content = [{ type: "text", text: textOf(500, "ask") }];
    });
    expect(explain(current).cause).toBe("no miss");
  });

  test("another conversation on the same system prompt", () => {
    const current = messagesBody((body) => {
      body.messages = [
        { role: "user", content: [{ type: "text", text: "Something else", ...marker }] },
      ];
    });
    expect(explain(current).cause).toBe("no miss");
  });

  test("a request that continues what the provider keeps", () => {
    const current = messagesBody((body) => {
      body["thread"] = { type: "continue", previous_message_id: "msg_1" };
      body.messages = body.messages.slice(-1);
      body.tools = [];
    });
    expect(explain(current).cause).toBe("no miss");
  });
});

describe("figures", () => {
  test("lost dollars are what was paid beyond reading", () => {
    // 3,568 tokens written for 5m at $3.75 instead of read at $0.30 per million.
    const { lostTokens, lostPicoUsd } = explain(next(), { usage: usageOf(0, 4568, 0) });
    expect(lostTokens).toBe(tailTokens);
    expect(lostPicoUsd).toBe(BigInt(lostTokens) * 3_450_000n);
  });

  test("N-16: reads that halve are reported even if less was sent again", () => {
    const summary = messagesBody((body) => {
      body.tools = [];
      body.system = [{ type: "text", text: "Summarise.", ...marker }];
      body.messages = [{ role: "user", content: textOf(1100, "transcript") }];
    });
    const { cause, detectedBy } = explainMiss({
      previous: messagesBody((body) => {
        body.tools = [];
      }),
      previousUsage: usageOf(3000, 568),
      current: summary,
      usage: usageOf(0, 0, 1200),
      rules: sonnet,
      timing: { gapMs: 1000, startMs },
    });
    expect(cause).toBe("system changed");
    expect(detectedBy).toEqual(["reads halved"]);
  });

  test("a provider that ends prefixes by itself is judged by its own boundaries", () => {
    const given = { previous: keyedBody("a"), rules: gpt };
    const more = [
      { role: "assistant", content: "Yes." },
      { role: "user", content: "And?" },
    ];
    expect(explain(keyedBody("a", ...more), given).cause).toBe("no miss");
    expect(explain(keyedBody("b", ...more), given)).toMatchObject({
      cause: "parameter changed",
      detail: "cache key: a → b",
      lostTokens: 2500,
    });
    expect(explain(keyedBody("a", ...more), { ...given, gapMs: 1_801_000 }).cause).toBe(
      "lifetime expired",
    );
  });
});

/** The usual body with one more reply and question. */
function next(change: (body: MessagesBody) => unknown = () => {}): ForeignRequest {
  return messagesBody((body) => {
    goOn(body);
    change(body);
  });
}

function thinkingBody(messages: readonly unknown[]): ForeignRequest {
  const system = textOf(5000, "rule");
  return readRequest(
    JSON.stringify({ model: "claude-haiku-4-5", max_tokens: 1, system, messages }),
  );
}

function long(body: MessagesBody): void {
  const [system] = body.system;
  if (system !== undefined) system["cache_control"] = { type: "ephemeral", ttl: "1h" };
}

function short(body: MessagesBody): void {
  body.system = [{ type: "text", text: textOf(300), ...marker }];
  body.messages = [{ role: "user", content: [{ type: "text", text: "Hello", ...marker }] }];
}

/** So many new blocks after the reply, and no marker on the system. */
function grown(count: number): ForeignRequest {
  return next((body) => {
    body.system = [{ type: "text", text: textOf(2000, "rule") }];
    body.messages.at(-1)!.content = Array.from({ length: count }, (_, part) => ({
      type: "text",
      text: `part ${part}`,
      ...(part === count - 1 ? marker : {}),
    }));
  });
}

function unmarked(body: MessagesBody): void {
  body.system = [{ type: "text", text: textOf(2000, "rule") }];
  body.messages.at(-1)!.content = textOf(500, "go");
}

function tailOnly(text: string): (body: MessagesBody) => void {
  return (body) => {
    body.system = [{ type: "text", text: textOf(2000, "rule") }];
    body.messages = [{ role: "user", content: [{ type: "text", text, ...marker }] }];
  };
}

function withTail(text: string): (body: MessagesBody) => void {
  return (body) => {
    body.messages.push({ role: "user", content: text });
  };
}

function keyedBody(key: string, ...more: readonly unknown[]): ForeignRequest {
  const input = [
    { role: "developer", content: textOf(2000, "rule") },
    { role: "user", content: textOf(500, "ask") },
    ...more,
  ];
  return readRequest(JSON.stringify({ model: "gpt-6.1-sol", prompt_cache_key: key, input }));
}
