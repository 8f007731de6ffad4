// Goal: nothing comes in that must not, and nothing odd gets through. Method: requests written by hand.
import { connect } from "node:net";
import { describe, expect, test } from "vitest";
import { plantedToken } from "../../harness/planted-key.ts";
import { connectRaw, endsOf, openTestGateway, openUpstream } from "./kit.ts";

/** Counts what reaches it. */
async function openCounting(): Promise<{ readonly url: string; readonly asked: string[] }> {
  const asked: string[] = [];
  const url = await openUpstream((incoming, outgoing) => {
    asked.push(`${incoming.method} ${incoming.url}`);
    incoming.resume().on("end", () => outgoing.end("reached"));
  });
  return { url, asked };
}

const head = "Host: localhost\r\n";

test("what follows a request in an unknown coding is taken for no request of its own", async () => {
  const { url, asked } = await openCounting();
  const gateway = await openTestGateway(url);
  const client = connectRaw(
    gateway.port,
    `POST /up/v1/x HTTP/1.1\r\n${head}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\nGET /up/smuggled HTTP/1.1\r\n${head}\r\n`,
  );
  const answers = await client.untilClosed();
  expect(answers).toMatch(/^HTTP\/1.1 501[^]*connection: close/i);
  expect(answers.match(/HTTP\/1.1/g)).toHaveLength(1);
  expect(asked).toEqual([]);
});

describe("a request that two servers could read in two ways is refused", () => {
  test.each([
    [
      "a length and chunks",
      `POST /up/v1/x HTTP/1.1\r\n${head}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      /^HTTP\/1.1 400/,
    ],
    [
      "two lengths",
      `POST /up/v1/x HTTP/1.1\r\n${head}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!`,
      /^HTTP\/1.1 400/,
    ],
    [
      "a length that is no number",
      `POST /up/v1/x HTTP/1.1\r\n${head}Content-Length: 5x\r\n\r\nhello`,
      /^HTTP\/1.1 400/,
    ],
    [
      "chunks inside another coding",
      `POST /up/v1/x HTTP/1.1\r\n${head}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
      /^HTTP\/1.1 501[^]*transfer_coding/,
    ],
    [
      "a coding that is not the last",
      `POST /up/v1/x HTTP/1.1\r\n${head}Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n`,
      /^HTTP\/1.1 400/,
    ],
    [
      "a space before the colon",
      `POST /up/v1/x HTTP/1.1\r\n${head}Content-Length : 5\r\n\r\nhello`,
      /^HTTP\/1.1 400/,
    ],
    [
      "a bare line feed",
      `POST /up/v1/x HTTP/1.1\nHost: localhost\nContent-Length: 5\n\nhello`,
      /^HTTP\/1.1 400/,
    ],
    [
      "a header on two lines",
      `GET /up/v1/x HTTP/1.1\r\n${head}X-A: 1\r\n Content-Length: 5\r\n\r\n`,
      /^HTTP\/1.1 400/,
    ],
    [
      "another server's address",
      `GET http://evil.example/up/v1/x HTTP/1.1\r\n${head}\r\n`,
      /^HTTP\/1.1 400[^]*bad_request/,
    ],
    ["no host", "GET /up/v1/x HTTP/1.1\r\n\r\n", /^HTTP\/1.1 400/],
  ])("%s", async (_what, text, expected) => {
    const { url, asked } = await openCounting();
    const gateway = await openTestGateway(url);
    const client = connectRaw(gateway.port, text);
    await client.until("\r\n\r\n");
    expect(client.text()).toMatch(expected);
    expect(asked).toEqual([]);
  });

  test.each(["zz\r\nhello", "5\r\nhelloX\r\n0\r\n\r\n", "-1\r\n\r\n"])(
    "a body with the broken chunk %o never becomes a whole one",
    async (chunks) => {
      let ended = 0;
      const url = await openUpstream((incoming) => {
        incoming.on("error", () => {}).resume();
        incoming.on("end", () => (ended += 1));
      });
      const gateway = await openTestGateway(url);
      const client = connectRaw(
        gateway.port,
        `POST /up/v1/x HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n${chunks}`,
      );
      await client.untilClosed();
      expect(client.text()).toMatch(/^$|^HTTP\/1.1 400/);
      await expect.poll(() => endsOf(gateway)).toEqual(["client left -"]);
      expect(ended).toBe(0);
    },
  );
});

test("headers that are too long are answered 431", async () => {
  const { url, asked } = await openCounting();
  const gateway = await openTestGateway(url, { limits: { headerBytesMax: 2000 } });
  const client = connectRaw(
    gateway.port,
    `GET /up/v1/x HTTP/1.1\r\n${head}X-A: ${"a".repeat(3000)}\r\n\r\n`,
  );
  await client.until("HTTP/1.1 431");
  expect(asked).toEqual([]);
});

test("no header is dropped for being one of many", async () => {
  let count = 0;
  const url = await openUpstream((incoming, outgoing) => {
    count = incoming.rawHeaders.filter((name) => name.startsWith("x-")).length;
    outgoing.end();
  });
  const gateway = await openTestGateway(url);
  const many = Array.from({ length: 2500 }, (_, at) => `x-${at}: 1\r\n`).join("");
  await connectRaw(gateway.port, `GET /up/v1/x HTTP/1.1\r\n${head}${many}\r\n`).until("200 OK");
  expect(count).toBe(2500);
});

test("a client that dribbles its headers, or stops in its body, is cut off", async () => {
  const { url, asked } = await openCounting();
  const gateway = await openTestGateway(url, { limits: { headMs: 200, bodyIdleMs: 200 } });
  const slow = connectRaw(gateway.port, `GET /up/v1/x HTTP/1.1\r\n${head}`);
  expect(await slow.untilClosed()).toMatch(/^HTTP\/1.1 408/);
  const stuck = connectRaw(
    gateway.port,
    `POST /up/v1/x HTTP/1.1\r\n${head}Content-Length: 10\r\n\r\nhalf`,
  );
  await stuck.untilClosed();
  expect(asked).toEqual([]);
  await expect.poll(() => endsOf(gateway)).toEqual(["client left -"]);
});

test("connections above the limit are closed, and the others stay", async () => {
  const { url } = await openCounting();
  const gateway = await openTestGateway(url, { limits: { connectionsMax: 2 } });
  const ask = `GET /up/v1/x HTTP/1.1\r\n${head}\r\n`;
  const kept = [connectRaw(gateway.port, ask), connectRaw(gateway.port, ask)];
  for (const each of kept) await each.until("reached");
  expect(await connectRaw(gateway.port, ask).untilClosed()).toBe("");
  kept[0]?.socket.write(ask);
  await kept[0]?.until("reachedHTTP/1.1 200 OK");
});

describe("on this machine", () => {
  test("it answers at both loopback addresses, at one port", async () => {
    const { url } = await openCounting();
    const gateway = await openTestGateway(url);
    expect(gateway.urls).toEqual([
      `http://127.0.0.1:${gateway.port}`,
      `http://[::1]:${gateway.port}`,
    ]);
    for (const each of gateway.urls) {
      expect(await (await fetch(`${each}/up/v1/x`)).text()).toBe("reached");
    }
  });

  test.each([
    ["Host: evil.example", "foreign_host"],
    ["Host: 127.0.0.1.evil.example", "foreign_host"],
    ["Host: 192.168.1.2:8787", "foreign_host"],
    ["Host: localhost\r\nOrigin: https://evil.example", "foreign_origin"],
    ["Host: localhost\r\nOrigin: null", "foreign_origin"],
    ["Host: localhost\r\nSec-Fetch-Site: cross-site", "foreign_origin"],
  ])("a web page that sends %o is refused", async (lines, code) => {
    const { url, asked } = await openCounting();
    const gateway = await openTestGateway(url);
    const client = connectRaw(gateway.port, `GET /up/v1/x HTTP/1.1\r\n${lines}\r\n\r\n`);
    expect(await client.until(code)).toMatch(/^HTTP\/1.1 403 Forbidden\r\n/);
    expect(asked).toEqual([]);
    expect(endsOf(gateway)).toEqual(["refused 403"]);
  });

  test.each(["localhost:1", "127.0.0.1:99", "127.8.8.8", "[::1]:8787", "LOCALHOST"])(
    "a program that calls it %s is answered",
    async (host) => {
      const { url } = await openCounting();
      const gateway = await openTestGateway(url);
      const text = `GET /up/v1/x HTTP/1.1\r\nHost: ${host}\r\nOrigin: http://localhost:3000\r\n\r\n`;
      expect(await connectRaw(gateway.port, text).until("reached")).toMatch(/^HTTP\/1.1 200 OK/);
    },
  );
});

describe("where others can reach it", () => {
  test("it does not listen without a token", async () => {
    await expect(openTestGateway("http://127.0.0.1:1", { host: "0.0.0.0" })).rejects.toThrow(
      "has no token",
    );
  });

  test("only who sends the token comes in, under any name of the host, and the token goes no further", async () => {
    const seen: (string | undefined)[] = [];
    const url = await openUpstream((incoming, outgoing) => {
      seen.push(incoming.headers["x-strata-token"]?.toString());
      outgoing.end("reached");
    });
    const gateway = await openTestGateway(url, { host: "0.0.0.0", token: plantedToken });
    const ask = async (path: string, token?: string): Promise<string> => {
      const response = await fetch(`http://127.0.0.1:${gateway.port}${path}`, {
        headers: token === undefined ? {} : { "x-strata-token": token },
      });
      return `${response.status} ${response.headers.get("x-strata-error")}`;
    };
    expect(await ask("/up/v1/x")).toBe("401 token_required");
    expect(await ask("/up/v1/x", `${plantedToken}1`)).toBe("401 token_required");
    expect(await ask("/strata/health")).toBe("401 token_required");
    expect(await ask("/up/v1/x", plantedToken)).toBe("200 null");
    expect(await ask("/strata/health", plantedToken)).toBe("200 null");
    const text = `GET /up/v1/x HTTP/1.1\r\nHost: gateway.house\r\nX-Strata-Token: ${plantedToken}\r\n\r\n`;
    await connectRaw(gateway.port, text).until("reached");
    expect(seen).toEqual([undefined, undefined]);
  });
});

test("a port that is taken at either address is an error one can act on", async () => {
  const { url } = await openCounting();
  const { port } = await openTestGateway(url);
  await expect(openTestGateway(url, { port })).rejects.toThrow(
    `cannot listen on 127.0.0.1:${port}`,
  );
});

test("it ends open exchanges when its time to drain is over, and answers those that end before", async () => {
  const url = await openUpstream((incoming, outgoing) => {
    outgoing.write("begun ");
    if (incoming.url === "/v1/short") setTimeout(() => outgoing.end("ended"), 100);
  });
  const gateway = await openTestGateway(url);
  const ask = (path: string): ReturnType<typeof connectRaw> =>
    connectRaw(gateway.port, `GET /up/v1/${path} HTTP/1.1\r\n${head}\r\n`);
  const [short, long] = [ask("short"), ask("long")];
  await Promise.all([short.until("begun"), long.until("begun")]);
  const closing = gateway.close(500);
  await short.until("ended");
  const refused = connect(gateway.port, "127.0.0.1");
  await new Promise((resolve) => refused.on("error", resolve));
  await closing;
  expect(await long.untilClosed()).not.toContain("\r\n0\r\n");
  expect(endsOf(gateway)).toEqual(["complete 200", "client left 200"]);
});
