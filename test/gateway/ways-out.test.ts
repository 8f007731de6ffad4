// Goal: upstreams are reached as the machine's owner arranged it. Method: a proxy and a certificate of the test's own.
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import * as https from "node:https";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, expect, onTestFinished, test } from "vitest";
import { connectRaw, openTestGateway, openUpstream } from "./kit.ts";
import { createSelfSigned, type SelfSigned } from "./self-signed.ts";
import { startServe } from "./start-serve.ts";

interface TestProxy {
  readonly url: string;
  readonly asked: string[];
}

/** Sends everything to one port, whatever name was asked for. It never answers a request for a tunnel without a port. */
async function openProxy(port: number | null): Promise<TestProxy> {
  const asked: string[] = [];
  const sockets = new Set<Duplex>();
  const server = createServer((incoming, outgoing) => {
    asked.push(`${incoming.method} ${incoming.url}`);
    const { pathname, search } = new URL(incoming.url ?? "");
    const { method, rawHeaders: headers } = incoming;
    const on = request({ port, path: pathname + search, method, headers }, (got) => {
      got.pipe(outgoing.writeHead(got.statusCode ?? 0, got.rawHeaders));
    });
    incoming.pipe(on);
  });
  server.on("connect", (incoming, socket) => {
    asked.push(`${incoming.method} ${incoming.url}`);
    sockets.add(socket);
    if (port === null) return;
    const on = connect(port, "127.0.0.1");
    on.on("error", () => socket.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    for (const socket of sockets) socket.destroy();
    await closed;
  });
  const address = server.address();
  return { url: `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`, asked };
}

async function openTlsUpstream({ cert, key }: SelfSigned): Promise<number> {
  const server = https.createServer({ cert, key }, (incoming, outgoing) => {
    void text(incoming).then((body) => outgoing.end(`encrypted ${body}`));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
  });
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

describe("a proxy that the environment names", () => {
  test("is asked for every upstream, with headers that repeat and in any case", async () => {
    let raw: readonly string[] = [];
    const upstream = await openUpstream((incoming, outgoing) => {
      raw = incoming.rawHeaders.filter((word) => /^(?:x-a|X-B|1|2|3)$/i.test(word));
      outgoing.end("through the proxy");
    });
    const proxy = await openProxy(Number(new URL(upstream).port));
    const gateway = await openTestGateway("http://llm.invalid/v1", {
      env: { http_proxy: proxy.url },
    });
    const client = connectRaw(
      gateway.port,
      "GET /up/v1/models?a=b HTTP/1.1\r\nHost: localhost\r\nx-a: 1\r\nX-B: 2\r\nx-a: 3\r\n\r\n",
    );
    await client.until("through the proxy");
    expect(proxy.asked).toEqual(["GET http://llm.invalid/v1/models?a=b"]);
    expect(raw).toEqual(["x-a", "1", "x-a", "3", "X-B", "2"]);
  });

  test.each([
    ["cannot reach the upstream", 1, "502 upstream_unreachable"],
    ["does not answer", null, "504 upstream_timeout"],
  ])("tunnels encrypted requests; that it %s is reported", async (_what, port, expected) => {
    const proxy = await openProxy(port);
    const env = { HTTPS_PROXY: proxy.url };
    const gateway = await openTestGateway("https://llm.invalid", { env, connectMsMax: 300 });
    const response = await fetch(`${gateway.up}/v1/models`);
    expect(`${response.status} ${response.headers.get("x-strata-error")}`).toBe(expected);
    expect(proxy.asked[0]).toBe("CONNECT llm.invalid:443");
  });

  test("is passed by for this machine, and for the names in NO_PROXY", async () => {
    const upstream = await openUpstream((_incoming, outgoing) => void outgoing.end("direct"));
    const env = { HTTP_PROXY: "http://127.0.0.1:1", NO_PROXY: "llm.invalid" };
    const gateway = await openTestGateway(upstream, { env });
    expect(await (await fetch(`${gateway.up}/v1/models`)).text()).toBe("direct");
    const other = await openTestGateway("http://llm.invalid", { env });
    const { error } = (await (await fetch(`${other.up}/v1/models`)).json()) as {
      error: { message: string };
    };
    expect(error.message).toContain("ENOTFOUND");
  });
});

describe("certificates", () => {
  test("of the owner's own authority are accepted with NODE_EXTRA_CA_CERTS, and refused without", async () => {
    const folder = mkdtempSync(join(tmpdir(), "strata-ca-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const made = createSelfSigned();
    const port = await openTlsUpstream(made);
    const file = join(folder, "ca.pem");
    writeFileSync(file, made.cert);
    const words = ["--upstream", `house=https://localhost:${port}`];
    const trusting = await startServe(words, { NODE_EXTRA_CA_CERTS: file });
    const post = { method: "POST", body: "question" };
    const answer = await fetch(`${trusting.url}/house/v1/messages`, post);
    expect(await answer.text()).toBe("encrypted question");
    const wary = await startServe(words);
    const refused = await fetch(`${wary.url}/house/v1/messages`, post);
    expect(refused.status).toBe(502);
    expect(await refused.text()).toContain("self-signed certificate");
  });

  test("of the gateway encrypt what clients send", async () => {
    const upstream = await openUpstream((_incoming, outgoing) => void outgoing.end("reached"));
    const tls = createSelfSigned();
    const gateway = await openTestGateway(upstream, { tls });
    expect(gateway.urls[0]).toMatch(/^https:/);
    const sending = https.get(`https://localhost:${gateway.port}/up/v1/models`, {
      ca: tls.cert,
      agent: false,
    });
    const [got] = (await once(sending, "response")) as [NodeJS.ReadableStream];
    expect(await text(got)).toBe("reached");
  });
});
