// Goal: who has a key of the gateway may do what the key says, in the words of the provider, and nothing of any key gets further.
// Method: real servers on loopback, requests as SDKs send them.
import { once } from "node:events";
import { gzipSync } from "node:zlib";
import { Anthropic, AuthenticationError } from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { plantedToken } from "../../harness/planted-key.ts";
import { bytesOf, connectRaw, openUpstream } from "./kit.ts";
import { ana, ask, ben, carl, send, serveKeyed, untilCalls, upstreamKey } from "./keys-kit.ts";

const both =
  "{ keys: { ana: { key_env: ANA, user: Ana, team: shop }, ben: { key_env: BEN }, carl: { key_env: CARL } } }";

interface SeenRequest {
  readonly url: string;
  readonly headers: readonly string[];
  readonly body: string;
}

/** Remembers what reaches it. */
async function openSeeing(): Promise<{ readonly url: string; readonly seen: SeenRequest[] }> {
  const seen: SeenRequest[] = [];
  const url = await openUpstream(async (incoming, outgoing) => {
    const body = (await bytesOf(incoming)).toString();
    seen.push({ url: incoming.url ?? "", headers: incoming.rawHeaders, body });
    outgoing.writeHead(200, { "content-type": "application/json" }).end("{}");
  });
  return { url, seen };
}

describe("a client sends its key where its SDK puts the provider's", () => {
  test.each([
    ["x-api-key", { "x-api-key": ana }, ""],
    ["a bearer", { authorization: `Bearer ${ana}` }, ""],
    ["a bearer in lower case", { authorization: `bearer ${ana}` }, ""],
    ["x-goog-api-key", { "x-goog-api-key": ana }, ""],
    ["the query", {}, `&key=${carl}`],
    [
      "two places",
      { "x-api-key": ana, authorization: `Bearer ${plantedToken}`, cookie: plantedToken },
      "",
    ],
  ])("in %s, and the upstream gets its own key alone", async (_place, headers, query) => {
    const { url, seen } = await openSeeing();
    const gateway = await serveKeyed({ gateway: both, upstream: url });
    const body = '{ "model" : "claude-sonnet-4-5",\n"max_tokens": 1e1, "messages": [] }';
    const sent = await send(
      gateway.url,
      `/v1/messages?beta=true${query}`,
      { "anthropic-version": "2023-06-01", ...headers },
      body,
    );
    expect(sent.status).toBe(200);
    const [request] = seen;
    expect(request?.body).toBe(body);
    expect(request?.url).toBe("/v1/messages?beta=true");
    const names = request?.headers
      .filter((_, at) => at % 2 === 0)
      .map((each) => each.toLowerCase());
    expect(names).toEqual(expect.arrayContaining(["anthropic-version", "x-api-key"]));
    for (const name of ["authorization", "x-goog-api-key", "cookie"])
      expect(names).not.toContain(name);
    const at = request?.headers.findIndex((name) => name.toLowerCase() === "x-api-key") ?? -1;
    expect(request?.headers[at + 1]).toBe(upstreamKey);
    expect(request?.headers.join("\n")).not.toContain(ana);
  });
});

describe("without a key that is known", () => {
  test("SDKs read the refusal as the provider's", async () => {
    const gateway = await serveKeyed({ gateway: both });
    const anthropic = new Anthropic({ baseURL: gateway.url, apiKey: plantedToken, maxRetries: 0 });
    const asked = { model: "claude-sonnet-4-5", max_tokens: 9, messages: [] };
    await expect(anthropic.messages.create(asked)).rejects.toThrow(AuthenticationError);
    const openai = new OpenAI({
      baseURL: `${gateway.url}/v1`,
      apiKey: plantedToken,
      maxRetries: 0,
    });
    await expect(openai.responses.create({ model: "gpt-5", input: "Hi" })).rejects.toMatchObject({
      status: 401,
      code: "invalid_api_key",
    });
  });

  test.each([
    ["/v1beta/models/gemini-3.8-flash:generateContent", 401, '"status":"UNAUTHENTICATED"'],
    ["/bedrock/model/claude-sonnet-4-5/converse", 403, "asks for a key"],
    ["/nowhere", 401, '"code":"key_required"'],
    ["/v1/messages", 401, '"authentication_error"'],
  ])("%s is refused before anything else", async (path, status, words) => {
    const gateway = await serveKeyed({ gateway: both });
    const sent = await send(gateway.url, path, {}, {});
    expect(sent).toMatchObject({ status, code: "key_required" });
    expect(sent.body).toContain(words);
  });

  test("the health route says only that it is there; with a key it says more, and nothing of other keys", async () => {
    const gateway = await serveKeyed({
      gateway: "{ keys: { ana: { key_env: ANA, budget: { day_usd: 1 } }, ben: { key_env: BEN } } }",
    });
    const health = async (headers: Record<string, string>): Promise<object> =>
      (await (await fetch(`${gateway.url}/strata/health`, { headers })).json()) as object;
    expect(Object.keys(await health({})).toSorted()).toEqual(["status", "version"]);
    const own = await health({ "x-api-key": ana });
    expect(own).toMatchObject({ key: { name: "ana", spent: { day: "$0" } }, exchanges: {} });
    expect(JSON.stringify(own)).not.toMatch(/"ben"/);
  });

  test("a WebSocket is refused", async () => {
    const gateway = await serveKeyed({ gateway: both });
    const head = "Host: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n";
    const client = connectRaw(gateway.port, `GET /v1/responses HTTP/1.1\r\n${head}\r\n`);
    expect(await client.untilClosed()).toMatch(/^HTTP\/1.1 401[^]*invalid_api_key/);
  });
});

describe("a key with models", () => {
  const limited = "{ keys: { ana: { key_env: ANA, models: [claude-sonnet-4-5, house-model] } } }";

  test("calls them in any spelling, and no other model", async () => {
    const gateway = await serveKeyed({ gateway: limited });
    for (const model of ["claude-sonnet-4-5", "claude-sonnet-4-5-20250929"]) {
      expect(await ask(gateway.url, ana, { model })).toMatchObject({ status: 200 });
    }
    const other = await ask(gateway.url, ana, { model: "claude-opus-4-5" });
    expect(other).toMatchObject({ status: 403, code: "not_allowed" });
    expect(other.body).toContain('"permission_error"');
    expect(other.body).toContain("may not call");
    const fallback = { model: "claude-sonnet-4-5", models: ["claude-opus-4-5"] };
    expect(await ask(gateway.url, ana, fallback)).toMatchObject({ status: 403 });
  });

  test.each([
    [
      "names its model twice",
      '{"model":"claude-opus-4-5","model":"claude-sonnet-4-5","messages":[]}',
    ],
    ["escapes the second name", '{"model":"claude-sonnet-4-5","mod\\u0065l":"claude-opus-4-5"}'],
    ["spells it in capitals, too", '{"model":"claude-sonnet-4-5","MODEL":"claude-opus-4-5"}'],
    ["names none", '{"messages":[]}'],
    ["is no JSON", "model=claude-sonnet-4-5"],
    ["is empty", ""],
  ])("a body that %s goes nowhere", async (_what, body) => {
    const { url, seen } = await openSeeing();
    const gateway = await serveKeyed({ gateway: limited, upstream: url });
    const sent = await send(gateway.url, "/v1/messages", { "x-api-key": ana }, body);
    expect(sent).toMatchObject({ status: 400, code: "body_unread" });
    expect(sent.body).toContain('"invalid_request_error"');
    expect(seen).toEqual([]);
  });

  test("a compressed body is read, and passes as it came", async () => {
    const { url, seen } = await openSeeing();
    const gateway = await serveKeyed({ gateway: limited, upstream: url });
    const zipped = (model: string): Promise<Response> =>
      fetch(`${gateway.url}/v1/messages`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          "content-encoding": "gzip",
          "x-api-key": ana,
        },
        body: gzipSync(JSON.stringify({ model, messages: [] })),
      });
    expect((await zipped("house-model")).status).toBe(200);
    expect((await zipped("claude-opus-4-5")).status).toBe(403);
    expect(seen).toHaveLength(1);
  });

  test("a body that is too long to be read is refused, also in chunks", async () => {
    const { url, seen } = await openSeeing();
    const gateway = await serveKeyed({
      gateway: limited.replace("{ keys", "{ limits: { body_read_bytes_max: 1000 }, keys"),
      upstream: url,
    });
    const long = JSON.stringify({ model: "house-model", text: "x".repeat(2000) });
    const sent = await send(gateway.url, "/v1/messages", { "x-api-key": ana }, long);
    expect(sent).toMatchObject({ status: 413, code: "body_too_large" });
    const head = `Host: localhost\r\nX-Api-Key: ${ana}\r\nTransfer-Encoding: chunked\r\n`;
    const client = connectRaw(gateway.port, `POST /v1/messages HTTP/1.1\r\n${head}\r\n`);
    client.socket.write(`7d0\r\n${"x".repeat(2000)}\r\n`);
    expect(await client.until("body_too_large")).toMatch(/^HTTP\/1.1 413/);
    expect(seen).toEqual([]);
  });
});

describe("what is no model call", () => {
  test.each([
    ["POST", "/v1/files"],
    ["POST", "/v1/messages/batches"],
    ["GET", "/v1/messages/batches"],
    ["GET", "/v1/responses/resp_1"],
    ["DELETE", "/v1/files/1"],
    ["POST", "/v1/messages/../files"],
    ["POST", "/v1/messages/%2e%2e/files"],
  ])("%s %s of a plain key reaches nobody", async (method, path) => {
    const { url, seen } = await openSeeing();
    const gateway = await serveKeyed({ gateway: both, upstream: url });
    const head = `Host: localhost\r\nAnthropic-Version: 1\r\nX-Api-Key: ${ana}\r\nContent-Length: 0\r\n`;
    const client = connectRaw(gateway.port, `${method} /anthropic${path} HTTP/1.1\r\n${head}\r\n`);
    expect(await client.until("}")).toMatch(/^HTTP\/1.1 403[^]*may not/);
    expect(seen).toEqual([]);
  });

  test("passes for a key that may, and lists of models and counts of tokens for every key", async () => {
    const { url, seen } = await openSeeing();
    const gateway = await serveKeyed({
      gateway: "{ keys: { ana: { key_env: ANA, other_requests: true }, ben: { key_env: BEN } } }",
      upstream: url,
    });
    const get = async (path: string, key: string): Promise<number> =>
      (await fetch(`${gateway.url}/anthropic${path}`, { headers: { "x-api-key": key } })).status;
    expect(await get("/v1/files", ana)).toBe(200);
    expect(await get("/v1/models?limit=1000", ben)).toBe(200);
    const counted = await send(gateway.url, "/v1/messages/count_tokens", { "x-api-key": ben }, {});
    expect(counted.status).toBe(200);
    expect(seen).toHaveLength(3);
  });
});

test("a key goes only to the upstreams that it names, and nowhere without the upstream's own key", async () => {
  const { url } = await openSeeing();
  const gateway = await serveKeyed({
    gateway: "{ keys: { ana: { key_env: ANA, upstreams: [anthropic] }, ben: { key_env: BEN } } }",
    upstream: url,
  });
  const body = { model: "gpt-5", messages: [] };
  const asked = (key: string): ReturnType<typeof send> =>
    send(gateway.url, "/v1/chat/completions", { authorization: `Bearer ${key}` }, body);
  expect(await asked(ana)).toMatchObject({ status: 403, code: "not_allowed" });
  expect((await asked(ben)).body).toContain("holds no key for openai");
  expect(await ask(gateway.url, ana)).toMatchObject({ status: 200 });
});

describe("how much a key may ask", () => {
  test("requests per minute: the next one is told when to come again", async () => {
    const gateway = await serveKeyed({
      gateway:
        "{ keys: { ana: { key_env: ANA, rate: { requests_per_minute: 2 } }, ben: { key_env: BEN } } }",
    });
    for (const _ of [1, 2]) expect(await ask(gateway.url, ana)).toMatchObject({ status: 200 });
    const third = await ask(gateway.url, ana);
    expect(third).toMatchObject({ status: 429, code: "rate_limited" });
    expect(Number(third.retryAfter)).toBeGreaterThan(20);
    expect(Number(third.retryAfter)).toBeLessThanOrEqual(30);
    expect(third.body).toContain('"rate_limit_error"');
    expect(await ask(gateway.url, ben)).toMatchObject({ status: 200 });
  });

  test("tokens per minute: what was used is waited for", async () => {
    const gateway = await serveKeyed({
      gateway: "{ keys: { ana: { key_env: ANA, rate: { tokens_per_minute: 1000 } } } }",
    });
    const long = { messages: [{ role: "user", content: "word ".repeat(3000) }] };
    expect(await ask(gateway.url, ana, long)).toMatchObject({ status: 200 });
    expect(await ask(gateway.url, ana)).toMatchObject({ status: 429, code: "rate_limited" });
  });

  test("requests at a time: an open one counts until it ends", async () => {
    const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const url = await openUpstream(async (incoming, outgoing) => {
      incoming.resume();
      begun.resolve();
      await end.promise;
      outgoing.end("{}");
    });
    const gateway = await serveKeyed({
      gateway: "{ keys: { ana: { key_env: ANA, rate: { concurrent: 1 } } } }",
      upstream: url,
    });
    const first = ask(gateway.url, ana);
    await begun.promise;
    expect(await ask(gateway.url, ana)).toMatchObject({ status: 429, retryAfter: "1" });
    end.resolve();
    expect(await first).toMatchObject({ status: 200 });
    expect(await ask(gateway.url, ana)).toMatchObject({ status: 200 });
  });

  test("a client that leaves in its body gives its place back", async () => {
    const gateway = await serveKeyed({
      gateway:
        "{ keys: { ana: { key_env: ANA, models: [claude-sonnet-4-5], rate: { concurrent: 1 } } } }",
    });
    const head = `Host: localhost\r\nX-Api-Key: ${ana}\r\nContent-Length: 100\r\n`;
    const client = connectRaw(gateway.port, `POST /v1/messages HTTP/1.1\r\n${head}\r\n{`);
    await once(client.socket, "connect");
    await expect.poll(async () => (await ask(gateway.url, ana)).status).toBe(429);
    client.socket.destroy();
    await expect.poll(async () => (await ask(gateway.url, ana)).status).toBe(200);
  });
});

/** Writes every prompt anew, whatever it was asked before. */
function openForgetful(): Promise<string> {
  const usage = {
    input_tokens: 9,
    cache_creation_input_tokens: 4000,
    cache_read_input_tokens: 0,
    output_tokens: 3,
  };
  const reply = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "claude-sonnet-4-5",
    content: [{ type: "text", text: "Rules." }],
    stop_reason: "end_turn",
    usage,
  };
  return openUpstream((incoming, outgoing) => {
    incoming.resume();
    outgoing.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(reply));
  });
}

describe.each([false, true])(
  "two keys with the same conversation, optimised: %s",
  (isOptimizing) => {
    test("are two tenants: what one has written is expected for itself alone", async () => {
      const upstream = await openForgetful();
      const gateway = await serveKeyed({ gateway: both, upstream, isOptimizing });
      const cache_control = { type: "ephemeral" };
      const system = [{ type: "text", text: "Rules. ".repeat(2000), cache_control }];
      for (const [at, key] of [ana, ben, ana].entries()) {
        expect(await ask(gateway.url, key, { system })).toMatchObject({ status: 200 });
        await untilCalls(gateway, at + 1);
      }
      const [first, other, again] = gateway.calls;
      expect(first).toMatchObject({ gatewayKey: "ana", user: "Ana", team: "shop", keptBlocks: 0 });
      expect(other).toMatchObject({ gatewayKey: "ben", user: null, team: null, keptBlocks: 0 });
      expect(other?.conversation.callNumber).toBe(1);
      expect(other?.conversation.id).not.toBe(first?.conversation.id);
      expect(other?.explanation).toMatchObject({ expectedReadTokens: 0, lostTokens: 0 });
      expect(again?.conversation).toMatchObject({ id: first?.conversation.id, callNumber: 2 });
      expect(again?.explanation?.lostTokens).toBeGreaterThan(1000);
      expect(new Set(gateway.calls.map(({ account }) => account)).size).toBe(2);
    });
  },
);

test("a changed configuration changes the keys, and a broken one does not", async () => {
  const gateway = await serveKeyed({ gateway: both });
  expect(await ask(gateway.url, ben)).toMatchObject({ status: 200 });
  await gateway.configure("{ keys: { ana: { key_env: ANA } } }");
  expect(await ask(gateway.url, ben)).toMatchObject({ status: 401 });
  await expect(gateway.configure("{ keys: { ana: { key_env: NOT_SET } } }")).rejects.toThrow(
    "names the variable NOT_SET, which is not set",
  );
  expect(await ask(gateway.url, ana)).toMatchObject({ status: 200 });
});

test("where others can reach it, keys stand for the token, and are not taken away by a change", async () => {
  const gateway = await serveKeyed({ gateway: both, host: "0.0.0.0" });
  const url = `http://127.0.0.1:${gateway.port}`;
  expect(await ask(url, ana)).toMatchObject({ status: 200 });
  expect(await ask(url, null)).toMatchObject({ status: 401 });
  await expect(gateway.configure("{}")).rejects.toThrow("has no token");
  expect(await ask(url, null)).toMatchObject({ status: 401 });
});
