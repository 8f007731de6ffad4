// Goal: clients that leave signing to the gateway, and AWS's own client, reach Bedrock through it. Method: the simulator checks every
// signature; credentials are those of the environment, as AWS's library finds them.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import {
  BedrockRuntimeClient,
  ConverseCommand,
  ConverseStreamCommand,
} from "@aws-sdk/client-bedrock-runtime";
import { HttpResponse, type HttpRequest } from "@smithy/core/protocols";
import { expect, onTestFinished, test, vi } from "vitest";
import { plantedPassword, plantedToken } from "../../harness/planted-key.ts";
import type { UpstreamConfig } from "../../src/core/config/schema/gateway.ts";
import { createAgent, createSimulator } from "../../src/simulator/index.ts";
import { manual } from "../simulator-clients/serve.ts";
import { serveOptimized, type OptimizedServe } from "./optimize-kit.ts";

const modelId = "us.anthropic.claude-sonnet-5-5-20260928-v1:0";
const accessKeyId = "AKIDTEST";

/** A gateway that signs with the credentials of these variables, before a simulator that takes the pair above only. */
async function open(
  variables: Readonly<Record<string, string>>,
  region: string | null = "us-east-1",
): Promise<OptimizedServe> {
  const home = mkdtempSync(join(tmpdir(), "strata-aws-"));
  onTestFinished(() => rmSync(home, { recursive: true }));
  onTestFinished(() => void vi.unstubAllEnvs());
  for (const name of [
    "AWS_PROFILE",
    "AWS_SESSION_TOKEN",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
  ])
    vi.stubEnv(name, undefined);
  vi.stubEnv("HOME", home);
  vi.stubEnv("AWS_EC2_METADATA_DISABLED", "true");
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  const simulator = await createSimulator({
    model: createAgent(),
    seed: 1,
    awsKeys: [{ accessKeyId, secretAccessKey: plantedPassword }],
  }).listen();
  onTestFinished(() => simulator.close());
  const bedrock: UpstreamConfig = {
    baseUrl: simulator.url,
    protocol: null,
    headers: new Map(),
    credentials: "aws",
    region,
  };
  return serveOptimized({
    isOptimizing: true,
    yaml: "gateway: { optimize: { holdout: 0, wait_ms: 5000, upstreams: [bedrock] } }",
    upstreams: new Map([["bedrock", bedrock]]),
  });
}

const own = { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: plantedPassword };

/** AWS's client over HTTP/1.1; its own handler for this is a package of its own. */
function connect(
  url: string,
  credentials: { accessKeyId: string; secretAccessKey: string },
): BedrockRuntimeClient {
  const client = new BedrockRuntimeClient({
    region: "us-east-1",
    endpoint: `${url}/bedrock`,
    maxAttempts: 1,
    credentials,
    requestHandler: {
      handle: async (request: HttpRequest) => ({ response: await sendOverHttp1(request) }),
    },
  });
  onTestFinished(() => client.destroy());
  return client;
}

async function sendOverHttp1({
  method,
  protocol,
  hostname,
  port,
  path,
  headers,
  body,
}: HttpRequest): Promise<HttpResponse> {
  const { host: _, "content-length": __, ...rest } = headers;
  const response = await fetch(`${protocol}//${hostname}:${port}${path}`, {
    method,
    headers: rest,
    body: body as string | Uint8Array<ArrayBuffer>,
  });
  return new HttpResponse({
    statusCode: response.status,
    headers: Object.fromEntries(response.headers),
    body: response.body && Readable.fromWeb(response.body),
  });
}

const messages = [{ role: "user" as const, content: [{ text: "hello" }] }];

test("AWS's own client works through the gateway, which signs anew for the provider's name", async () => {
  const served = await open(own);
  const client = connect(served.url, {
    accessKeyId: "AKIDCLIENT",
    secretAccessKey: "of the client",
  });
  const reply = await client.send(new ConverseCommand({ modelId, messages }));
  expect(reply).toMatchObject({
    stopReason: "end_turn",
    output: { message: { role: "assistant" } },
  });
  const { stream } = await client.send(new ConverseStreamCommand({ modelId, messages }));
  const parts: string[] = [];
  for await (const part of stream ?? []) parts.push(...Object.keys(part));
  expect(parts.at(0)).toBe("messageStart");
  expect(parts.at(-1)).toBe("metadata");
  await served.until(2);
  expect(served.calls.map(({ status, upstream }) => ({ status, upstream }))).toEqual([
    { status: "complete", upstream: "bedrock" },
    { status: "complete", upstream: "bedrock" },
  ]);
});

const body = {
  anthropic_version: "bedrock-2023-05-31",
  max_tokens: 200,
  tools: [{ name: "look", input_schema: { type: "object" } }],
  system: manual,
  messages: [{ role: "user", content: "hello" }],
};

function invoke(
  url: string,
  headers: Record<string, string> = {},
  more: object = {},
): Promise<Response> {
  return fetch(`${url}/bedrock/model/${modelId}/invoke`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ ...body, ...more }),
  });
}

test("a client that skips signing is signed for, also where its body was rewritten", async () => {
  const served = await open(own);
  const response = await invoke(served.url);
  expect({ status: response.status, text: await response.text() }).toMatchObject({ status: 200 });
  await served.until(1);
  expect(served.calls[0]).toMatchObject({ arm: "strata", policy: "adaptive" });
  expect(served.calls[0]?.markers.length).toBeGreaterThan(0);
});

test("a body that is longer than what is read at once is signed, too", async () => {
  const served = await open(own);
  const long = { messages: [{ role: "user", content: "long ".repeat(40_000) }] };
  expect((await invoke(served.url, {}, long)).status).toBe(200);
  await served.untilRecorded(1);
});

test("a client's own key passes as it is", async () => {
  const served = await open(own);
  const response = await invoke(served.url, { authorization: `Bearer ${plantedToken}` });
  expect(response.status).toBe(200);
  await served.untilRecorded(1);
});

test("without credentials the client is told why", async () => {
  const served = await open({});
  const response = await invoke(served.url);
  expect(response.status).toBe(502);
  expect(response.headers.get("x-strata-error")).toBe("not_signed");
  expect(await response.json()).toMatchObject({
    error: {
      message: expect.stringMatching(
        /^the request to bedrock cannot be signed: .*credentials/i,
      ) as string,
    },
  });
  await served.untilRecorded(1);
});
