// Goal: a cancel works immediately, at any time, and nothing is left behind.
import { getEventListeners } from "node:events";
import { afterEach, expect, test } from "vitest";
import type { StreamPart } from "../../core/wire/reply.ts";
import type { Clock } from "./clock.ts";
import {
  closeAll,
  createTestClock,
  openHttp,
  openProvider,
  openTcp,
  sendEvents,
  textEvent,
  textOf,
  toyRequest,
  until,
} from "./test-kit.ts";
import { usualTimeouts } from "./timeouts.ts";

afterEach(closeAll);

const cancelled = { kind: "cancelled", detail: "cancelled by the caller" };

test("a call that was cancelled before it began never goes out", async () => {
  let count = 0;
  const server = await openHttp(() => (count += 1));
  const { outcome, attempts } = await openProvider(server.url).send({
    request: toyRequest(),
    stream: false,
    signal: AbortSignal.abort(),
  });
  expect(outcome).toEqual(cancelled);
  expect(attempts).toHaveLength(1);
  expect([count, server.connectionCount()]).toEqual([0, 0]);
});

test("a call can be cancelled while its connection is being made", async () => {
  const clock = createTestClock();
  const server = await openTcp(() => {});
  const controller = new AbortController();
  const provider = openProvider(server.url.replace("http:", "https:"), { clock });
  const sending = provider.send({
    request: toyRequest(),
    stream: false,
    signal: controller.signal,
  });
  await until(() => server.connectionCount() === 1);
  controller.abort();
  expect((await sending).outcome).toEqual(cancelled);
  // The connection goes on for others, until the provider is closed.
  expect(clock.delays()).toEqual([10_000]);
  await provider.close();
  expect(clock.delays()).toEqual([]);
});

test("a call can be cancelled while it waits for an answer", async () => {
  let isAsked = false;
  let isLeft = false;
  const server = await openHttp((_request, response) => {
    isAsked = true;
    response.on("close", () => (isLeft = true));
  });
  const controller = new AbortController();
  const sending = openProvider(server.url).send({
    request: toyRequest(),
    stream: false,
    signal: controller.signal,
  });
  await until(() => isAsked);
  controller.abort();
  expect((await sending).outcome).toEqual(cancelled);
  expect(getEventListeners(controller.signal, "abort")).toEqual([]);
  await until(() => isLeft);
});

test("a call can be cancelled while its body goes out", async () => {
  let isAsked = false;
  // Reads a little and then no more.
  const server = await openTcp((socket) => {
    isAsked = true;
    socket.pause();
  });
  const controller = new AbortController();
  const pieces = Array.from({ length: 60 }, () => new Uint8Array(500_000));
  const sending = openProvider(server.url).send({
    request: { ...toyRequest(), pieces, byteLength: 30_000_000 },
    stream: false,
    signal: controller.signal,
  });
  await until(() => isAsked);
  controller.abort();
  expect((await sending).outcome).toEqual(cancelled);
});

test("a stream that is cancelled gives what came", async () => {
  let isLeft = false;
  const server = await openHttp((_request, response) => {
    response.on("close", () => (isLeft = true));
    sendEvents(response, textEvent("so far"));
  });
  const controller = new AbortController();
  let partCount = 0;
  const sending = openProvider(server.url).send({
    request: toyRequest(),
    stream: true,
    signal: controller.signal,
    onPart: () => (partCount += 1),
  });
  await until(() => partCount === 1);
  controller.abort();
  const { outcome, attempts } = await sending;
  expect(outcome).toMatchObject({ kind: "reply", status: "partial", failure: cancelled });
  expect(textOf(outcome)).toBe("so far");
  expect(attempts).toHaveLength(1);
  await until(() => isLeft);
});

test("a stream that has begun without content is cancelled, and its reply is on the record", async () => {
  const clock = createTestClock();
  let idleCount = 0;
  const counting: Clock = {
    nowMs: () => clock.nowMs(),
    after: (delayMs, run) => {
      if (delayMs === usualTimeouts.idleMs) idleCount += 1;
      return clock.after(delayMs, run);
    },
  };
  const server = await openHttp((_request, response) => {
    sendEvents(response, "event: start\ndata: {}\n\n");
  });
  const controller = new AbortController();
  const sending = openProvider(server.url, { clock: counting }).send({
    request: toyRequest(),
    stream: true,
    signal: controller.signal,
  });
  // The first event has been read when the wait for the second begins.
  await until(() => idleCount === 2);
  controller.abort();
  const { outcome, attempts } = await sending;
  expect(outcome).toEqual(cancelled);
  expect(attempts.map(({ discarded }) => discarded)).toMatchObject([
    { kind: "reply", status: "partial", failure: cancelled },
  ]);
});

test("who cancels on a part is given no further one", async () => {
  const server = await openHttp((_request, response) => {
    sendEvents(response, textEvent("one ") + textEvent("two ") + textEvent("three"));
  });
  const controller = new AbortController();
  const parts: StreamPart[] = [];
  const { outcome } = await openProvider(server.url).send({
    request: toyRequest(),
    stream: true,
    signal: controller.signal,
    onPart: (part) => {
      parts.push(part);
      if (parts.length === 2) controller.abort();
    },
  });
  expect(parts).toEqual([
    { type: "text", text: "one " },
    { type: "text", text: "two " },
  ]);
  expect(textOf(outcome)).toBe("one two ");
  expect(outcome).toMatchObject({ status: "partial", failure: cancelled });
});

test("a wait between attempts ends when it is cancelled", async () => {
  const clock = createTestClock();
  const server = await openHttp((_request, response) => {
    response.writeHead(429, { "retry-after": "50" }).end("slow down");
  });
  const controller = new AbortController();
  const sending = openProvider(server.url, { clock }).send({
    request: toyRequest(),
    stream: false,
    signal: controller.signal,
  });
  await clock.waiting(50_000);
  controller.abort();
  const { outcome, attempts, status } = await sending;
  expect(outcome).toEqual(cancelled);
  expect(attempts).toMatchObject([
    { failure: { kind: "rate-limited", retryAfterMs: 50_000 }, next: { delayMs: 50_000 } },
  ]);
  expect(status).toBe(429);
  expect(clock.delays()).toEqual([]);
});

test("closing a provider cancels what is under way and what comes later", async () => {
  let partCount = 0;
  const server = await openHttp((_request, response) => sendEvents(response, textEvent("so far")));
  const provider = openProvider(server.url);
  const sending = provider.send({
    request: toyRequest(),
    stream: true,
    onPart: () => (partCount += 1),
  });
  await until(() => partCount === 1);
  await provider.close();
  const closed = { kind: "cancelled", detail: "the provider was closed" };
  expect((await sending).outcome).toMatchObject({ status: "partial", failure: closed });
  expect((await provider.send({ request: toyRequest(), stream: true })).outcome).toEqual(closed);
  await provider.close();
});

test("a call is cancelled by its id, and the id is free again when it is over (M-02)", async () => {
  let isAsked = false;
  const server = await openHttp(() => void (isAsked = true));
  const provider = openProvider(server.url);
  const call = { request: toyRequest(), stream: false, requestId: "01KA5R8K2M0000000000000000" };
  const sending = provider.send(call);
  await until(() => isAsked);
  await expect(provider.send(call)).rejects.toThrow("a call with the id");
  expect(provider.cancel("another")).toBe(false);
  expect(provider.cancel(call.requestId)).toBe(true);
  expect((await sending).outcome).toEqual({ kind: "cancelled", detail: "cancelled by its id" });
  expect(provider.cancel(call.requestId)).toBe(false);
});
