import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { connect as connectHttp2, type ClientHttp2Session } from "node:http2";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { openNodeServer, type OpenServer } from "./node-server.ts";

function serve(handler: (request: Request) => Promise<Response>): Promise<OpenServer> {
  return openNodeServer(handler);
}

test("a request arrives whole, and so does its response", async () => {
  const { url, close } = await serve(async (request) =>
    Response.json(
      {
        method: request.method,
        url: request.url,
        header: request.headers.get("x-some"),
        body: await request.text(),
      },
      { status: 418, headers: { "x-answer": "yes" } },
    ),
  );
  const body = "é".repeat(200_000);
  const response = await fetch(`${url}/a/b?c=d`, {
    method: "POST",
    headers: { "x-some": "thing" },
    body,
  });
  expect([response.status, response.headers.get("x-answer")]).toEqual([418, "yes"]);
  expect(await response.json()).toEqual({
    method: "POST",
    url: `${url}/a/b?c=d`,
    header: "thing",
    body,
  });
  await close();
});

test("a client that goes away ends the stream behind its request", async () => {
  const ended = Promise.withResolvers<string>();
  const { url, close } = await serve((request) => {
    request.signal.addEventListener("abort", () => ended.resolve("aborted"));
    const forever = new ReadableStream({
      pull: (controller) => controller.enqueue(new TextEncoder().encode("x".repeat(1000))),
    });
    return Promise.resolve(new Response(forever));
  });
  const response = await fetch(url);
  await response.body?.cancel();
  expect(await ended.promise).toBe("aborted");
  await close();
});

test("a stream waits for a client that reads slowly", async () => {
  let pulled = 0;
  const { url, close } = await serve(() => {
    const chunk = new Uint8Array(65_536);
    const forever = new ReadableStream(
      {
        pull: (controller) => {
          pulled += 1;
          controller.enqueue(chunk);
        },
      },
      { highWaterMark: 0 },
    );
    return Promise.resolve(new Response(forever));
  });
  const incoming = httpRequest(url).end();
  const [message] = (await once(incoming, "response")) as [NodeJS.ReadableStream];
  message.pause();
  // Until the buffers between the two are full: less than 100 MB.
  for (let before = -1; before !== pulled;) {
    before = pulled;
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(pulled).toBeLessThan(1600);
  }
  incoming.destroy();
  await close();
});

test("a stream that breaks drops the connection after what it has sent", async () => {
  const { url, close } = await serve(() => {
    let sent = 0;
    const broken = new ReadableStream({
      pull: (controller) => {
        sent += 1;
        if (sent === 1) controller.enqueue(new TextEncoder().encode("half"));
        else controller.error(new Error("cut"));
      },
    });
    return Promise.resolve(new Response(broken));
  });
  const response = await fetch(url);
  const reader = response.body?.getReader();
  expect(new TextDecoder().decode((await reader?.read())?.value)).toBe("half");
  await expect(reader?.read()).rejects.toThrow("terminated");
  await close();
});

test("closing ends open streams and frees the port", async () => {
  const { url, port, close } = await serve(() =>
    Promise.resolve(new Response(new ReadableStream({ pull: () => new Promise(() => {}) }))),
  );
  const response = await fetch(url);
  const reading = response.text();
  await Promise.all([expect(reading).rejects.toThrow("terminated"), close()]);
  const again = await openNodeServer(() => Promise.resolve(new Response("here")), { port });
  expect(again.port).toBe(port);
  await again.close();
});

test("a body that is not read does not disturb the next request", async () => {
  const { url, close } = await serve(() => Promise.resolve(new Response("no")));
  for (let index = 0; index < 3; index += 1) {
    const response = await fetch(url, { method: "POST", body: "x".repeat(3_000_000) });
    expect(await response.text()).toBe("no");
  }
  await close();
});

test("a body of which only the beginning is read does not either", async () => {
  const { url, close } = await serve(async (request) => {
    const reader = request.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    return new Response("enough");
  });
  for (let index = 0; index < 3; index += 1) {
    const response = await fetch(url, { method: "POST", body: "x".repeat(3_000_000) });
    expect(await response.text()).toBe("enough");
  }
  await close();
});

test.each([
  ["another form of target", "GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n"],
  ["a broken host", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n"],
  ["no host", "GET / HTTP/1.0\r\n\r\n"],
  ["no host where one is needed", "GET / HTTP/1.1\r\nConnection: close\r\n\r\n"],
  ["no HTTP", "hello\r\n\r\n"],
])("%s is refused or dropped, and the server lives", async (_name, text) => {
  const { url, port, close } = await serve((request) =>
    Promise.resolve(new Response(new URL(request.url).hostname)),
  );
  const socket = connect(port, "127.0.0.1");
  let answer = "";
  socket.on("data", (data) => (answer += String(data)));
  socket.end(text);
  await once(socket, "close");
  expect(answer).toMatch(/^$|^HTTP\/1.1 400[^]*"message":"the path or the host|unknown\.invalid/);
  expect(await (await fetch(url)).text()).toBe("127.0.0.1");
  await close();
});

test("a path cannot choose the host", async () => {
  const { port, close } = await serve((request) =>
    Promise.resolve(new Response(new URL(request.url).hostname)),
  );
  const socket = connect(port, "127.0.0.1");
  let answer = "";
  socket.on("data", (data) => (answer += String(data)));
  socket.end("GET //localhost/x HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n");
  await once(socket, "close");
  expect(answer).toContain("evil.example");
  await close();
});

test.each(["0.0.0.0", "::", "192.168.1.2", "example.com"])(
  "it does not listen where others could reach it: %s",
  async (host) => {
    await expect(openNodeServer(() => Promise.resolve(new Response("")), { host })).rejects.toThrow(
      "listens on this machine only",
    );
  },
);

test("a port that is taken is an error one can act on", async () => {
  const { port, close } = await serve(() => Promise.resolve(new Response("")));
  await expect(openNodeServer(() => Promise.resolve(new Response("")), { port })).rejects.toThrow(
    `cannot listen on 127.0.0.1:${port}`,
  );
  await close();
});

interface Http2Answer {
  readonly status: unknown;
  readonly body: string;
}

function askHttp2(session: ClientHttp2Session, path: string, body: string): Promise<Http2Answer> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ":method": "POST", ":path": path, "x-some": "thing" });
    const chunks: Buffer[] = [];
    let status: unknown;
    stream.on("response", (headers) => {
      status = headers[":status"];
    });
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("end", () => resolve({ status, body: Buffer.concat(chunks).toString() }));
    stream.on("error", reject);
    stream.end(body);
  });
}

test("HTTP/2 without TLS is served on the same port, several requests on one connection", async () => {
  const { url, close } = await serve(async (request) => {
    const { host } = new URL(request.url);
    const text = await request.text();
    return Response.json({ host, url: request.url, some: request.headers.get("x-some"), text });
  });
  const session = connectHttp2(url);
  const body = "é".repeat(200_000);
  const answers = await Promise.all([
    askHttp2(session, "/a?b=c", body),
    askHttp2(session, "/b", "two"),
  ]);
  const host = url.slice("http://".length);
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  expect(answers.map((answer): unknown => JSON.parse(answer.body))).toEqual([
    { host, url: `${url}/a?b=c`, some: "thing", text: body },
    { host, url: `${url}/b`, some: "thing", text: "two" },
  ]);
  expect((await fetch(url, { method: "POST", body: "one" })).status).toBe(200);
  session.close();
  await close();
});

test("a stream that is cut fails over HTTP/2 too, and the connection stays", async () => {
  const { url, close } = await serve(async (request) => {
    if ((await request.text()) === "whole") return new Response("whole");
    let pulled = 0;
    return new Response(
      new ReadableStream({
        pull: (controller) => {
          pulled += 1;
          if (pulled === 1) controller.enqueue(new TextEncoder().encode("half"));
          else controller.error(new Error("cut"));
        },
      }),
    );
  });
  const session = connectHttp2(url);
  await expect(askHttp2(session, "/", "cut")).rejects.toThrow(/INTERNAL_ERROR/);
  expect(await askHttp2(session, "/", "whole")).toEqual({ status: 200, body: "whole" });
  session.close();
  await close();
});

test("a server that closes ends connections of HTTP/2", async () => {
  const { url, close } = await serve(() => new Promise(() => {}));
  const session = connectHttp2(url);
  session.on("error", () => {});
  const ended = once(session, "close");
  const asked = askHttp2(session, "/", "").then(
    () => "answered",
    () => "failed",
  );
  await once(session, "remoteSettings");
  await close();
  await ended;
  expect(await asked).not.toBe("pending");
});
