import type { ServerResponse } from "node:http";
import { afterEach, expect, test } from "vitest";
import {
  closeAll,
  endEvent,
  openHttp,
  openProvider,
  sendEvents,
  textEvent,
  textOf,
  toyRequest,
  until,
} from "./test-kit.ts";

afterEach(closeAll);

test("an answer begins with its first event, before any text, and onBegin is called once", async () => {
  const streams: ServerResponse[] = [];
  const server = await openHttp((_request, response, index) => {
    if (index === 0) return void response.writeHead(529).end("busy");
    streams.push(response);
    // A comment keeps a connection open while nothing is read yet.
    sendEvents(response, ": processing\n\n");
  });
  const provider = openProvider(server.url, { retries: { backoffMsBase: 0 } });
  const told: string[] = [];
  const sending = provider.send({
    request: toyRequest(),
    stream: true,
    onBegin: () => told.push("begun"),
    onPart: (part) => told.push(part.type),
  });
  await until(() => streams.length === 1);
  expect(told).toEqual([]);
  streams[0]?.write("event: start\ndata: {}\n\n");
  await until(() => told.length > 0);
  expect(told).toEqual(["begun"]);
  streams[0]?.end(textEvent("hi") + endEvent);
  expect(textOf((await sending).outcome)).toBe("hi");
  expect(told).toEqual(["begun", "text"]);
});

test("a refusal, also one that comes as an event, is no beginning; a whole answer is one", async () => {
  const server = await openHttp((_request, response, index) => {
    if (index === 0) sendEvents(response, "event: error\ndata: busy\n\n");
    if (index === 0) response.end();
    if (index === 1) response.writeHead(400).end("no");
    if (index === 2) response.writeHead(200).end('{"text":"hi"}');
  });
  const provider = openProvider(server.url, { retries: { attemptsMax: 1 } });
  const outcomes: string[] = [];
  for (const stream of [true, true, false]) {
    let begun = 0;
    const onBegin = (): void => void (begun += 1);
    const { outcome } = await provider.send({ request: toyRequest(), stream, onBegin });
    outcomes.push(`${outcome.kind} ${begun}`);
  }
  expect(outcomes).toEqual(["overloaded 0", "invalid-request 0", "reply 1"]);
});
