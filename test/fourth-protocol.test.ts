// Goal: a new protocol is a folder and a row. Method: a fourth one, made up here, goes through everything that asks the
// rows: recognising, reading, sending, counting, replaying. Nothing in src knows of it.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { plantedKey } from "../harness/planted-key.ts";
import { cheapCounter } from "../src/core/tokens/cheap-counter.ts";
import { toEndpoint } from "../src/core/wire/access.ts";
import { toRequest } from "../src/core/wire/encoded-request.ts";
import { readRequest } from "../src/core/wire/foreign/read-request.ts";
import { findProtocolCalled } from "../src/core/wire/foreign/recognise-protocol.ts";
import type { Protocol } from "../src/core/wire/protocol.ts";
import { protocols } from "../src/core/wire/protocols.ts";
import { createCounter } from "../src/edge/counters/counter.ts";
import { createProvider, type Provider } from "../src/edge/providers/provider.ts";
import { createEngine, openLedger } from "../src/index.ts";
import { createDrafting } from "../src/replay/readers/block-draft.ts";
import { detectFormat } from "../src/replay/readers/detect-format.ts";
import { createRun } from "../src/replay/readers/run.ts";
import { parley } from "./fourth-protocol/parley.ts";
import { parleyEffects, serveParley, type ParleyServer } from "./fourth-protocol/serve.ts";

const rows: readonly Protocol[] = [...protocols, parley];
const body = '{"rules":["Be brief."],"talk":[{"who":"user","say":"Hello."}]}';
const address = { path: "https://api.parley.test/v1/models/parley-2:talk", headers: {} };

describe("somebody else's request", () => {
  test("is recognised and read, with the model that its path names", () => {
    const request = readRequest(body, { address, protocols: rows });
    expect([request.protocol, request.model, request.mode]).toEqual([
      "parley",
      "parley-2",
      "implicit",
    ]);
    expect(request.blocks.map(({ path, role, text }) => [path, role, text])).toEqual([
      ["talk.0", "user", "Hello."],
    ]);
    expect(findProtocolCalled("parley-v2", rows)).toBe(parley);
  });

  test("is none that can be read as long as there is no row, and is named among those once there is", () => {
    expect(() => readRequest(body, { address })).toThrow("not a request that Strata can read");
    const hint =
      'give a JSON object with "messages" (Messages, Chat Completions, Bedrock Converse, Bedrock InvokeModel, Vertex rawPredict) or "input" (Responses) or "contents" (Gemini) or "talk" (Parley)';
    expect(() => readRequest("{}", { protocols: rows })).toThrow(expect.objectContaining({ hint }));
  });

  test("of the others is read as before", () => {
    const chat = '{"model":"gpt-5.5","messages":[{"role":"user","content":"Hello."}]}';
    expect(readRequest(chat, { protocols: rows }).protocol).toBe(readRequest(chat).protocol);
  });
});

test("a log of its requests is replayed", () => {
  const line = {
    time: 1_770_000_000,
    request: { url: address.path, body: JSON.parse(body) as unknown },
    response: { body: { say: "Yes.", tokens: { asked: 9, kept: 4, said: 1 } } },
  };
  const drafting = createDrafting(cheapCounter, true);
  const source = { file: "a.jsonl", drafting, run: createRun(), protocols: rows };
  const reader = detectFormat(line, rows)?.(source);
  const counted = { ...line, request: { ...line.request, url: "/v1/models/parley-2:count" } };
  expect([...(reader?.read(line, 1) ?? []), ...(reader?.read(counted, 2) ?? [])]).toMatchObject([
    { type: "session", session: { format: "request-log", wire: "parley" } },
    {
      type: "request",
      request: {
        model: "parley-2",
        startMs: 1_770_000_000_000,
        append: [{ role: "user", kind: "text", excerpt: "Hello." }],
        usage: { uncachedTokens: 5, cacheReadTokens: 4, outputTokens: 1 },
      },
    },
    { type: "skipped", reason: "it only counts tokens" },
  ]);
});

describe("a provider that speaks it", () => {
  let server: ParleyServer;
  let provider: Provider;
  beforeEach(async () => {
    server = await serveParley();
    provider = openProvider(server.url, parley);
  });
  afterEach(async () => {
    await provider.close();
    server.close();
  });

  test("is sent turns of a session: path by model and stream, key as declared, signed, read line by line", async () => {
    const ledger = await openLedger(":memory:");
    const engine = createEngine(
      { model: "gpt-5.5", options: { stream: true, outputTokensMax: 100 } },
      { ledger, counter: cheapCounter, reach: () => ({ protocol: parley, provider }) },
    );
    const session = await engine.open();
    const first = await session.run("Hello.").result;
    const second = await session.run("And now?").result;
    await engine.close();
    await ledger.close();
    expect([first.end, second.end]).toEqual(["done", "done"]);
    expect(server.seen.map(({ url }) => url)).toEqual([
      "/v1/models/gpt-5.5:stream?form=lines",
      "/v1/models/gpt-5.5:stream?form=lines",
    ]);
    expect(server.seen[0]?.headers["x-parley-key"]).toBe(`Key ${plantedKey}`);
    const talk = readRequest(server.seen[1]?.body ?? "", { protocols: rows, protocol: parley });
    expect(talk.blocks.slice(0, 2).map(({ role, text }) => [role, text])).toEqual([
      ["user", "Hello."],
      ["assistant", "Good morning."],
    ]);
    expect(second.calls[0]?.usage).toMatchObject({ cacheReadTokens: 5, uncachedTokens: 7 });
  });

  test("counts, where the protocol says how", async () => {
    const counter = createCounter({
      backend: "auto",
      protocol: parley,
      hasKey: true,
      openSender: (counting) => openProvider(server.url, counting),
      textCounter: cheapCounter,
    });
    const request = toRequest({
      path: parley.path({ model: "gpt-5.5", stream: false }),
      parts: [body],
    });
    expect(await counter.count({ request })).toMatchObject({
      tokens: 7,
      backend: "parley_api",
      source: "provider",
    });
    expect(server.seen.map(({ url }) => url)).toEqual(["/v1/models/gpt-5.5:count"]);
    await counter.close();
  });

  test("is not sent anything unsigned where nobody brings the effects it declares", () => {
    const endpoint = toEndpoint(parley.access, { apiKey: plantedKey, baseUrl: server.url });
    expect(() => createProvider({ protocol: parley, ...endpoint })).toThrow(
      'the protocol parley needs the effects "parley", and this provider was not given them',
    );
  });
});

function openProvider(baseUrl: string, protocol: Protocol): Provider {
  const endpoint = toEndpoint(protocol.access, { apiKey: plantedKey, baseUrl });
  return createProvider({ protocol, effects: parleyEffects, ...endpoint });
}
