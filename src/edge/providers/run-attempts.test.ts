import { afterEach, describe, expect, test } from "vitest";
import { speakOnPurpose } from "../../../harness/watch/on-purpose.ts";
import { plantedKey } from "../../../harness/planted-key.ts";
import type { Protocol } from "../../core/wire/protocol.ts";
import type { StreamPart } from "../../core/wire/reply.ts";
import { machineClock } from "./clock.ts";
import {
  closeAll,
  createTestClock,
  endEvent,
  openHttp,
  openProvider,
  sendEvents,
  textEvent,
  textOf,
  toyProtocol,
  toyRequest,
} from "./test-kit.ts";

afterEach(closeAll);

describe("another attempt", () => {
  test("is made exactly when the provider asked for it, with the same bytes", async () => {
    const clock = createTestClock();
    const bodies: string[] = [];
    const server = await openHttp(({ bytes }, response, index) => {
      bodies.push(bytes.toString());
      const headers = { "request-id": `req_${index}` };
      if (index === 0) response.writeHead(429, { ...headers, "retry-after": "2" }).end("slow down");
      else response.writeHead(200, headers).end('{"text":"hi"}');
    });
    const sending = openProvider(server.url, { clock }).send({
      request: toyRequest("{", '"a":1', "}"),
      stream: false,
    });
    await clock.waiting(2_000);
    clock.advance(1_999);
    expect(clock.delays()).toContain(2_000);
    clock.advance(1);
    const sent = await sending;
    expect(textOf(sent.outcome)).toBe("hi");
    expect(bodies).toEqual(['{"a":1}', '{"a":1}']);
    expect(sent).toMatchObject({
      startMs: 1_000_000,
      firstByteMs: 1_002_000,
      endMs: 1_002_000,
      status: 200,
      requestId: "req_1",
    });
    expect(sent.attempts).toEqual([
      {
        startMs: 1_000_000,
        firstByteMs: 1_000_000,
        endMs: 1_000_000,
        status: 429,
        requestId: "req_0",
        failure: { kind: "rate-limited", detail: "slow down", retryAfterMs: 2_000 },
        discarded: null,
        next: { delayMs: 2_000, reason: "the provider asks for it" },
      },
      {
        startMs: 1_002_000,
        firstByteMs: 1_002_000,
        endMs: 1_002_000,
        status: 200,
        requestId: "req_1",
        failure: null,
        discarded: null,
        next: null,
      },
    ]);
    expect(clock.delays()).toEqual([]);
  });

  test("comes later each time, four at most", async () => {
    const clock = createTestClock();
    const server = await openHttp((_request, response) =>
      response.writeHead(529).end("Overloaded"),
    );
    const sending = openProvider(server.url, { clock, random: () => 0.5 }).send({
      request: toyRequest(),
      stream: false,
    });
    for (const delayMs of [250, 500, 1_000]) {
      await clock.waiting(delayMs);
      clock.advance(delayMs);
    }
    const { outcome, attempts } = await sending;
    expect(outcome).toEqual({ kind: "overloaded", detail: "Overloaded", retryAfterMs: undefined });
    expect(attempts.map(({ next }) => next)).toEqual([
      { delayMs: 250, reason: "backoff, up to 500 ms" },
      { delayMs: 500, reason: "backoff, up to 1000 ms" },
      { delayMs: 1_000, reason: "backoff, up to 2000 ms" },
      { delayMs: null, reason: "4 of 4 attempts" },
    ]);
  });

  test("follows a connection that was reset before any answer", async () => {
    const server = await openHttp((_request, response, index) => {
      if (index < 2) response.socket?.resetAndDestroy();
      else response.end('{"text":"hi"}');
    });
    const { outcome, attempts } = await openProvider(server.url, { random: () => 0 }).send({
      request: toyRequest(),
      stream: false,
    });
    expect(textOf(outcome)).toBe("hi");
    expect(attempts.map(({ failure }) => failure?.kind)).toEqual([
      "unreachable",
      "unreachable",
      undefined,
    ]);
  });

  test("follows a stream that broke before any content, whose reply stays on the record", async () => {
    const server = await openHttp((_request, response, index) => {
      if (index === 0)
        sendEvents(response, "event: start\ndata: {}\n\nevent: error\ndata: Overloaded\n\n");
      else sendEvents(response, textEvent("hi"), endEvent);
      response.end();
    });
    const parts: StreamPart[] = [];
    const { outcome, attempts } = await openProvider(server.url, { random: () => 0 }).send({
      request: toyRequest(),
      stream: true,
      onPart: (part) => parts.push(part),
    });
    expect(textOf(outcome)).toBe("hi");
    expect(parts).toEqual([{ type: "text", text: "hi" }]);
    expect(attempts[0]).toMatchObject({
      failure: { kind: "overloaded", detail: "Overloaded" },
      discarded: { kind: "reply", status: "partial", message: { content: [] } },
    });
  });

  test("follows a stream that was cut before any part was given to the caller", async () => {
    const server = await openHttp((_request, response, index) => {
      sendEvents(response, textEvent("Half"), index === 0 ? "" : endEvent);
      response.end();
    });
    const { outcome, attempts } = await openProvider(server.url, { random: () => 0 }).send({
      request: toyRequest(),
      stream: true,
    });
    expect(outcome).toMatchObject({ kind: "reply", status: "complete" });
    expect(attempts).toMatchObject([
      {
        failure: { kind: "unreachable" },
        discarded: { status: "partial", message: { content: [{ type: "text", text: "Half" }] } },
        next: { delayMs: 0 },
      },
      { failure: null, discarded: null, next: null },
    ]);
  });

  test("that was cut too leaves its half as the outcome, and only the earlier ones are discarded", async () => {
    const server = await openHttp((_request, response, index) => {
      sendEvents(response, textEvent(`Half ${index}`));
      response.end();
    });
    const { outcome, attempts } = await openProvider(server.url, {
      random: () => 0,
      retries: { attemptsMax: 2 },
    }).send({ request: toyRequest(), stream: true });
    expect(outcome).toMatchObject({ status: "partial", failure: { kind: "unreachable" } });
    expect(textOf(outcome)).toBe("Half 1");
    expect(attempts.map(({ discarded }) => discarded && textOf(discarded))).toEqual([
      "Half 0",
      null,
    ]);
    expect(attempts.map(({ next }) => next)).toEqual([
      { delayMs: 0, reason: "backoff, up to 500 ms" },
      { delayMs: null, reason: "2 of 2 attempts" },
    ]);
  });
});

describe("no other attempt is made", () => {
  test("where the provider asks for more patience than is allowed, and its wish is reported", async () => {
    const server = await openHttp((_request, response) => {
      response.writeHead(429, { "retry-after": "120" }).end("come back later");
    });
    const { outcome, attempts } = await openProvider(server.url).send({
      request: toyRequest(),
      stream: false,
    });
    expect(outcome).toEqual({
      kind: "rate-limited",
      detail: "come back later",
      retryAfterMs: 120_000,
    });
    expect(attempts.map(({ next }) => next?.reason)).toEqual([
      "the provider asks for 120000 ms, which is above retryAfterMsMax 60000",
    ]);
  });

  test("for a request that is wrong", async () => {
    let count = 0;
    const server = await openHttp((_request, response) => {
      count += 1;
      response.writeHead(400).end("max_tokens: field required");
    });
    const { outcome } = await openProvider(server.url).send({
      request: toyRequest(),
      stream: false,
    });
    expect(outcome).toEqual({ kind: "invalid-request", detail: "max_tokens: field required" });
    expect(count).toBe(1);
  });

  test("once a part of the reply is out", async () => {
    const server = await openHttp((_request, response) => {
      sendEvents(response, textEvent(""), "event: error\ndata: Overloaded\n\n");
      response.end();
    });
    const { outcome, attempts } = await openProvider(server.url).send({
      request: toyRequest(),
      stream: true,
      onPart: () => {},
    });
    expect(outcome).toMatchObject({ kind: "overloaded" });
    expect(attempts.map(({ next }) => next?.reason)).toEqual([
      "a part of the reply was given on already",
    ]);
  });

  test("where the wait would not end in time", async () => {
    const server = await openHttp((_request, response) => {
      response.writeHead(503, { "retry-after": "30" }).end("down");
    });
    const { outcome, attempts } = await openProvider(server.url, {
      clock: createTestClock(),
      timeouts: { totalMs: 10_000 },
    }).send({ request: toyRequest(), stream: false });
    expect(outcome).toEqual({ kind: "server-error", detail: "down", retryAfterMs: 30_000 });
    expect(attempts.map(({ next }) => next?.reason)).toEqual([
      "10000 ms are left, and the wait is 30000 ms",
    ]);
  });
});

test("a key never reaches the record, also where a server repeats it", async () => {
  const server = await openHttp(({ headers }, response, index) => {
    const echo = String(headers["x-api-key"]);
    speakOnPurpose(response);
    response.setHeader("x-echo", echo);
    if (index === 0) response.writeHead(529).write(`overloaded by ${echo}`);
    else sendEvents(response, textEvent("hi"), `event: error\ndata: bad key ${echo}\n\n`);
    response.end();
  });
  const sent = await openProvider(server.url, { random: () => 0 }).send({
    request: toyRequest(),
    stream: true,
  });
  expect(sent.attempts[0]?.failure?.detail).toBe("overloaded by [redacted]");
  expect(sent.outcome).toMatchObject({ failure: { detail: "bad key [redacted]" } });
  expect(JSON.stringify(sent)).not.toContain(plantedKey);
});

test("a stream that never ends is broken off as malformed", async () => {
  const server = await openHttp((_request, response) => {
    const many = "event: start\ndata: {}\n\n".repeat(50_000);
    const write = (): void => {
      while (!response.destroyed && response.write(many));
      response.once("drain", write);
    };
    sendEvents(response, textEvent("hi"));
    write();
  });
  const { outcome, attempts } = await openProvider(server.url).send({
    request: toyRequest(),
    stream: true,
  });
  expect(outcome).toMatchObject({
    status: "partial",
    message: { content: [{ type: "text", text: "hi" }] },
    failure: { kind: "malformed", detail: "the stream has more than 1000000 events" },
  });
  expect(attempts).toHaveLength(1);
});

test("a key in the name of a header never reaches the record", async () => {
  const server = await openHttp((_request, response) => {
    speakOnPurpose(response);
    response.setHeader(plantedKey, "1");
    response.writeHead(400).end(`unknown header ${plantedKey.toUpperCase()}`);
  });
  // The server repeats the key's name; the configuration has it as a value, or as a name by mistake.
  for (const credentials of [{ "x-api-key": plantedKey }, { [plantedKey]: "x-api-key" }]) {
    const sent = await openProvider(server.url, { credentials }).send({
      request: toyRequest(),
      stream: false,
    });
    expect(sent.headers).toMatchObject({ "[redacted]": "1" });
    expect(sent.outcome).toMatchObject({ detail: "unknown header [redacted]" });
    expect(JSON.stringify(sent).toLowerCase()).not.toContain(plantedKey.toLowerCase());
  }
});

test("a key is not quoted by half either", async () => {
  const server = await openHttp(({ headers }, response, index) => {
    speakOnPurpose(response);
    response.writeHead(index === 0 ? 400 : 200).end(`<p>${String(headers["x-api-key"])}</p>`);
  });
  const protocol: Protocol = {
    ...toyProtocol,
    readFailure: ({ body }) => ({ kind: "invalid-request", detail: body.slice(0, 10) }),
    decode: (body) => ({ kind: "malformed", detail: body.slice(0, 10) }),
  };
  const provider = openProvider(server.url, { protocol });
  for (const kind of ["invalid-request", "malformed"]) {
    const { outcome } = await provider.send({ request: toyRequest(), stream: false });
    expect(outcome).toEqual({ kind, detail: "<p>[redact" });
  }
});

test("the machine's clock never wakes anybody too early", async () => {
  const startMs = performance.now();
  await new Promise<void>((resolve) => void machineClock.after(15, resolve));
  expect(performance.now() - startMs).toBeGreaterThanOrEqual(15);
  let isRun = false;
  machineClock.after(1, () => (isRun = true))();
  await new Promise<void>((resolve) => void machineClock.after(10, resolve));
  expect(isRun).toBe(false);
});
