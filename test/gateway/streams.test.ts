// Goal: streams pass as they come, at the speed of the slower side, and end as they ended. Method: both ends are the test's.
import { once } from "node:events";
import * as http from "node:http";
import type { Socket } from "node:net";
import { Readable } from "node:stream";
import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import {
  bytesOf,
  connectRaw,
  endsOf,
  hashOf,
  openRawUpstream,
  openTestGateway,
  openUpstream,
} from "./kit.ts";

const sse = { "content-type": "text/event-stream" };

async function post(url: string, body: string | Readable): Promise<http.IncomingMessage> {
  const sending = http.request(url, { method: "POST", agent: false });
  if (typeof body === "string") sending.end(body);
  else body.pipe(sending);
  const [got] = (await once(sending, "response")) as [http.IncomingMessage];
  return got;
}

test("each event arrives before the next one is written, and the headers before the first", async () => {
  const read = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const upstream = await openUpstream(async (_incoming, outgoing) => {
    outgoing.writeHead(200, sse).flushHeaders();
    await read[0]?.promise;
    outgoing.write("event: one\ndata: 1\n\n");
    await read[1]?.promise;
    outgoing.end("event: two\ndata: 2\n\n");
  });
  const gateway = await openTestGateway(upstream);
  const got = await post(`${gateway.up}/v1/messages`, "{}");
  expect(got.headers["content-type"]).toBe("text/event-stream");
  read[0]?.resolve();
  const [first] = (await once(got, "data")) as [Buffer];
  expect(first.toString()).toBe("event: one\ndata: 1\n\n");
  read[1]?.resolve();
  expect((await bytesOf(got)).toString()).toBe("event: two\ndata: 2\n\n");
});

test("an upload of 100 MB passes whole, and is never ahead of its reader by more than buffers hold", async () => {
  let [sent, read, ahead] = [0, 0, 0];
  const blocks = function* (): Generator<Buffer> {
    for (let at = 0; at < 1600; at += 1) {
      sent += 65_536;
      ahead = Math.max(ahead, sent - read);
      yield Buffer.alloc(65_536, `${at} `);
    }
  };
  const upstream = await openUpstream(async (incoming, outgoing) => {
    const counted = incoming.map((piece: Buffer) => {
      read += piece.length;
      return piece;
    });
    outgoing.end(await hashOf(counted));
  });
  const gateway = await openTestGateway(upstream);
  const got = await post(`${gateway.up}/v1/files`, Readable.from(blocks()));
  const arrived = (await bytesOf(got)).toString();
  expect(ahead).toBeLessThan(20_000_000);
  expect(arrived).toBe(await hashOf(Readable.from(blocks())));
});

test("an answer waits for a client that reads slowly", async () => {
  let written = 0;
  const upstream = await openUpstream((_incoming, outgoing) => {
    outgoing.writeHead(200);
    const write = (): void => {
      while (outgoing.write(Buffer.alloc(65_536))) written += 65_536;
      written += 65_536;
    };
    outgoing.on("drain", write);
    write();
  });
  const gateway = await openTestGateway(upstream);
  const got = await post(`${gateway.up}/v1/messages`, "{}");
  got.pause();
  // Until every buffer between the two is full.
  for (let before = -1; before !== written;) {
    before = written;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  expect(written).toBeLessThan(30_000_000);
  got.destroy();
});

test("a thousand streams are open at once, and each gets its own events", async () => {
  const open: http.ServerResponse[] = [];
  const all = Promise.withResolvers<void>();
  const count = 1000;
  const upstream = await openUpstream((incoming, outgoing) => {
    outgoing.writeHead(200, sse).write(`data: ${incoming.url}\n\n`);
    open.push(outgoing);
    if (open.length === count) all.resolve();
  });
  const gateway = await openTestGateway(upstream);
  const asking = Array.from({ length: count }, (_, at) => post(`${gateway.up}/v1/${at}`, "{}"));
  await all.promise;
  expect(gateway.state().exchanges.open).toBe(count);
  for (const outgoing of open) outgoing.end("data: end\n\n");
  const bodies = await Promise.all(
    asking.map(async (each) => (await bytesOf(await each)).toString()),
  );
  expect(bodies).toEqual(bodies.map((_, at) => `data: /v1/${at}\n\ndata: end\n\n`));
  expect(gateway.state().exchanges).toMatchObject({ open: 0, complete: count });
});

describe("a client that leaves", () => {
  test("during a stream ends the request at the upstream", async () => {
    const left = Promise.withResolvers<void>();
    const upstream = await openUpstream((_incoming, outgoing) => {
      outgoing.writeHead(200, sse).write("data: 1\n\n");
      outgoing.on("close", () => left.resolve());
    });
    const gateway = await openTestGateway(upstream);
    const got = await post(`${gateway.up}/v1/messages`, "{}");
    await once(got, "data");
    got.destroy();
    await left.promise;
    await expect.poll(() => endsOf(gateway)).toEqual(["client left 200"]);
  });

  test("before any answer, or in the middle of its own body, does too", async () => {
    const left: string[] = [];
    const asked = Promise.withResolvers<void>();
    const upstream = await openUpstream((incoming, outgoing) => {
      incoming.on("error", () => {}).resume();
      outgoing.on("close", () => left.push(incoming.complete ? "whole" : "half"));
      asked.resolve();
    });
    const gateway = await openTestGateway(upstream);
    const head = "POST /up/v1/messages HTTP/1.1\r\nHost: localhost\r\n";
    const whole = connectRaw(gateway.port, `${head}Content-Length: 2\r\n\r\n{}`);
    await asked.promise;
    whole.socket.destroy();
    await expect.poll(() => left).toEqual(["whole"]);

    const half = connectRaw(
      gateway.port,
      `${head}Content-Length: 100000\r\n\r\n${"x".repeat(70_000)}`,
    );
    await expect.poll(() => gateway.state().exchanges.open).toBe(1);
    half.socket.destroy();
    await expect.poll(() => endsOf(gateway)).toEqual(["client left -", "client left -"]);
  });
});

describe("an upstream that breaks off", () => {
  test.each([
    ["a chunked stream", "Transfer-Encoding: chunked\r\n\r\n7\r\ndata: 1\r\n"],
    ["a body of known length", "Content-Length: 100\r\n\r\ndata: 1"],
  ])(
    "leaves the client with what came, and never with a complete answer: %s",
    async (_what, rest) => {
      const upstream = await openRawUpstream((socket) => {
        socket.once("data", () => socket.end(`HTTP/1.1 200 OK\r\n${rest}`));
      });
      const gateway = await openTestGateway(upstream);
      const got = await post(`${gateway.up}/v1/messages`, "{}");
      let seen = "";
      got.on("data", (piece) => (seen += String(piece)));
      const [error] = (await once(got, "error")) as [NodeJS.ErrnoException];
      expect([seen, error.code, got.complete]).toEqual(["data: 1", "ECONNRESET", false]);
      expect(endsOf(gateway)).toEqual(["cut 200"]);
    },
  );

  test.each<[string, (socket: Socket) => void, string]>([
    ["closes", (socket) => socket.destroy(), "502 upstream_unreachable"],
    ["speaks something else", (socket) => socket.end("SSH-2.0-x\r\n"), "502 upstream_unreachable"],
    [
      "sends endless headers",
      (socket) => socket.write(`HTTP/1.1 200 OK\r\n${`a: ${"b".repeat(1000)}\r\n`.repeat(100)}`),
      "502 upstream_unreachable",
    ],
    ["says nothing", () => {}, "504 upstream_timeout"],
  ])(
    "without an answer, because it %s, is reported in our own words",
    async (_why, act, expected) => {
      const upstream = await openRawUpstream(
        (socket) => void socket.once("data", () => act(socket)),
      );
      const gateway = await openTestGateway(upstream, { firstByteMsMax: 100 });
      const response = await fetch(`${gateway.up}/v1/messages`, { method: "POST", body: "{}" });
      const { type, error } = (await response.json()) as {
        type: string;
        error: { type: string; message: string };
      };
      expect(`${response.status} ${response.headers.get("x-strata-error")}`).toBe(expected);
      expect([type, error.type]).toEqual(["error", expected.slice(4)]);
      expect(error.message).toMatch(/^up (?:gave no answer|did not answer in time): \S/);
      expect(endsOf(gateway)).toEqual([`no answer -`]);
    },
  );

  test("is reported if nobody listens there", async () => {
    const gateway = await openTestGateway("http://127.0.0.1:1");
    const response = await fetch(`${gateway.up}/v1/messages`, { method: "POST", body: "{}" });
    expect(response.status).toBe(502);
    expect(await response.text()).toContain("up gave no answer: connect ECONNREFUSED 127.0.0.1:1");
  });
});

test("an upstream may refuse a large body before it has read it", async () => {
  const upstream = await openRawUpstream((socket) => {
    socket.once("data", () => {
      socket.pause();
      socket.end("HTTP/1.1 413 Payload Too Large\r\nContent-Length: 5\r\n\r\nlarge");
    });
  });
  const gateway = await openTestGateway(upstream);
  const client = connectRaw(
    gateway.port,
    "POST /up/v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000000\r\n\r\n",
  );
  for (let sent = 0; sent < 20 && !client.text().includes("large"); sent += 1) {
    client.socket.write("x".repeat(65_536));
    await turn();
  }
  expect(await client.until("large")).toMatch(/^HTTP\/1.1 413 Payload Too Large\r\n/);
  client.socket.destroy();
});
