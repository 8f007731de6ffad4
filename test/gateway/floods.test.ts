// Goal: a client that is slow, endless or many is ended, and costs others nothing. Method: raw sockets, one kind of flood each.
import { expect, test } from "vitest";
import { connectRaw, endsOf, openTestGateway, openUpstream, type RawClient } from "./kit.ts";

const head = "Host: localhost\r\n";

/** Drops every body. */
function openDropping(): Promise<string> {
  return openUpstream((incoming, outgoing) => {
    incoming.on("error", () => {}).resume();
    incoming.on("end", () => outgoing.end("reached"));
  });
}

/** Sends the same again and again until the other side ends the connection; resolves with what it said. */
async function pour(client: RawClient, text: string): Promise<string> {
  const more = (): void => {
    if (!client.socket.destroyed && client.socket.write(text)) setImmediate(more);
  };
  client.socket.on("drain", more);
  more();
  return client.untilClosed();
}

test("a connection that says nothing is closed", async () => {
  const gateway = await openTestGateway(await openDropping(), { limits: { headMs: 200 } });
  const client = connectRaw(gateway.port);
  expect(await client.untilClosed()).toMatch(/^HTTP\/1.1 408/);
});

test("headers that come a byte at a time are ended, however steadily", async () => {
  const gateway = await openTestGateway(await openDropping(), { limits: { headMs: 300 } });
  const client = connectRaw(gateway.port, `GET /up/v1/x HTTP/1.1\r\n${head}X-Slow: `);
  const timer = setInterval(() => client.socket.write("a"), 20);
  expect(await client.untilClosed()).toMatch(/^HTTP\/1.1 408/);
  clearInterval(timer);
});

test("a body that comes a byte at a time is ended, however steadily", async () => {
  const gateway = await openTestGateway(await openDropping(), {
    limits: { headMs: 200, bodyIdleMs: 60_000, bodyMs: 400 },
  });
  const length = "Content-Length: 1000000\r\n";
  const client = connectRaw(gateway.port, `POST /up/v1/x HTTP/1.1\r\n${head}${length}\r\n`);
  const timer = setInterval(() => client.socket.write("a"), 20);
  await client.untilClosed();
  clearInterval(timer);
  await expect.poll(() => endsOf(gateway)).toEqual(["client left -"]);
});

test.each([
  ["a header without end", `GET /up/v1/x HTTP/1.1\r\n${head}X-Long: `, "a".repeat(10_000), 431],
  ["headers without end", `GET /up/v1/x HTTP/1.1\r\n${head}`, "x-a: 1\r\n".repeat(500), 431],
  ["a path without end", "GET /up/v1/", "a".repeat(10_000), 431],
  [
    "an extension of a chunk without end",
    `POST /up/v1/x HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n\r\n5;`,
    "a".repeat(10_000),
    413,
  ],
  [
    "trailers without end",
    `POST /up/v1/x HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n\r\n0\r\n`,
    "x-a: 1\r\n".repeat(500),
    431,
  ],
])("%s is ended", async (_what, start, more, status) => {
  const gateway = await openTestGateway(await openDropping());
  const answer = await pour(connectRaw(gateway.port, start), more);
  expect(answer).toMatch(new RegExp(`^$|^HTTP/1.1 (?:${status}|400)`));
  expect(gateway.state().exchanges.complete).toBe(0);
});

test("many small headers are refused before anything looks at them", async () => {
  const gateway = await openTestGateway(await openDropping());
  const many = "a:\r\n".repeat(12_000);
  const client = connectRaw(gateway.port, `GET /up/v1/x HTTP/1.1\r\n${head}${many}\r\n`);
  expect(await client.until("too_many_headers")).toMatch(/^HTTP\/1.1 431/);
  expect(endsOf(gateway)).toEqual(["refused 431"]);
});

test("a body above what is read passes whole, and unread", async () => {
  let bytes = 0;
  const url = await openUpstream((incoming, outgoing) => {
    incoming.on("data", (piece: Buffer) => (bytes += piece.length));
    incoming.on("end", () => outgoing.end("reached"));
  });
  const gateway = await openTestGateway(url, { bodyBytesMax: 1000 });
  const response = await fetch(`${gateway.up}/v1/x`, { method: "POST", body: "x".repeat(500_000) });
  expect(await response.text()).toBe("reached");
  expect(bytes).toBe(500_000);
});

test("a refused client that goes on with its body reads the answer, and is then ended", async () => {
  const gateway = await openTestGateway(await openDropping());
  const length = "Content-Length: 100000000\r\n";
  const client = connectRaw(gateway.port, `POST /nowhere HTTP/1.1\r\n${head}${length}\r\n`);
  const timer = setInterval(() => client.socket.write("a".repeat(1000)), 50);
  expect(await client.until("no_upstream")).toMatch(/^HTTP\/1.1 404/);
  await client.untilClosed();
  clearInterval(timer);
});

test("hundreds of idle and dribbling connections keep nobody out", async () => {
  const gateway = await openTestGateway(await openDropping());
  const started = `GET /up/v1/x HTTP/1.1\r\n${head}X-Slow: `;
  const slow = Array.from({ length: 300 }, (_, at) =>
    connectRaw(gateway.port, at % 2 === 0 ? "" : started),
  );
  await Promise.all(slow.map(({ socket }) => new Promise((done) => socket.once("connect", done))));
  const ask = `GET /up/v1/x HTTP/1.1\r\n${head}\r\n`;
  expect(await connectRaw(gateway.port, ask).until("reached")).toMatch(/^HTTP\/1.1 200/);
  expect(slow.filter(({ socket }) => socket.destroyed)).toEqual([]);
});
