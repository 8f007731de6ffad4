// Goal: writes, reads, lookback and lifetimes of providers.md §1.1 and §1.2. Method: real requests, real billing.
import { describe, expect, test } from "vitest";
import {
  buckets,
  createClient,
  finish,
  marked,
  marked1h,
  text,
  tool,
  words,
  type Any,
} from "./test-kit.ts";

/** The cache minimum is 512 tokens. */
const model = "claude-opus-5";
const minute = 60_000;

function ask(content: unknown, extra: object = {}): Any {
  return { model, max_tokens: 50, messages: [{ role: "user", content }], ...extra };
}

describe("writing and reading", () => {
  test("the first request writes up to its marker, the second reads it", () => {
    const client = createClient();
    const body = ask([text(words(400), marked), text("And?")]);
    const first = buckets(client.create(body));
    expect(first).toMatchObject({ read: 0, write1h: 0 });
    expect(first.write5m).toBeGreaterThan(512);
    const second = buckets(client.create(body));
    expect(second).toEqual({ ...first, read: first.write5m, write5m: 0 });
  });

  test("a prompt marked to its end still pays the few tokens that open the reply", () => {
    const { input } = buckets(createClient().create(ask([text(words(400), marked)])));
    expect(input).toBe(3);
  });

  test("a prefix below the model's minimum is silently not kept", () => {
    const client = createClient();
    for (const kept of [false, false]) {
      const { read, write5m, input } = buckets(client.create(ask([text(words(50), marked)])));
      expect(read + write5m > 0).toBe(kept);
      expect(input).toBeGreaterThan(100);
    }
    expect(client.records[1]?.bill.reason).toEqual({
      kind: "below the minimum",
      minimumTokens: 512,
    });
  });

  test("workspaces do not share what was written", () => {
    const client = createClient();
    const body = ask([text(words(400), marked)]);
    client.create(body);
    client.workspace = "workspace-b";
    expect(buckets(client.create(body)).read).toBe(0);
  });

  test("parallel cold requests each write, and a third after the first reply began reads", () => {
    const client = createClient();
    const body = ask([text(words(400), marked)]);
    const left = client.send(body);
    const right = client.send(body);
    const written = [left, right].map(
      (response) => buckets(finish(response, client.nowMs)).write5m,
    );
    expect(written[0]).toBeGreaterThan(512);
    expect(written[1]).toBe(written[0]);
    expect(buckets(client.create(body)).read).toBe(written[0]);
  });

  test("a request without a response wrote nothing", () => {
    const client = createClient();
    const body = ask([text(words(400), marked)]);
    client.send(body).bill?.abandon();
    expect(buckets(client.create(body)).read).toBe(0);
  });

  test("an entry lives five minutes from the start of the last request that used it", () => {
    const client = createClient();
    const body = ask([text(words(400), marked)]);
    client.create(body);
    client.nowMs += 4 * minute;
    expect(buckets(client.create(body)).read).toBeGreaterThan(0);
    client.nowMs += 5 * minute;
    expect(buckets(client.create(body)).read).toBeGreaterThan(0);
    client.nowMs += 5 * minute + 1;
    expect(buckets(client.create(body)).read).toBe(0);
  });

  test("an entry of an hour outlives a lunch break", () => {
    const client = createClient();
    const body = ask([text(words(400), marked1h)]);
    expect(buckets(client.create(body))).toMatchObject({ write5m: 0 });
    client.nowMs += 55 * minute;
    expect(buckets(client.create(body)).read).toBeGreaterThan(512);
  });
});

describe("lookback", () => {
  test("a marker on block 35 misses an entry at block 15 by one position", () => {
    const client = createClient();
    client.create(ask(blocks(15, [15])));
    expect(buckets(client.create(ask(blocks(35, [35])))).read).toBe(0);
    expect(client.records[1]?.bill.reason).toEqual({ kind: "beyond lookback", block: 14 });
  });

  test("a marker on block 34 finds it", () => {
    const client = createClient();
    const { write5m } = buckets(client.create(ask(blocks(15, [15]))));
    expect(buckets(client.create(ask(blocks(34, [34])))).read).toBe(write5m);
  });

  test("a second marker on block 15 finds it", () => {
    const client = createClient();
    const { write5m } = buckets(client.create(ask(blocks(15, [15]))));
    expect(buckets(client.create(ask(blocks(35, [15, 35])))).read).toBe(write5m);
  });

  test("thirty tool uses and thirty results are two positions", () => {
    const client = createClient();
    const start = { role: "user", content: [text(words(400), marked)] };
    const ids = Array.from({ length: 30 }, (_, index) => `call${index}`);
    const uses = ids.map((id) => ({ type: "tool_use", id, name: "read", input: {} }));
    const results = ids.map((id) => ({ type: "tool_result", tool_use_id: id, content: "ok" }));
    const tools = [tool("read")];
    const { write5m } = buckets(client.create({ model, max_tokens: 9, tools, messages: [start] }));
    const grown = client.create({
      model,
      max_tokens: 9,
      tools,
      messages: [
        { role: "user", content: [text(words(400))] },
        { role: "assistant", content: uses },
        { role: "user", content: [...results, text("go on", marked)] },
      ],
    });
    expect(buckets(grown).read).toBe(write5m);
  });
});

describe("mixed lifetimes", () => {
  test("each span is billed at its own rate: read to A, 1h to B, 5m to C, the rest plain", () => {
    const client = createClient();
    const system = [text(words(400, "system"), marked1h)];
    const first = [text(words(100, "first"), marked1h)];
    const second = [text(words(80, "second"), marked), text(words(30, "rest"))];
    client.create(ask("hi", { system }));
    const answer = client.create({
      model,
      max_tokens: 9,
      system,
      messages: [
        { role: "user", content: first },
        { role: "assistant", content: "ok" },
        { role: "user", content: second },
      ],
    });
    const { markers = [], totalTokens = 0 } = client.records[1]?.bill ?? {};
    const [a = 0, b = 0, c = 0] = markers.map(({ tokens }) => tokens);
    expect(buckets(answer)).toEqual({
      read: a,
      write1h: b - a,
      write5m: c - b,
      input: totalTokens - c,
    });
    expect([a, b - a, c - b, totalTokens - c].every((span) => span > 50)).toBe(true);
  });
});

/** Messages with that many blocks and markers on the blocks with these numbers, from 1. */
function blocks(count: number, marks: readonly number[]): Any[] {
  return Array.from({ length: count }, (_, index) =>
    text(words(60, `block${index}x`), marks.includes(index + 1) ? marked : {}),
  );
}
