// Goal: a model that names a cloud is asked there, in its place, by the protocol that serves it. Method: servers on this machine.
import { afterEach, expect, test } from "vitest";
import { plantedToken } from "../../../harness/planted-key.ts";
import { resolveModel } from "../../core/models/resolve-model.ts";
import { toRequest } from "../../core/wire/encoded-request.ts";
import type { Protocol } from "../../core/wire/protocol.ts";
import { configOf } from "../config/test-kit.ts";
import { reachProviders } from "./reach-providers.ts";
import { closeAll, closeLater, openHttp } from "./test-kit.ts";

afterEach(closeAll);

interface Asked {
  readonly protocol: string;
  readonly isSimulated: boolean;
  /** What the server on this machine got: path and authorization. */
  readonly seen: readonly string[];
  readonly notices: readonly string[];
}

/** `HERE` in variables and configuration stands for the server. */
async function ask(
  name: string,
  env: Readonly<Record<string, string>>,
  yaml = "{}",
  asked?: Protocol,
): Promise<Asked> {
  const seen: string[] = [];
  const notices: string[] = [];
  const server = await openHttp((request, response) => {
    seen.push(`${request.url} ${request.headers.authorization ?? ""}`);
    response.writeHead(400, { "content-type": "application/json" }).end("{}");
  });
  const here = (text: string): string => text.replaceAll("HERE", server.url);
  const variables = Object.entries(env).map(([key, value]) => [key, here(value)] as const);
  const config = configOf(here(yaml), { env: Object.fromEntries(variables) });
  const onNotice = (notice: string): void => void notices.push(notice);
  const providers = closeLater(reachProviders({ providers: () => config.providers, onNotice }));
  const { facts } = resolveModel(name);
  const { protocol, provider, isSimulated } = await providers.reach(facts, asked);
  const model = facts.sentAs ?? facts.id;
  const request = toRequest({ path: protocol.path({ model, stream: false }), parts: ["{}"] });
  await provider.send({ request, stream: false });
  return { protocol: protocol.name, isSimulated, seen, notices };
}

const bearer = `Bearer ${plantedToken}`;

test("Bedrock is asked by Converse, and by InvokeModel if it is configured so", async () => {
  const env = {
    AWS_BEARER_TOKEN_BEDROCK: plantedToken,
    AWS_REGION: "eu-central-1",
    AWS_ENDPOINT_URL_BEDROCK_RUNTIME: "HERE",
  };
  expect(await ask("bedrock/claude-haiku-4-5", env)).toEqual({
    protocol: "bedrock-converse",
    isSimulated: false,
    seen: [`/model/global.anthropic.claude-haiku-4-5-20251001-v1%3A0/converse ${bearer}`],
    notices: [],
  });
  const invoke = "providers: { bedrock: { kind: bedrock-invoke } }";
  expect(await ask("bedrock/eu.anthropic.claude-sonnet-5-5", env, invoke)).toMatchObject({
    protocol: "bedrock-invoke",
    seen: [`/model/eu.anthropic.claude-sonnet-5-5/invoke ${bearer}`],
  });
});

test.each(["HERE", "HERE/v1", "HERE/v1/projects/p/locations/global/publishers/anthropic"])(
  "Claude on Vertex is asked in its project, whether the base URL %s ends before or after it",
  async (url) => {
    const env = {
      CLOUDSDK_AUTH_ACCESS_TOKEN: plantedToken,
      GOOGLE_CLOUD_PROJECT: "p",
      GOOGLE_CLOUD_LOCATION: "global",
      GOOGLE_VERTEX_BASE_URL: url,
    };
    const path = "/v1/projects/p/locations/global/publishers/anthropic/models/claude-sonnet-5-5";
    expect(await ask("vertex/claude-sonnet-5-5", env)).toEqual({
      protocol: "vertex-anthropic",
      isSimulated: false,
      seen: [`${path}:rawPredict ${bearer}`],
      notices: [],
    });
  },
);

test.each(["HERE", "HERE/v1", "HERE/v1/projects/p/locations/global"])(
  "Gemini on Vertex is asked in its project with a token, whether the base URL %s ends before or after it",
  async (url) => {
    const env = {
      CLOUDSDK_AUTH_ACCESS_TOKEN: plantedToken,
      GOOGLE_CLOUD_PROJECT: "p",
      GOOGLE_CLOUD_LOCATION: "global",
      GOOGLE_VERTEX_BASE_URL: url,
    };
    const path = "/v1/projects/p/locations/global/publishers/google/models/gemini-3.8-flash";
    expect(await ask("vertex/gemini-3.8-flash", env)).toEqual({
      protocol: "gemini",
      isSimulated: false,
      seen: [`${path}:generateContent ${bearer}`],
      notices: [],
    });
  },
);

test("a region that is missing is asked for before anything is sent", async () => {
  const env = { AWS_BEARER_TOKEN_BEDROCK: plantedToken };
  await expect(ask("bedrock/claude-haiku-4-5", env)).rejects.toThrow(
    "the address of bedrock needs a region",
  );
});

test.each([
  ["bedrock/claude-haiku-4-5", "bedrock-converse", "AWS_BEARER_TOKEN_BEDROCK"],
  ["vertex/claude-haiku-4-5", "vertex-anthropic", "CLOUDSDK_AUTH_ACCESS_TOKEN"],
])(
  "without any key the simulator answers for %s in the cloud's own words",
  async (name, protocol, variable) => {
    const { notices, ...asked } = await ask(name, {});
    expect(asked).toEqual({ protocol, isSimulated: true, seen: [] });
    expect(notices).toEqual([
      `answers are simulated: no provider has a key. Set ${variable} to ask claude-haiku-4-5.`,
    ]);
  },
);
