// Goal: our bytes arrive as they are, and whatever a server does with them comes back as a value.
// Method: servers on loopback that answer well, badly, slowly, too much or not at all.
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { setImmediate } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { plantedKey } from "../../../harness/planted-key.ts";
import type { StreamPart } from "../../core/wire/reply.ts";
import {
  closeAll,
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

afterEach(closeAll);

const once = { retries: { attemptsMax: 1 } };

describe("a request", () => {
  test("arrives byte for byte, with its length, its headers and the credentials", async () => {
    let seen: unknown;
    const server = await openHttp(({ bytes, headers, method, url }, response) => {
      const { host: _host, connection: _connection, ...rest } = headers;
      seen = { method, url, text: bytes.toString(), headers: rest };
      response.end('{"text":"hi"}');
    });
    const request = {
      ...toyRequest('{"a":', new Uint8Array([0xc3, 0xbc]), "}"),
      headers: { "x-version": "7" },
    };
    const { outcome } = await openProvider(server.url).send({ request, stream: false });
    expect(textOf(outcome)).toBe("hi");
    expect(seen).toEqual({
      method: "POST",
      url: "/v1/toy",
      text: '{"a":ü}',
      headers: {
        "user-agent": "strata-context",
        accept: "application/json",
        "accept-encoding": "identity",
        "content-type": "application/json",
        "content-length": "8",
        "x-api-key": plantedKey,
        "x-version": "7",
      },
    });
  });

  test("goes out piece by piece: the very bytes that were given, never joined", async () => {
    const server = await openHttp((_request, response) => response.end('{"text":"hi"}'));
    const pieces = [new Uint8Array(5_000_000).fill(32), new Uint8Array(1), new Uint8Array(70_000)];
    const request = { ...toyRequest(), pieces, byteLength: 5_070_001 };
    const chunks: unknown[] = [];
    const onChunk = (message: unknown): void => {
      if (typeof message === "object" && message !== null && "chunk" in message)
        chunks.push(message.chunk);
    };
    subscribe("undici:request:bodyChunkSent", onChunk);
    await openProvider(server.url).send({ request, stream: false });
    unsubscribe("undici:request:bodyChunkSent", onChunk);
    expect(chunks.map((chunk) => pieces.findIndex((piece) => piece === chunk))).toEqual([0, 1, 2]);
  });

  test("with a wrong length is our mistake, and stops before it is sent", async () => {
    const server = await openHttp((_request, response) => response.end('{"text":"hi"}'));
    const request = { ...toyRequest("{}"), byteLength: 3 };
    await expect(openProvider(server.url).send({ request, stream: false })).rejects.toThrow(
      "the request's byteLength is not the length of its pieces",
    );
  });

  test("takes the connection of the one before", async () => {
    const server = await openHttp((_request, response, index) => {
      if (index % 2 === 0) response.end('{"text":"hi"}');
      else
        sendEvents(
          response.on("error", () => {}),
          textEvent("hi"),
          endEvent,
        );
      response.end();
    });
    const provider = openProvider(server.url);
    for (const stream of [false, true, false, true]) {
      const { outcome } = await provider.send({ request: toyRequest(), stream });
      expect(textOf(outcome)).toBe("hi");
      await setImmediate();
    }
    expect(server.connectionCount()).toBe(1);
  });

  test("does not wait for others that are under way", async () => {
    const server = await openHttp(({ bytes }, response) => response.end(bytes));
    const provider = openProvider(server.url);
    const texts = Array.from({ length: 50 }, (_each, index) => `{"text":"${index}"}`);
    const sent = await Promise.all(
      texts.map((text) => provider.send({ request: toyRequest(text), stream: false })),
    );
    expect(sent.map(({ outcome }) => textOf(outcome))).toEqual(
      Array.from({ length: 50 }, (_each, index) => String(index)),
    );
  });
});

describe("a stream", () => {
  test("is read the same when every byte comes alone", async () => {
    const stream = `: hello\r\n\r\n${textEvent("grüß 🦔 ")}${textEvent("日本")}${endEvent}`;
    const server = await openTcp((socket) => {
      socket.setNoDelay(true);
      socket.write(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n",
      );
      const bytes = Buffer.from(stream);
      const step = (at: number): void => {
        const byte = bytes.subarray(at, at + 1);
        if (byte.length === 0) return void socket.write("0\r\n\r\n");
        socket.write(Buffer.concat([Buffer.from("1\r\n"), byte, Buffer.from("\r\n")]), () =>
          step(at + 1),
        );
      };
      step(0);
    });
    const parts: StreamPart[] = [];
    const { outcome, status } = await openProvider(server.url, once).send({
      request: toyRequest(),
      stream: true,
      onPart: (part) => parts.push(part),
    });
    expect(outcome).toMatchObject({ kind: "reply", status: "complete" });
    expect(textOf(outcome)).toBe("grüß 🦔 日本");
    expect(parts).toEqual([
      { type: "text", text: "grüß 🦔 " },
      { type: "text", text: "日本" },
    ]);
    expect(status).toBe(200);
  });

  test("that comes though none was asked for is read as one, and the other way round", async () => {
    const server = await openHttp((_request, response, index) => {
      if (index === 0) sendEvents(response, textEvent("streamed"), endEvent);
      response.end(index === 0 ? "" : '{"text":"whole"}');
    });
    const provider = openProvider(server.url, once);
    const first = await provider.send({ request: toyRequest(), stream: false });
    const second = await provider.send({ request: toyRequest(), stream: true });
    expect([textOf(first.outcome), textOf(second.outcome)]).toEqual(["streamed", "whole"]);
  });

  test.each([
    ["resets the connection", "resetAndDestroy"],
    ["closes it", "destroy"],
  ] as const)("that a server %s in the middle of gives what came", async (_name, how) => {
    const read = Promise.withResolvers<void>();
    const server = await openHttp((_request, response) => {
      sendEvents(response, `${textEvent("half a ")}data: {"text":"rep`);
      // A reset also takes away what the client has not read yet.
      void read.promise.then(() => response.socket?.[how]());
    });
    const parts: StreamPart[] = [];
    const sent = await openProvider(server.url).send({
      request: toyRequest(),
      stream: true,
      onPart: (part) => {
        parts.push(part);
        read.resolve();
      },
    });
    expect(sent.outcome).toMatchObject({
      kind: "reply",
      status: "partial",
      failure: {
        kind: "unreachable",
        detail: expect.stringMatching(/^stream cut after 44 bytes: /),
      },
    });
    expect(textOf(sent.outcome)).toBe("half a ");
    expect(parts).toEqual([{ type: "text", text: "half a " }]);
    expect(sent.attempts).toHaveLength(1);
  });

  test("that ends too early is partial, also when it ends politely", async () => {
    const server = await openHttp((_request, response) => {
      sendEvents(response, textEvent("half"));
      response.end();
    });
    const { outcome } = await openProvider(server.url).send({
      request: toyRequest(),
      stream: true,
    });
    expect(outcome).toMatchObject({
      status: "partial",
      failure: {
        kind: "unreachable",
        detail: "stream cut after 23 bytes: it ended before the reply did",
      },
    });
  });

  test("that ends politely without any event is no answer", async () => {
    const server = await openHttp((_request, response) => {
      sendEvents(response, ": hello\n\n");
      response.end();
    });
    const { outcome } = await openProvider(server.url, once).send({
      request: toyRequest(),
      stream: true,
    });
    expect(outcome).toEqual({
      kind: "unreachable",
      detail: "stream cut after 9 bytes: it ended before the reply did",
    });
  });

  test("that is over stays over when the connection breaks behind it", async () => {
    const read = Promise.withResolvers<void>();
    const server = await openHttp((_request, response) => {
      sendEvents(response, textEvent("all") + endEvent);
      void read.promise.then(() => response.socket?.resetAndDestroy());
    });
    const { outcome } = await openProvider(server.url, once).send({
      request: toyRequest(),
      stream: true,
      onPart: () => read.resolve(),
    });
    expect(outcome).toMatchObject({ kind: "reply", status: "complete" });
    expect(outcome).not.toHaveProperty("failure");
  });

  test("whose reader throws ends the call with that error, and the connection", async () => {
    let isClosed = false;
    const server = await openHttp((_request, response) => {
      response.on("close", () => (isClosed = true));
      sendEvents(response, textEvent("one"), textEvent("two"));
    });
    const problem = new Error("the screen is gone");
    const sending = openProvider(server.url).send({
      request: toyRequest(),
      stream: true,
      onPart: () => {
        throw problem;
      },
    });
    await expect(sending).rejects.toBe(problem);
    await until(() => isClosed);
  });
});

describe("a server that", () => {
  test("is not there is unreachable", async () => {
    const server = await openHttp(() => {});
    await server.close();
    const sent = await openProvider(server.url, once).send({
      request: toyRequest(),
      stream: false,
    });
    expect(sent).toMatchObject({
      outcome: { kind: "unreachable", detail: `connect ECONNREFUSED 127.0.0.1:${server.port}` },
      status: null,
      firstByteMs: null,
      requestId: null,
      headers: {},
    });
  });

  test.each([
    ["closes without a word", ""],
    ["closes inside its headers", "HTTP/1.1 200 OK\r\ncontent-le"],
  ])("%s is unreachable", async (_name, words) => {
    const server = await openTcp((socket) => socket.end(words));
    const { outcome } = await openProvider(server.url, once).send({
      request: toyRequest(),
      stream: false,
    });
    expect(outcome).toEqual({ kind: "unreachable", detail: "other side closed (UND_ERR_SOCKET)" });
  });

  test("speaks something else is malformed", async () => {
    const server = await openTcp((socket) => socket.end("SSH-2.0-OpenSSH_9.9\r\n"));
    const { outcome } = await openProvider(server.url, once).send({
      request: toyRequest(),
      stream: false,
    });
    expect(outcome).toEqual({
      kind: "malformed",
      detail: "Response does not match the HTTP/1.1 protocol (Expected HTTP/, RTSP/ or ICE/)",
    });
  });

  test("sends headers without end is malformed", async () => {
    const server = await openTcp((socket) =>
      socket.write(`HTTP/1.1 200 OK\r\nx-long: ${"x".repeat(100_000)}`),
    );
    const { outcome } = await openProvider(server.url, once).send({
      request: toyRequest(),
      stream: false,
    });
    expect(outcome).toEqual({ kind: "malformed", detail: "the answer's headers are too large" });
  });

  test("breaks off a whole reply is unreachable, with how far it came", async () => {
    const server = await openTcp((socket) =>
      socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"text":"ha'),
    );
    const sent = await openProvider(server.url, once).send({
      request: toyRequest(),
      stream: false,
    });
    expect(sent.outcome).toEqual({
      kind: "unreachable",
      detail: "reply cut after 11 bytes: other side closed (UND_ERR_SOCKET)",
    });
    expect(sent.status).toBe(200);
  });

  test("breaks off a refusal has its status read", async () => {
    const server = await openTcp((socket) =>
      socket.end("HTTP/1.1 429 No\r\nretry-after: 7\r\ncontent-length: 100\r\n\r\nslow do"),
    );
    const { outcome } = await openProvider(server.url, once).send({
      request: toyRequest(),
      stream: false,
    });
    expect(outcome).toEqual({ kind: "rate-limited", detail: "slow do", retryAfterMs: 7_000 });
  });

  test("refuses a long request before it has read it is heard", async () => {
    const server = await openTcp((socket) => {
      socket.write("HTTP/1.1 413 No\r\ncontent-length: 8\r\nconnection: close\r\n\r\ntoo long");
      socket.resume();
    });
    const pieces = Array.from({ length: 40 }, () => new Uint8Array(500_000).fill(32));
    const request = { ...toyRequest(), pieces, byteLength: 20_000_000 };
    const { outcome } = await openProvider(server.url, once).send({ request, stream: false });
    expect(outcome).toEqual({ kind: "request-too-large", detail: "too long" });
  });

  test("redirects is not followed", async () => {
    let count = 0;
    const server = await openHttp((_request, response) => {
      count += 1;
      response.writeHead(307, { location: "/elsewhere" }).end();
    });
    const sent = await openProvider(server.url).send({ request: toyRequest(), stream: false });
    expect(sent.outcome).toEqual({
      kind: "malformed",
      detail: "redirected with status 307, and redirects are not followed",
    });
    expect([count, sent.status]).toEqual([1, 307]);
  });

  test("compresses what it was asked not to is malformed, and a refusal keeps its status", async () => {
    const server = await openHttp((_request, response, index) => {
      response.writeHead(index === 0 ? 200 : 500, { "content-encoding": "gzip" }).end("\x1f\x8b");
    });
    const provider = openProvider(server.url, once);
    const first = await provider.send({ request: toyRequest(), stream: false });
    const second = await provider.send({ request: toyRequest(), stream: false });
    expect(first.outcome).toEqual({
      kind: "malformed",
      detail: "the answer is compressed (gzip), which was not asked for",
    });
    expect(second.outcome).toEqual({ kind: "server-error", detail: "", retryAfterMs: undefined });
  });

  test("sends a hundred megabytes is stopped at the limit", async () => {
    const chunk = Buffer.alloc(1_000_000, 32);
    let sentBytes = 0;
    let isClosed = false;
    const server = await openHttp((_request, response) => {
      response.on("close", () => (isClosed = true));
      const more = (): void => {
        if (sentBytes >= 100_000_000 || isClosed) return void response.end();
        sentBytes += chunk.length;
        response.write(chunk, () => void setImmediate().then(more));
      };
      more();
    });
    const { outcome } = await openProvider(server.url, { ...once, bodyBytesMax: 3_000_000 }).send({
      request: toyRequest(),
      stream: false,
    });
    expect(outcome).toEqual({
      kind: "malformed",
      detail: "the answer is larger than 3000000 bytes",
    });
    await until(() => isClosed);
    expect(sentBytes).toBeLessThan(50_000_000);
  });

  test("streams without end is stopped at the limit, and what came is kept", async () => {
    const server = await openHttp((_request, response) => {
      sendEvents(response, textEvent("start"), `: ${"x".repeat(2_000)}\n\n`, textEvent("end"));
    });
    const { outcome } = await openProvider(server.url, { bodyBytesMax: 1_000 }).send({
      request: toyRequest(),
      stream: true,
    });
    expect(outcome).toMatchObject({
      kind: "reply",
      status: "partial",
      failure: { kind: "malformed", detail: "the answer is larger than 1000 bytes" },
    });
    expect(textOf(outcome)).toBe("start");
  });

  test("answers with headers in any case has them in lower case", async () => {
    const server = await openTcp((socket) =>
      socket.write(
        "HTTP/1.1 200 OK\r\nX-Request-ID: req_1\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nContent-Length: 13\r\n\r\n" +
          '{"text":"hi"}',
      ),
    );
    const sent = await openProvider(server.url, once).send({
      request: toyRequest(),
      stream: false,
    });
    expect(sent.requestId).toBe("req_1");
    expect(sent.headers).toEqual({
      "x-request-id": "req_1",
      "set-cookie": "a=1, b=2",
      "content-length": "13",
    });
  });
});
