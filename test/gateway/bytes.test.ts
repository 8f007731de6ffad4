// Goal: the gateway changes nothing. Method: a server and a client that write their own bytes, and compare them.
import { once } from "node:events";
import * as http from "node:http";
import { text } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { plantedKey } from "../../harness/planted-key.ts";
import {
  bytesOf,
  connectRaw,
  endsOf,
  openRawUpstream,
  openTestGateway,
  openUpstream,
  sha256,
} from "./kit.ts";

/** What JSON libraries change: order of keys, numbers, escapes, spaces, line ends. */
const oddJson =
  '{ "b":1.0,\r\n\t"a":1e3, "10":0, "2":12345678901234567890, "t":"\\u00e9é\\/😀\u2028",  "a":2 }\n';

test("a request arrives with its path, its headers in order and spelling, and its body to the byte", async () => {
  const seen = Promise.withResolvers<string>();
  const upstream = await openRawUpstream((socket) => {
    let all = "";
    socket.setEncoding("latin1").on("data", (data) => {
      all += String(data);
      if (!all.endsWith("}\n")) return;
      seen.resolve(all);
      socket.end("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
    });
  });
  const gateway = await openTestGateway(upstream);
  const body = Buffer.from(oddJson);
  const client = connectRaw(
    gateway.port,
    [
      "POST /up/v1/messages?beta=true&x=%2F%zz&& HTTP/1.1",
      "Host: localhost:1",
      `X-Api-Key: ${plantedKey}`,
      "ANTHROPIC-Beta: one,two",
      "x-Odd:   spaces inside  stay  ",
      "anthropic-beta: three",
      "X-Strata-Token: ours",
      "Connection: keep-alive, X-Hop",
      "X-Hop: 1",
      "TE: trailers",
      "Proxy-Connection: keep-alive",
      "10: a name that looks like a number",
      "Accept-Encoding: gzip, br",
      `Content-Length: ${body.length}`,
      "",
      body.toString("latin1"),
    ].join("\r\n"),
  );
  await client.until("200 OK");
  expect((await seen.promise).split("\r\n\r\n")[0]?.split("\r\n")).toEqual([
    "POST /v1/messages?beta=true&x=%2F%zz&& HTTP/1.1",
    `host: ${upstream.slice("http://".length)}`,
    "connection: keep-alive",
    `X-Api-Key: ${plantedKey}`,
    "ANTHROPIC-Beta: one,two",
    "x-Odd: spaces inside  stay",
    "anthropic-beta: three",
    "10: a name that looks like a number",
    "Accept-Encoding: gzip, br",
    `content-length: ${body.length}`,
  ]);
  const sent = (await seen.promise).split("\r\n\r\n").slice(1).join("\r\n\r\n");
  expect(sha256(Buffer.from(sent, "latin1"))).toBe(sha256(body));
});

test("an answer arrives with its status line, its headers in order and spelling, and its body to the byte", async () => {
  const upstream = await openRawUpstream((socket) => {
    socket.once("data", () => {
      socket.end(
        Buffer.concat([
          Buffer.from(
            [
              "HTTP/1.1 529 Site Is Overloaded",
              "Request-Id: req_1",
              "Set-Cookie: a=1",
              "x-RateLimit: 5",
              "Set-Cookie: b=2",
              "Keep-Alive: timeout=9",
              "Connection: close, X-Hop",
              "X-Hop: 1",
              "retry-after: 7",
              `Content-Length: ${Buffer.byteLength(oddJson)}`,
              "\r\n",
            ].join("\r\n"),
          ),
          Buffer.from(oddJson),
        ]),
      );
    });
  });
  const gateway = await openTestGateway(upstream);
  const client = connectRaw(
    gateway.port,
    "GET /up/v1/models HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
  );
  const [head = "", ...rest] = (await client.untilClosed()).split("\r\n\r\n");
  expect(head.split("\r\n")).toEqual([
    "HTTP/1.1 529 Site Is Overloaded",
    "Request-Id: req_1",
    "Set-Cookie: a=1",
    "x-RateLimit: 5",
    "Set-Cookie: b=2",
    "retry-after: 7",
    `Content-Length: ${Buffer.byteLength(oddJson)}`,
    "Connection: close",
  ]);
  expect(Buffer.from(rest.join("\r\n\r\n"), "latin1").toString()).toBe(oddJson);
});

test("compressed bodies pass as they are, both ways", async () => {
  const [question, answer] = [gzipSync(oddJson.repeat(50)), gzipSync(oddJson.repeat(90))];
  let asked = "";
  const upstream = await openUpstream(async (incoming, outgoing) => {
    asked = sha256(await bytesOf(incoming));
    outgoing.writeHead(200, { "content-encoding": "gzip" }).end(answer);
  });
  const gateway = await openTestGateway(upstream);
  const sending = http.request(`${gateway.up}/v1/messages`, {
    method: "POST",
    headers: { "content-encoding": "gzip" },
  });
  sending.end(question);
  const [got] = (await once(sending, "response")) as [http.IncomingMessage];
  expect(got.headers["content-encoding"]).toBe("gzip");
  expect(sha256(await bytesOf(got))).toBe(sha256(answer));
  expect(asked).toBe(sha256(question));
});

test.each([
  ["GET", null],
  ["HEAD", null],
  ["DELETE", null],
  ["DELETE", "a body"],
  ["PATCH", "a body"],
  ["PUT", ""],
  ["POST", ""],
  ["OPTIONS", null],
])("%s with the body %o arrives, and so does its answer", async (method, body) => {
  const upstream = await openUpstream(async (incoming, outgoing) => {
    const told = `${incoming.method} ${incoming.url} ${await text(incoming)}`;
    outgoing.writeHead(200, { "x-told": told, "content-length": 4 }).end("done");
  });
  const gateway = await openTestGateway(upstream);
  const response = await fetch(`${gateway.up}/v1/files/1`, {
    method,
    ...(body === null ? {} : { body }),
  });
  expect(response.headers.get("x-told")).toBe(`${method} /v1/files/1 ${body ?? ""}`);
  expect(response.headers.get("content-length")).toBe("4");
  expect(await response.text()).toBe(method === "HEAD" ? "" : "done");
  expect(endsOf(gateway)).toEqual(["complete 200"]);
});

test("a chunked body stays one, whole and in order", async () => {
  const upstream = await openUpstream(async (incoming, outgoing) => {
    const { headers } = incoming;
    outgoing.end(`${headers["transfer-encoding"]} ${sha256(await bytesOf(incoming))}`);
  });
  const gateway = await openTestGateway(upstream);
  const pieces = Array.from({ length: 500 }, (_, at) => `${at},`.repeat(at));
  const sending = http.request(`${gateway.up}/v1/messages`, { method: "POST" });
  for (const piece of pieces) sending.write(piece);
  sending.end();
  const [got] = (await once(sending, "response")) as [http.IncomingMessage];
  expect(await text(got)).toBe(`chunked ${sha256(pieces.join(""))}`);
});

test("answers without a body, and trailers, stay what they are", async () => {
  const upstream = await openUpstream((incoming, outgoing) => {
    if (incoming.url === "/trailers") {
      outgoing.writeHead(200, { Trailer: "X-Sum" });
      outgoing.write("body");
      outgoing.addTrailers([
        ["X-Sum", "1"],
        ["X-Sum", "2"],
      ]);
      return void outgoing.end();
    }
    outgoing.writeHead(incoming.url === "/304" ? 304 : 204, { etag: '"1"' }).end();
  });
  const gateway = await openTestGateway(upstream);
  for (const status of [204, 304]) {
    const response = await fetch(`${gateway.up}/${status}`);
    expect([response.status, response.headers.get("etag"), await response.text()]).toEqual([
      status,
      '"1"',
      "",
    ]);
  }
  const client = connectRaw(
    gateway.port,
    "GET /up/trailers HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
  );
  expect(await client.untilClosed()).toMatch(
    /Trailer: X-Sum\r\n[^]*0\r\nX-Sum: 1\r\nX-Sum: 2\r\n\r\n$/,
  );
});

test("a client that asks whether to send its body is told so before it sends", async () => {
  const upstream = await openUpstream(async (incoming, outgoing) => {
    outgoing.end(`${incoming.headers.expect ?? "none"} ${await text(incoming)}`);
  });
  const gateway = await openTestGateway(upstream);
  const head =
    "HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n";
  const client = connectRaw(gateway.port, `POST /up/v1/messages ${head}`);
  await client.until("HTTP/1.1 100 Continue\r\n\r\n");
  client.socket.write("hello");
  expect(await client.untilClosed()).toContain("none hello");

  // A request that goes nowhere must not be asked for its body first.
  const lost = connectRaw(gateway.port, `POST /nowhere ${head}`);
  await lost.until("404 Not Found");
  expect(lost.text()).not.toContain("100 Continue");
});

function pipelined(body: string, more = ""): string {
  return `POST /up/v1/messages HTTP/1.1\r\nHost: localhost\r\n${more}Content-Length: ${body.length}\r\n\r\n${body}`;
}

test("requests that come at once on one connection are answered in their order", async () => {
  const slow = Promise.withResolvers<void>();
  const arrived: string[] = [];
  const upstream = await openUpstream(async (incoming, outgoing) => {
    const body = await text(incoming);
    arrived.push(body);
    if (body === "first") await slow.promise;
    else slow.resolve();
    outgoing.end(`answer to ${body}`);
  });
  const gateway = await openTestGateway(upstream);
  const client = connectRaw(
    gateway.port,
    pipelined("first") + pipelined("second") + pipelined("third", "Connection: close\r\n"),
  );
  const answers = [...(await client.untilClosed()).matchAll(/answer to (first|second|third)/g)].map(
    ([, name]) => name,
  );
  expect(answers).toEqual(["first", "second", "third"]);
  expect(arrived.toSorted()).toEqual(["first", "second", "third"]);
});

describe("headers of the upstream's configuration", () => {
  test("replace the client's of the same name, and no other", async () => {
    const upstream = await openUpstream((incoming, outgoing) => {
      outgoing.end(JSON.stringify([incoming.headers.authorization, incoming.headers["x-title"]]));
    });
    const headers = new Map([["Authorization", "Bearer house"]]);
    const gateway = await openTestGateway({ baseUrl: upstream, headers });
    const response = await fetch(`${gateway.up}/v1/models`, {
      headers: { authorization: "Bearer mine", "x-title": "mine" },
    });
    expect(await response.json()).toEqual(["Bearer house", "mine"]);
  });
});
