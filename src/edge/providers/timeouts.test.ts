import { afterEach, describe, expect, test } from "vitest";
import {
  closeAll,
  createTestClock,
  endEvent,
  openHttp,
  openProvider,
  openTcp,
  sendEvents,
  textEvent,
  textOf,
  toyRequest,
  until,
} from "./test-kit.ts";
import { parseTimeouts, usualTimeouts } from "./timeouts.ts";

afterEach(closeAll);

const once = { retries: { attemptsMax: 1 } };

describe("a limit ends a call with its name", () => {
  test.each([
    ["never answers", ""],
    ["answers half a header", "HTTP/1.1 200 OK\r\ncontent-ty"],
  ])("when a server %s", async (_name, words) => {
    const clock = createTestClock();
    let isAsked = false;
    let isLeft = false;
    const server = await openTcp((socket) => {
      isAsked = true;
      socket.on("close", () => (isLeft = true)).write(words);
    });
    const sending = openProvider(server.url, { ...once, clock }).send({
      request: toyRequest(),
      stream: true,
    });
    await until(() => isAsked);
    clock.advance(599_999);
    expect(clock.delays()).toContain(600_000);
    clock.advance(1);
    expect(await sending).toMatchObject({
      outcome: { kind: "timeout", detail: "no answer within 600000 ms (timeouts.firstByteMs)" },
      startMs: 1_000_000,
      firstByteMs: null,
      endMs: 1_600_000,
    });
    expect(clock.delays()).toEqual([]);
    await until(() => isLeft);
  });

  test("when a reply stops coming", async () => {
    const clock = createTestClock();
    const server = await openHttp((_request, response) => {
      response.writeHead(200, { "content-length": "100" }).write('{"text":');
    });
    const sending = openProvider(server.url, { ...once, clock }).send({
      request: toyRequest(),
      stream: false,
    });
    await clock.waiting(300_000);
    clock.advance(300_000);
    expect((await sending).outcome).toEqual({
      kind: "timeout",
      detail: "nothing more came within 300000 ms (timeouts.idleMs)",
    });
  });

  test("when a stream stops coming, and keeps what came", async () => {
    const clock = createTestClock();
    let partCount = 0;
    const server = await openHttp((_request, response) =>
      sendEvents(response, textEvent("so far")),
    );
    const sending = openProvider(server.url, { clock, timeouts: { idleMs: 70 } }).send({
      request: toyRequest(),
      stream: true,
      onPart: () => (partCount += 1),
    });
    await until(() => partCount === 1);
    await clock.waiting(70);
    clock.advance(70);
    const { outcome, attempts } = await sending;
    expect(outcome).toMatchObject({
      kind: "reply",
      status: "partial",
      failure: { kind: "timeout", detail: "nothing more came within 70 ms (timeouts.idleMs)" },
    });
    expect(textOf(outcome)).toBe("so far");
    expect(attempts).toHaveLength(1);
  });

  test("when drops keep coming but the whole takes too long", async () => {
    const clock = createTestClock();
    let partCount = 0;
    const server = await openHttp((_request, response) => {
      sendEvents(response);
      const drip = setInterval(() => response.write(textEvent(".")), 1);
      response.on("close", () => clearInterval(drip));
    });
    const sending = openProvider(server.url, { clock, timeouts: { totalMs: 1_000 } }).send({
      request: toyRequest(),
      stream: true,
      onPart: () => {
        partCount += 1;
        clock.advance(100);
      },
    });
    expect((await sending).outcome).toMatchObject({
      status: "partial",
      failure: {
        kind: "timeout",
        detail: "the call was not done within 1000 ms (timeouts.totalMs)",
      },
    });
    expect(partCount).toBe(10);
    expect(clock.delays()).toEqual([]);
  });

  test("but a reply that is whole stays whole, though the server never ends the stream", async () => {
    const clock = createTestClock();
    let partCount = 0;
    const server = await openHttp((_request, response) => {
      sendEvents(response, endEvent + textEvent("all"));
    });
    const sending = openProvider(server.url, { clock }).send({
      request: toyRequest(),
      stream: true,
      onPart: () => (partCount += 1),
    });
    await until(() => partCount === 1);
    await clock.waiting(300_000);
    clock.advance(300_000);
    const { outcome } = await sending;
    expect(outcome).toMatchObject({ kind: "reply", status: "complete" });
    expect(outcome).not.toHaveProperty("failure");
  });

  test("when the total is up there is no further attempt", async () => {
    const clock = createTestClock();
    const server = await openTcp(() => {});
    const sending = openProvider(server.url, { clock, timeouts: { totalMs: 5_000 } }).send({
      request: toyRequest(),
      stream: false,
    });
    await clock.waiting(600_000);
    clock.advance(5_000);
    const { outcome, attempts } = await sending;
    expect(outcome).toMatchObject({ kind: "timeout" });
    expect(attempts.map(({ next }) => next?.delayMs)).toEqual([null]);
  });

  test("when a connection does not get ready", async () => {
    const clock = createTestClock();
    // Takes the connection and never answers the handshake.
    const server = await openTcp(() => {});
    const provider = openProvider(server.url.replace("http:", "https:"), { ...once, clock });
    const sending = provider.send({ request: toyRequest(), stream: false });
    await clock.waiting(10_000);
    clock.advance(10_000);
    const { outcome } = await sending;
    expect(outcome).toEqual({
      kind: "timeout",
      detail: "no connection within 10000 ms (timeouts.connectMs)",
    });
  });
});

test("limits that make no sense are refused by name", () => {
  expect(parseTimeouts({ idleMs: 5 })).toEqual({ ...usualTimeouts, idleMs: 5 });
  expect(() => parseTimeouts({ idleMs: 0 })).toThrow("timeouts.idleMs is 0");
  expect(() => parseTimeouts({ totalMs: Infinity })).toThrow("timeouts.totalMs is Infinity");
  expect(() => parseTimeouts({ connectMs: 2_147_483_648 })).toThrow("from 1 to 2147483647");
});
