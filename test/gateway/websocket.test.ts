// Goal: a WebSocket is relayed as raw bytes, or refused where configured. Method: both ends write their own frames.
import { once } from "node:events";
import type { Socket } from "node:net";
import { expect, test } from "vitest";
import { connectRaw, endsOf, openRawUpstream, openTestGateway, openUpstream } from "./kit.ts";

const upgrade = [
  "GET /up/v1/responses HTTP/1.1",
  "Host: localhost",
  "Connection: Upgrade",
  "Upgrade: websocket",
  "Sec-WebSocket-Version: 13",
  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
  "openai-beta: responses_websockets=2026-02-06",
  "\r\n",
].join("\r\n");

const agreed = [
  "HTTP/1.1 101 Switching Protocols",
  "Upgrade: websocket",
  "Connection: Upgrade",
  "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=",
  "X-Request-Id: 7",
  "\r\n",
].join("\r\n");

interface Agreeing {
  readonly url: string;
  /** The upstream's end, when the upgrade was asked for, with the request's head. */
  readonly asked: Promise<{ readonly head: string; readonly socket: Socket }>;
}

async function openAgreeing(answer: string): Promise<Agreeing> {
  const asked = Promise.withResolvers<{ head: string; socket: Socket }>();
  const url = await openRawUpstream((socket) => {
    socket.once("data", (data) => {
      socket.write(answer);
      asked.resolve({ head: String(data), socket });
    });
  });
  return { url, asked: asked.promise };
}

test("the upgrade and every byte after it pass, both ways, until one side ends", async () => {
  const upstream = await openAgreeing(`${agreed}first frame`);
  const gateway = await openTestGateway(upstream.url);
  const client = connectRaw(gateway.port, `${upgrade}early frame`);
  await client.until("first frame");
  expect(client.text()).toBe(`${agreed}first frame`);
  const { head, socket } = await upstream.asked;
  expect(head.split("\r\n").slice(0, 8)).toEqual([
    "GET /v1/responses HTTP/1.1",
    `host: ${upstream.url.slice("http://".length)}`,
    "connection: upgrade",
    "upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    "openai-beta: responses_websockets=2026-02-06",
    "",
  ]);
  let got = head.split("\r\n\r\n")[1] ?? "";
  socket.on("data", (data) => (got += String(data)));
  await expect.poll(() => got).toBe("early frame");
  client.socket.write("\x81\x02hi");
  await expect.poll(() => got).toBe("early frame\x81\x02hi");
  expect(gateway.state().exchanges.open).toBe(1);
  socket.end("last frame");
  expect(await client.untilClosed()).toMatch(/last frame$/);
  await expect.poll(() => endsOf(gateway)).toEqual(["complete 101"]);
});

test("a client that leaves ends the connection to the upstream", async () => {
  const upstream = await openAgreeing(agreed);
  const gateway = await openTestGateway(upstream.url);
  const client = connectRaw(gateway.port, upgrade);
  await client.until("X-Request-Id: 7");
  const { socket } = await upstream.asked;
  const closed = once(socket, "close");
  client.socket.destroy();
  await closed;
  await expect.poll(() => endsOf(gateway)).toEqual(["complete 101"]);
});

test("an upstream that does not agree answers in its own words", async () => {
  const upstream = await openUpstream((_incoming, outgoing) => {
    outgoing.writeHead(401, { "x-reason": "key" }).end("no key");
  });
  const gateway = await openTestGateway(upstream);
  const client = connectRaw(gateway.port, upgrade);
  const text = await client.untilClosed();
  expect(text).toMatch(/^HTTP\/1.1 401 Unauthorized\r\nx-reason: key\r\n/);
  expect(text).toContain("no key");
  expect(endsOf(gateway)).toEqual(["complete 401"]);
});

test("an upstream that cannot be reached is reported", async () => {
  const gateway = await openTestGateway("http://127.0.0.1:1");
  expect(await connectRaw(gateway.port, upgrade).untilClosed()).toMatch(
    /^HTTP\/1.1 502 Bad Gateway[^]*upstream_unreachable/,
  );
});

test("where WebSockets are refused the answer is 426, by which a client changes to HTTP", async () => {
  const gateway = await openTestGateway("http://127.0.0.1:1", { websocket: "refuse" });
  const client = connectRaw(gateway.port, upgrade);
  expect(await client.until("websocket_refused")).toMatch(
    /^HTTP\/1.1 426 Upgrade Required[^]*upgrade: websocket\r\n/,
  );
});

test("a web page may not open one either", async () => {
  const gateway = await openTestGateway("http://127.0.0.1:1");
  const text = upgrade.replace(
    "Host: localhost",
    "Host: localhost\r\nOrigin: https://evil.example",
  );
  expect(await connectRaw(gateway.port, text).untilClosed()).toMatch(
    /^HTTP\/1.1 403[^]*foreign_origin/,
  );
});

test("a request that offers another protocol is forwarded without the offer", async () => {
  let offered: string | undefined = "";
  const upstream = await openUpstream((incoming, outgoing) => {
    offered = incoming.headers.upgrade;
    incoming.resume().on("end", () => outgoing.end("plain"));
  });
  const gateway = await openTestGateway(upstream);
  const text =
    "POST /up/v1/messages HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\nContent-Length: 2\r\n\r\n{}";
  await connectRaw(gateway.port, text).until("plain");
  expect(offered).toBeUndefined();
});
