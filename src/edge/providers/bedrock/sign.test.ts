// Goal: AWS takes our signatures. Method: AWS's own client signs a request, and we sign the same one at the same time.
import { once } from "node:events";
import { createServer, request as httpRequest, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { BedrockRuntimeClient, ConverseCommand } from "@aws-sdk/client-bedrock-runtime";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { speakOnPurpose } from "../../../../harness/watch/on-purpose.ts";
import { plantedPassword, plantedToken } from "../../../../harness/planted-key.ts";
import { toRequest } from "../../../core/wire/encoded-request.ts";
import { bedrockConverse } from "../../../core/wire/bedrock/converse/index.ts";
import { createSimulator } from "../../../simulator/index.ts";
import { loadOptional } from "../load-optional.ts";
import { createProvider, type Provider, type ProviderOptions } from "../provider.ts";
import { createAwsSign, type AwsCredentials } from "./sign.ts";

const accessKeyId = "AKIDTEST";
const credentials: AwsCredentials = { accessKeyId, secretAccessKey: plantedPassword };

interface SeenPost {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A server on loopback that keeps what it gets, and answers all alike. */
async function serve(
  answer: { readonly status?: number; readonly body?: string } = {},
): Promise<{ readonly origin: string; readonly seen: readonly SeenPost[] }> {
  const seen: SeenPost[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (piece: Buffer) => (body += piece.toString()));
    request.on("end", () => {
      seen.push({ url: request.url ?? "", headers: request.headers, body });
      const { status = 200, body: said = reply } = answer;
      if (answer.body !== undefined) speakOnPurpose(response);
      response.writeHead(status, { "content-type": "application/json" }).end(said);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

const reply =
  '{"output":{"message":{"role":"assistant","content":[{"text":"A."}]}},"stopReason":"end_turn",' +
  '"usage":{"inputTokens":1,"outputTokens":1,"totalTokens":2},"metrics":{"latencyMs":1}}';

/** AWS's client over HTTP/1.1, which its own handler would do only with a package more. */
interface OwnRequest {
  readonly hostname: string;
  readonly port?: number;
  readonly path: string;
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: unknown;
}

function sendPlainly(request: OwnRequest): Promise<{ response: unknown }> {
  const { hostname, port, path, method, headers, body } = request;
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest({ hostname, port, path, method, headers }, (incoming) => {
      const { statusCode, headers: answered } = incoming;
      resolve({ response: { statusCode, headers: answered, body: Readable.from(incoming) } });
    });
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

async function signedByAws(
  own: AwsCredentials,
  modelId: string,
): Promise<{ readonly origin: string; readonly post: SeenPost }> {
  const { origin, seen } = await serve();
  const client = new BedrockRuntimeClient({
    region: "eu-central-1",
    endpoint: origin,
    credentials: own,
    requestHandler: { handle: sendPlainly } as never,
  });
  const messages = [{ role: "user" as const, content: [{ text: "Grüße 🙂" }] }];
  await client.send(new ConverseCommand({ modelId, messages }));
  client.destroy();
  const [post] = seen;
  if (post === undefined) throw new Error("nothing was sent");
  return { origin, post };
}

describe("the signature is the one that AWS's own client makes", () => {
  test.each<[string, AwsCredentials, string]>([
    ["for a model", credentials, "global.anthropic.claude-haiku-4-5-20251001-v1:0"],
    [
      "for an ARN, with a session's token",
      { ...credentials, sessionToken: plantedToken },
      "arn:aws:bedrock:eu-central-1:111122223333:application-inference-profile/a1b2",
    ],
  ])("%s", async (_name, own, modelId) => {
    const { origin, post } = await signedByAws(own, modelId);
    const authorization = post.headers.authorization ?? "";
    const names = /SignedHeaders=([^,]+)/.exec(authorization)?.[1]?.split(";") ?? [];
    const ours = ["host", "x-amz-date", "x-amz-content-sha256", "x-amz-security-token"];
    const headers = names
      .filter((name) => !ours.includes(name))
      .map((name) => [name, String(post.headers[name])]);
    const bytes = Buffer.from(post.body);
    const at = String(post.headers["x-amz-date"]).replace(
      /^(....)(..)(..)T(..)(..)(..)Z$/,
      "$1-$2-$3T$4:$5:$6Z",
    );
    const sign = createAwsSign({
      region: "eu-central-1",
      credentials: () => Promise.resolve(own),
      nowMs: () => Date.parse(at),
    });
    const signed = await sign({
      method: "POST",
      origin,
      path: post.url,
      headers: Object.fromEntries(headers),
      pieces: [bytes.subarray(0, 20), bytes.subarray(20)],
    });
    expect(names).toContain("host");
    expect(post.url).toMatch(/%3A/);
    const added = Object.keys(signed).map((name) => [name, post.headers[name]]);
    expect(signed).toEqual(Object.fromEntries(added));
    expect(signed["authorization"]).toBe(authorization);
  });
});

function openProvider(options: Omit<ProviderOptions, "protocol" | "credentials">): Provider {
  const provider = createProvider({ protocol: bedrockConverse, credentials: {}, ...options });
  onTestFinished(() => provider.close());
  return provider;
}

const request = toRequest({
  path: bedrockConverse.path({ model: "anthropic.claude-haiku-4-5-20251001-v1:0", stream: false }),
  parts: [
    '{"messages":[{"role":"user","content":[{"text":"Hi."}]}],"inferenceConfig":{"maxTokens":9}}',
  ],
});
const signing = { cloud: "aws", region: "eu-central-1" } as const;

/** The variables of AWS's chain; nothing else on this machine is asked. */
function stubChain(variables: Readonly<Record<string, string | undefined>>): void {
  const none = ["AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"];
  for (const name of none) vi.stubEnv(name, undefined);
  vi.stubEnv("AWS_EC2_METADATA_DISABLED", "true");
  vi.stubEnv("AWS_CONFIG_FILE", "/nowhere/config");
  vi.stubEnv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere/credentials");
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
}

afterEach(() => {
  vi.unstubAllEnvs();
});

describe("a provider with the credentials of AWS", () => {
  test("signs what it sends, so that it is taken, and a wrong secret is not", async () => {
    const awsKeys = [{ accessKeyId, secretAccessKey: plantedPassword }];
    const server = await createSimulator({ awsKeys }).listen({ port: 0 });
    onTestFinished(() => server.close());
    stubChain({ AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: plantedPassword });
    const taken = openProvider({ baseUrl: server.url, signing });
    const sent = await taken.send({ request, stream: false });
    expect([sent.status, sent.outcome.kind]).toEqual([200, "reply"]);
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", `${plantedPassword}x`);
    const wrong = await openProvider({ baseUrl: server.url, signing }).send({
      request,
      stream: false,
    });
    expect([wrong.status, wrong.outcome.kind]).toEqual([403, "authentication"]);
  });

  test("signs nothing that has an authorization already", async () => {
    const { origin, seen } = await serve();
    stubChain({});
    const provider = createProvider({
      protocol: bedrockConverse,
      baseUrl: origin,
      credentials: { authorization: `Bearer ${plantedToken}` },
      signing,
    });
    onTestFinished(() => provider.close());
    await provider.send({ request, stream: false });
    expect(seen[0]?.headers).toMatchObject({ authorization: `Bearer ${plantedToken}` });
    expect(seen[0]?.headers["x-amz-date"]).toBeUndefined();
  });

  test("without any is refused before anything is sent", async () => {
    const { origin, seen } = await serve();
    stubChain({});
    const { outcome, attempts } = await openProvider({ baseUrl: origin, signing }).send({
      request,
      stream: false,
    });
    expect(outcome).toMatchObject({
      kind: "authentication",
      detail: expect.stringMatching(/^the request cannot be signed: .*credentials/i) as string,
    });
    expect([attempts.length, seen.length]).toEqual([1, 0]);
  });

  test("records no session token that a server repeats", async () => {
    const body = JSON.stringify({ message: `no: ${plantedToken}` });
    const { origin, seen } = await serve({ status: 400, body });
    stubChain({
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: plantedPassword,
      AWS_SESSION_TOKEN: plantedToken,
    });
    const { outcome } = await openProvider({ baseUrl: origin, signing }).send({
      request,
      stream: false,
    });
    expect(seen[0]?.headers["x-amz-security-token"]).toBe(plantedToken);
    expect(outcome).toEqual({ kind: "invalid-request", detail: "no: [redacted]" });
  });

  test("needs a region where the host names none", async () => {
    const unsigned = { method: "POST", path: "/", headers: {}, pieces: [] } as const;
    const sign = createAwsSign({
      region: null,
      credentials: () => Promise.resolve(credentials),
      nowMs: () => 0,
    });
    await expect(sign({ ...unsigned, origin: "http://127.0.0.1:1" })).rejects.toMatchObject({
      code: "config-invalid",
      hint: "set AWS_REGION, or places.region of the provider in your strata.yaml",
    });
    for (const host of [
      "bedrock-runtime.eu-west-3.amazonaws.com",
      "bedrock-runtime-fips.eu-west-3.amazonaws.com",
      "vpce-1.bedrock-runtime.eu-west-3.vpce.amazonaws.com",
    ]) {
      const { authorization } = await sign({ ...unsigned, origin: `https://${host}` });
      expect(authorization).toContain("/19700101/eu-west-3/bedrock/aws4_request");
    }
  });
});

test("a missing package is named, with what else would do", async () => {
  const error = Object.assign(new Error("gone"), { code: "ERR_MODULE_NOT_FOUND" });
  const packages = { names: ["a", "b"], purpose: "requests are signed", otherwise: "set KEY" };
  await expect(loadOptional(() => Promise.reject(error), packages)).rejects.toMatchObject({
    code: "environment-unfit",
    message: "requests are signed, and a and b are not installed",
    hint: "npm install a b, or set KEY",
  });
  const other = new Error("broken");
  await expect(loadOptional(() => Promise.reject(other), packages)).rejects.toBe(other);
});
