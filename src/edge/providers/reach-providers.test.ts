// Goal: settings reach the wire, and changes reach the next call. Method: servers on this machine, configured in YAML.
import type { IncomingHttpHeaders } from "node:http";
import { afterEach, describe, expect, test } from "vitest";
import { speakOnPurpose } from "../../../harness/watch/on-purpose.ts";
import { plantedKey, plantedOpenaiKey, plantedToken } from "../../../harness/planted-key.ts";
import { encodeOf, planOf } from "../../core/wire/openai/test-kit.ts";
import { resolveModel } from "../../core/models/resolve-model.ts";
import { toRequest, type EncodedRequest } from "../../core/wire/encoded-request.ts";
import { configOf } from "../config/test-kit.ts";
import { reachProviders, type Providers } from "./reach-providers.ts";
import type { Sent } from "./run-attempts.ts";
import { closeAll, closeLater, openHttp } from "./test-kit.ts";

afterEach(closeAll);

const model = resolveModel("claude-sonnet-4-6").facts;

const at = (url: string): string =>
  `providers: { anthropic: { base_url: "${url}", api_key: ${plantedKey} } }`;

interface Seen {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
}

describe("a configured provider", () => {
  test("is called at its address with its key and headers, in its own words", async () => {
    const seen: Seen[] = [];
    const server = await openHttp((request, response) => {
      seen.push({ url: request.url ?? "", headers: request.headers });
      response.writeHead(400, { "content-type": "application/json" }).end("{}");
    });
    const yaml = `
providers:
  anthropic: { base_url: "${server.url}", api_key: ${plantedKey}, headers: { x-team: search } }
  openai: { kind: openai-chat, base_url: "${server.url}/v1", api_key: ${plantedOpenaiKey} }
`;
    const providers = open(() => yaml);
    await send(providers, "claude-sonnet-4-6");
    await send(providers, "gpt-5.5");
    expect(seen.map(({ url }) => url)).toEqual(["/v1/messages", "/v1/chat/completions"]);
    expect(seen[0]?.headers).toMatchObject({ "x-api-key": plantedKey, "x-team": "search" });
    expect(seen[1]?.headers.authorization).toBe(`Bearer ${plantedOpenaiKey}`);
  });

  test("of the Gemini API gets the key in a header, and Vertex a token below its project", async () => {
    const seen: Seen[] = [];
    const server = await openHttp((request, response) => {
      seen.push({ url: request.url ?? "", headers: request.headers });
      response.writeHead(400, { "content-type": "application/json" }).end("{}");
    });
    const place = `${server.url}/v1/projects/p/locations/global`;
    const yaml = `
providers:
  google: { base_url: "${server.url}", api_key: ${plantedKey} }
  vertex: { kind: vertex-gemini, base_url: "${place}", api_key: ${plantedToken} }
`;
    const providers = open(() => yaml);
    await send(providers, "gemini-3.8-flash");
    await send(providers, "vertex/gemini-3.8-flash");
    expect(seen.map(({ url }) => url)).toEqual([
      "/v1beta/models/gemini-3.8-flash:generateContent",
      "/v1/projects/p/locations/global/publishers/google/models/gemini-3.8-flash:generateContent",
    ]);
    expect(seen[0]?.headers).toMatchObject({ "x-goog-api-key": plantedKey });
    expect(seen[1]?.headers).toMatchObject({ authorization: `Bearer ${plantedToken}` });
    expect(seen[1]?.headers).not.toHaveProperty("x-goog-api-key");
  });

  test("is tried again as configured, and its key is in no failure", async () => {
    let asked = 0;
    const server = await openHttp((_request, response) => {
      asked += 1;
      speakOnPurpose(response);
      response
        .writeHead(500, { "content-type": "application/json" })
        .end(`{"error":{"message":"no use for ${plantedKey}"}}`);
    });
    const yaml = `
providers:
  anthropic:
    base_url: ${server.url}
    api_key: ${plantedKey}
    retries: { attempts_max: 3, backoff_ms_base: 1 }
`;
    const sent = await send(
      open(() => yaml),
      "claude-sonnet-4-6",
    );
    expect(asked).toBe(3);
    expect(sent.attempts.map(({ status }) => status)).toEqual([500, 500, 500]);
    expect(JSON.stringify(sent)).toContain("[redacted]");
    expect(JSON.stringify(sent)).not.toContain(plantedKey);
  });
});

describe("while sessions run", () => {
  test("another address holds from the next call on, and one that cannot be used does not", async () => {
    const seen: string[] = [];
    const [one, two] = [
      await openHttp((_request, response) => {
        seen.push("one");
        response.writeHead(400).end();
      }),
      await openHttp((_request, response) => {
        seen.push("two");
        response.writeHead(400).end();
      }),
    ];
    let yaml = at(one.url);
    const notices: string[] = [];
    const { provider } = await open(() => yaml, notices).reach(model);
    const call = { request: anyRequest(), stream: false };
    await provider.send(call);
    yaml = at(two.url);
    await provider.send(call);
    yaml = at("http://localhost:99999");
    await provider.send(call);
    await provider.send(call);
    yaml = at(one.url);
    await provider.send(call);
    expect(seen).toEqual(["one", "two", "two", "two", "one"]);
    expect(notices).toEqual([
      "the provider's base URL is no address of http or https\n  give an address such as https://api.example.com; keys belong into the credentials",
    ]);
  });

  test.each([
    ["one that cannot be used", at("http://localhost:99999")],
    ["one to other words", "providers: { anthropic: { kind: openai-chat } }"],
  ])(
    "a session that was idle through a change and %s is answered as the others",
    async (_name, next) => {
      const server = await openHttp((_request, response) => response.writeHead(413).end());
      let yaml = at(server.url);
      const providers = open(() => yaml);
      const [idle, busy] = [await providers.reach(model), await providers.reach(model)];
      const call = { request: anyRequest(), stream: false };
      await idle.provider.send(call);
      yaml = at(`${server.url}/other`);
      await busy.provider.send(call);
      yaml = next;
      expect((await busy.provider.send(call)).status).toBe(413);
      expect((await idle.provider.send(call)).status).toBe(413);
    },
  );

  test("a call that is under way ends where it began", async () => {
    const arrived = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const server = await openHttp((_request, response) => {
      arrived.resolve();
      void goOn.promise.then(() => response.writeHead(413).end());
    });
    const within = (idleMs: number): string =>
      `providers: { anthropic: { base_url: "${server.url}", timeouts: { idle_ms: ${idleMs} } } }`;
    let yaml = within(5000);
    const { provider } = await open(() => yaml).reach(model);
    const call = { request: anyRequest(), stream: false };
    const first = provider.send(call);
    await arrived.promise;
    yaml = within(6000);
    const second = provider.send(call);
    goOn.resolve();
    expect([(await first).status, (await second).status]).toEqual([413, 413]);
  });
});

describe("without any key", () => {
  test("the simulator answers for every vendor of a protocol, with one notice", async () => {
    const notices: string[] = [];
    const providers = open(() => "{}", notices);
    const claude = await providers.reach(model);
    const gpt = await providers.reach(resolveModel("gpt-6.1-sol").facts);
    expect([claude.isSimulated, claude.protocol.name]).toEqual([true, "anthropic-messages"]);
    expect([gpt.isSimulated, gpt.protocol.name]).toEqual([true, "openai-responses"]);
    const flash = await providers.reach(resolveModel("gemini-3.8-flash").facts);
    expect([flash.isSimulated, flash.protocol.name]).toEqual([true, "gemini"]);
    const { outcome } = await claude.provider.send({ request: anyRequest(), stream: false });
    expect(outcome.kind).toBe("reply");
    expect(notices).toEqual([
      "answers are simulated: no provider has a key. Set ANTHROPIC_API_KEY to ask claude-sonnet-4-6.",
    ]);
  });

  test("a simulator chosen by name brings no advice to set a key", async () => {
    const notices: string[] = [];
    await open(() => "providers: { anthropic: { kind: simulator } }", notices).reach(model);
    expect(notices).toEqual([
      "answers are simulated: providers.anthropic is of the kind simulator.",
    ]);
  });

  test.each([
    ["deepseek-flash", "deepseek"],
    ["openrouter/claude-sonnet-5-5", "openrouter"],
    ["qwen3.7-max", "qwen"],
    ["groq/llama", "groq"],
    ["bedrock/claude-sonnet-5-5", "bedrock"],
    ["vertex/claude-sonnet-5-5", "vertex"],
    ["vertex/gemini-3.8-flash", "gemini"],
  ])("it answers for %s at the paths of %s", async (name, vendor) => {
    const places: (string | null)[] = [];
    const providers = closeLater(
      reachProviders({
        providers: () => configOf("{}").providers,
        simulator: { onCall: ({ surface }) => void places.push(surface) },
      }),
    );
    const { facts } = resolveModel(name);
    const { protocol, provider, isSimulated } = await providers.reach(facts);
    const request = encodeOf({ protocol, model: facts });
    const { outcome } = await provider.send({ request, stream: false });
    expect([isSimulated, outcome.kind, ...places]).toEqual([true, "reply", vendor]);
  });

  test("and for a server on this machine where that is asked for", async () => {
    const yaml = "providers: { ollama: { kind: simulator } }";
    const { facts } = resolveModel("ollama/qwen3:8b");
    const { protocol, provider, isSimulated } = await open(() => yaml).reach(facts);
    const request = encodeOf({ protocol, model: facts });
    const { outcome } = await provider.send({ request, stream: false });
    expect([isSimulated, outcome.kind]).toEqual([true, "reply"]);
  });

  test.each([
    ["a server of one's own that does not", "ollama", "ollama/qwen3:8b", true],
    ["llama.cpp, which says it itself", "llama.cpp", "llama.cpp/gemma", true],
    ["a vendor that is paid", "anthropic", "claude-sonnet-4-6", false],
  ])("the time of reading is known of %s", async (_name, provider, id, isKnown) => {
    const yaml = `providers: { ${provider}: { kind: simulator } }`;
    const { facts } = resolveModel(id);
    const reached = await open(() => yaml).reach(facts);
    const setting = { protocol: reached.protocol, model: facts };
    const request = encodeOf(setting, planOf(), { stream: true });
    const { outcome } = await reached.provider.send({ request, stream: true });
    const { prefillMs } = outcome.kind === "reply" ? outcome.usage : { prefillMs: -1 };
    expect(prefillMs === undefined ? null : prefillMs > 0).toBe(isKnown ? true : null);
  });

  test("a model of an unknown provider is refused", async () => {
    const { facts } = resolveModel("deepseek-chat");
    const unknown = { ...facts, provider: "garage", route: "garage" };
    await expect(open(() => "{}").reach(unknown)).rejects.toThrow(
      "the simulator knows no provider garage, so it does not answer for deepseek-chat",
    );
  });
});

function open(yaml: () => string, notices: string[] = []): Providers {
  return closeLater(
    reachProviders({
      providers: () => configOf(yaml()).providers,
      onNotice: (notice) => void notices.push(notice),
    }),
  );
}

async function send(providers: Providers, name: string): Promise<Sent> {
  const { facts } = resolveModel(name);
  const { provider, protocol } = await providers.reach(facts);
  const request = anyRequest(protocol.path({ model: facts.sentAs ?? name, stream: false }));
  return provider.send({ request, stream: false });
}

function anyRequest(path = "/v1/messages"): EncodedRequest {
  const body =
    '{"model":"claude-sonnet-4-6","max_tokens":300,"messages":[{"role":"user","content":"Hello."}]}';
  return toRequest({
    path,
    parts: [body],
    headers: { "anthropic-version": "2023-06-01" },
  });
}
