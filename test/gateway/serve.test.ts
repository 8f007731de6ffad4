// Goal: `strata serve` starts, follows its configuration and stops as it says. Method: the program in a process of its own.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { plantedKey, plantedToken } from "../../harness/planted-key.ts";
import { strata } from "../../src/cli/test-kit.ts";
import { openLedger } from "../../src/edge/stores/open-ledger.ts";
import { bytesOf, openUpstream } from "./kit.ts";
import { startServe } from "./start-serve.ts";

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "strata-serve-test-"));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

const ask = {
  model: "claude-sonnet-5-5",
  max_tokens: 20,
  messages: [{ role: "user", content: "hi" }],
};

function post(url: string, body: object = ask): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: {
      "x-api-key": plantedKey,
      "anthropic-version": "2023-06-01",
      "content-type": "application/json",
    },
    body: JSON.stringify(body),
  });
}

test("a call is forwarded, told in one line, and in the ledger when the program has ended", async () => {
  const store = join(folder(), "ledger.db");
  const serve = await startServe(["--sim", "--store", store]);
  expect((await post(`${serve.url}/v1/messages`)).status).toBe(200);
  await expect.poll(() => serve.lines().length).toBe(1);
  expect((await fetch(`${serve.url}/nowhere`)).status).toBe(404);
  await expect.poll(() => serve.lines().length).toBe(2);
  expect(serve.lines()).toMatchObject([
    {
      kind: "call",
      model: "claude-sonnet-5-5",
      upstream: "anthropic",
      protocol: "anthropic-messages",
      status: "complete",
      usage: { uncachedTokens: 9 },
      costPicoUsd: expect.stringMatching(/^\d+$/) as string,
    },
    { kind: "exchange", path: "/nowhere", how: "refused", status: 404 },
  ]);
  const health: unknown = await (await fetch(`${serve.url}/strata/health`)).json();
  expect(health).toMatchObject({
    version: expect.stringMatching(/^\d/) as string,
    upstreams: expect.arrayContaining(["anthropic", "openai", "openrouter"]) as string[],
    exchanges: { open: 0, complete: 1, refused: 1 },
    observer: { faults: 0, pausedUntilMs: null },
    ledger: { lostCount: 0, problem: null },
  });
  expect(await serve.stop("SIGTERM")).toBe(0);
  const ledger = await openLedger(store);
  const sessions = await ledger.listSessions({ origin: "gateway" });
  await ledger.close();
  expect(sessions).toMatchObject([{ model: "claude-sonnet-5-5" }]);
});

test("a stop waits for open streams, takes no new ones, and a second one waits no longer", async () => {
  const finish = Promise.withResolvers<void>();
  const upstream = await openUpstream(async (incoming, outgoing) => {
    outgoing.writeHead(200, { "content-type": "text/event-stream" }).write("data: 1\n\n");
    if (incoming.url === "/v1/short") await finish.promise;
    if (incoming.url === "/v1/short") outgoing.end("data: 2\n\n");
  });
  const serve = await startServe(["--upstream", `house=${upstream}`]);
  const open = async (path: string): Promise<NodeJS.ReadableStream> => {
    const sending = request(`${serve.url}/house${path}`, { agent: false }).end();
    return ((await once(sending, "response")) as [NodeJS.ReadableStream])[0];
  };
  const [short, long] = [await open("/v1/short"), await open("/v1/long")];
  await Promise.all([once(short, "data"), once(long, "data")]);
  const ended = once(serve.child, "exit");
  serve.child.kill("SIGTERM");
  await expect.poll(serve.error).toContain("open streams may end");
  await expect(fetch(`${serve.url}/house/v1/new`)).rejects.toThrow("fetch failed");
  finish.resolve();
  expect((await bytesOf(short)).toString()).toBe("data: 2\n\n");
  const cut = bytesOf(long);
  serve.child.kill("SIGTERM");
  await expect(cut).rejects.toThrow("aborted");
  expect(await ended).toEqual([0, null]);
});

test("a changed configuration holds for new requests, open streams go on, and a broken one changes nothing", async () => {
  const changed = Promise.withResolvers<void>();
  const [first, second] = [
    await openUpstream(async (incoming, outgoing) => {
      outgoing.write("first");
      if (incoming.url === "/v1/open") await changed.promise;
      outgoing.end();
    }),
    await openUpstream((_incoming, outgoing) => void outgoing.end("second")),
  ];
  const file = join(folder(), "strata.yaml");
  const write = (url: string): void =>
    writeFileSync(file, `gateway:\n  upstreams:\n    house:\n      base_url: ${url}\n`);
  write(first);
  const serve = await startServe(["--config", file]);
  const answer = async (): Promise<string> => (await fetch(`${serve.url}/house/v1/x`)).text();
  expect(await answer()).toBe("first");
  const open = await fetch(`${serve.url}/house/v1/open`);
  write(second);
  serve.child.kill("SIGHUP");
  await expect.poll(answer).toBe("second");
  changed.resolve();
  expect(await open.text()).toBe("first");
  writeFileSync(file, "gateway:\n  upstreams: 5\n");
  await expect.poll(serve.error).toContain("gateway.upstreams is a single value");
  expect(await answer()).toBe("second");
  write(`http://127.0.0.1:${serve.port}`);
  await expect.poll(serve.error).toContain("the upstream house is the gateway itself");
  expect(await answer()).toBe("second");
});

test("whole requests and answers are kept where asked for, without keys, and replay reads them", async () => {
  const kept = join(folder(), "requests");
  const serve = await startServe(["--sim", "--record", kept]);
  for (const content of ["one", "two"]) {
    await post(`${serve.url}/v1/messages`, { ...ask, messages: [{ role: "user", content }] });
  }
  expect(await serve.stop("SIGTERM")).toBe(0);
  const { status, out, error } = await strata({}, "replay", kept, "--json");
  expect([status, error]).toEqual([0, ""]);
  expect(JSON.parse(out)).toMatchObject({ sessions: 1, requests: 2, skipped: [] });
});

test("a ledger that cannot be written stops no call", async () => {
  const serve = await startServe(["--sim", "--store", "/dev/null/ledger.db"]);
  expect((await post(`${serve.url}/v1/messages`)).status).toBe(200);
  await expect.poll(serve.error).toContain("calls are not recorded, traffic goes on");
  expect((await post(`${serve.url}/v1/messages`)).status).toBe(200);
});

test("the token may be in a file that only its owner can read", async () => {
  const place = folder();
  const [file, token] = [join(place, "strata.yaml"), join(place, "token")];
  writeFileSync(file, "gateway:\n  token_file: token\n");
  writeFileSync(token, `${plantedToken}\n`, { mode: 0o644 });
  chmodSync(token, 0o644);
  const words = ["serve", "--port", "0", "--sim", "--config", file];
  expect(await strata({ STRATA_DATA_DIR: place }, ...words)).toMatchObject({
    status: 5,
    error: expect.stringContaining("can be read by other users") as string,
  });
  chmodSync(token, 0o600);
  const serve = await startServe(["--sim", "--config", file, "--host", "0.0.0.0"]);
  expect((await fetch(`${serve.url}/strata/health`)).status).toBe(401);
  const headers = { "x-strata-token": plantedToken };
  expect((await fetch(`${serve.url}/strata/health`, { headers })).status).toBe(200);
  // What a test leaves behind is searched for secrets.
  writeFileSync(token, "");
});

describe("what cannot be used is refused with what to do", () => {
  test.each([
    [["--port", "x"], 2, "--port is x"],
    [["--port", "65536"], 2, "--port is 65536"],
    [["--upstream", "house"], 2, "--upstream cannot be used"],
    [["--upstream", "v1=http://x"], 2, "--upstream cannot be used"],
    [["--upstream", "house=http://me:mine@x"], 2, "--upstream cannot be used"],
    [["--record", " "], 2, "--record names no folder"],
    [["--host", "0.0.0.0"], 5, "has no token"],
    [
      ["--port", "8791", "--upstream", "house=http://localhost:8791/v1"],
      5,
      "is the gateway itself",
    ],
  ])("%o", async (words, status, message) => {
    const place = folder();
    const config = join(place, "strata.yaml");
    writeFileSync(config, "");
    const ran = await strata({ STRATA_DATA_DIR: place }, "serve", "--config", config, ...words);
    expect(ran.status).toBe(status);
    expect(ran.error).toContain(message);
  });

  test.each([
    ["upstreams: { u: { base_url: 'http://x' } }", "gateway.upstreams.u cannot be the beginning"],
    ["upstreams: { House: { base_url: 'http://x' } }", "cannot be the beginning of a path"],
    ["upstreams: { house: {} }", "gateway.upstreams.house has no base_url"],
    ["upstreams: { house: { base_url: 'ftp://x' } }", "must be an address of http or https"],
    ["upstreams: { house: { base_url: 'http://x', protocol: soap } }", "must be one of anthropic"],
    [
      "upstreams: { house: { base_url: 'http://x', headers: { host: y } } }",
      "header of the connection",
    ],
    ["websockets: relay", "did you mean websocket?"],
    ["tls: { cert_file: /x }", "one of cert_file and key_file"],
  ])("gateway: %s", async (yaml, message) => {
    const place = folder();
    const config = join(place, "strata.yaml");
    writeFileSync(config, `gateway: { ${yaml} }\n`);
    const words = ["serve", "--port", "0", "--sim", "--config", config];
    const ran = await strata({ STRATA_DATA_DIR: place }, ...words);
    expect(ran.status).toBe(5);
    expect(ran.error).toContain(message);
  });
});
