// Goal: requests to Vertex carry a token of Google. Method: credential files whose tokens come from loopback, or are signed by a key
// that is made here.
import { createVerify, generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { speakOnPurpose } from "../../../../harness/watch/on-purpose.ts";
import { plantedToken } from "../../../../harness/planted-key.ts";
import { toRequest } from "../../../core/wire/encoded-request.ts";
import { vertexAnthropic } from "../../../core/wire/vertex-anthropic/index.ts";
import { createProvider, type Provider } from "../provider.ts";

interface SeenPost {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
}

/** Gives out tokens, and answers calls. */
async function serve(
  token: string,
  status = 200,
): Promise<{ readonly origin: string; readonly seen: readonly SeenPost[] }> {
  const seen: SeenPost[] = [];
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      seen.push({ url: request.url ?? "", headers: request.headers });
      // A service of tokens says secrets; a refusal may repeat one.
      speakOnPurpose(response);
      const isToken = request.url === "/token";
      response.writeHead(isToken ? 200 : status, { "content-type": "application/json" });
      response.end(isToken ? tokenOf(token) : status === 200 ? reply : refusal);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

const issued = {
  token_type: "Bearer",
  issued_token_type: "urn:ietf:params:oauth:token-type:access_token",
};
const tokenOf = (token: string): string =>
  JSON.stringify({ ...issued, access_token: token, expires_in: 3600 });
const reply = JSON.stringify({
  id: "msg_1",
  type: "message",
  model: "claude",
  content: [{ type: "text", text: "A." }],
  stop_reason: "end_turn",
  usage: { input_tokens: 1, output_tokens: 1 },
});
const refusal = JSON.stringify({ error: { code: 403, message: `not for ${plantedToken}` } });

/** The file that GOOGLE_APPLICATION_CREDENTIALS names. */
function stubCredentials(content: object): void {
  const folder = mkdtempSync(join(tmpdir(), "strata-vertex-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const subject = join(folder, "subject.txt");
  writeFileSync(subject, "subject");
  const file = join(folder, "credentials.json");
  writeFileSync(
    file,
    JSON.stringify(content, (_, value: unknown) => (value === "@file" ? subject : value)),
  );
  vi.stubEnv("GOOGLE_APPLICATION_CREDENTIALS", file);
}

/** A workload's own token is exchanged for one of Google. */
const workload = (origin: string): object => ({
  type: "external_account",
  audience: "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/a/providers/b",
  subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
  token_url: `${origin}/token`,
  credential_source: { file: "@file" },
});

function openProvider(origin: string): Provider {
  const baseUrl = `${origin}/v1/projects/p/locations/global/publishers/anthropic`;
  const signing = { cloud: "google", region: null } as const;
  const provider = createProvider({ protocol: vertexAnthropic, baseUrl, credentials: {}, signing });
  onTestFinished(() => provider.close());
  return provider;
}

const request = toRequest({
  path: vertexAnthropic.path({ model: "claude-sonnet-5-5", stream: false }),
  parts: ["{}"],
});

afterEach(() => {
  vi.unstubAllEnvs();
});

test("a token is fetched once and sent with every request", async () => {
  const { origin, seen } = await serve(plantedToken);
  stubCredentials(workload(origin));
  const provider = openProvider(origin);
  const first = await provider.send({ request, stream: false });
  await provider.send({ request, stream: false });
  const path =
    "/v1/projects/p/locations/global/publishers/anthropic/models/claude-sonnet-5-5:rawPredict";
  expect(first.outcome.kind).toBe("reply");
  expect(seen.map(({ url }) => url)).toEqual(["/token", path, path]);
  expect(seen.slice(1).map(({ headers }) => headers.authorization)).toEqual([
    `Bearer ${plantedToken}`,
    `Bearer ${plantedToken}`,
  ]);
});

test("a fetched token that a refusal repeats is not recorded", async () => {
  const { origin } = await serve(plantedToken, 403);
  stubCredentials(workload(origin));
  const { outcome } = await openProvider(origin).send({ request, stream: false });
  expect(outcome).toEqual({ kind: "permission", detail: "not for [redacted]" });
});

test("a service account signs its own token", async () => {
  const { origin, seen } = await serve(plantedToken);
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  stubCredentials({
    type: "service_account",
    project_id: "p",
    private_key_id: "k1",
    private_key: privateKey.export({ type: "pkcs8", format: "pem" }),
    client_email: "agent@p.iam.gserviceaccount.com",
    // Elsewhere than in Google's public cloud, no server is asked for a token.
    universe_domain: "example.test",
  });
  await openProvider(origin).send({ request, stream: false });
  const [head = "", claims = "", signature = ""] =
    seen[0]?.headers.authorization?.replace("Bearer ", "").split(".") ?? [];
  const isOurs = createVerify("RSA-SHA256")
    .update(`${head}.${claims}`)
    .verify(publicKey, signature, "base64url");
  expect(isOurs).toBe(true);
  expect(JSON.parse(Buffer.from(claims, "base64url").toString())).toMatchObject({
    iss: "agent@p.iam.gserviceaccount.com",
    scope: "https://www.googleapis.com/auth/cloud-platform",
  });
});

test("without credentials nothing is sent, and those that come later are found", async () => {
  const { origin, seen } = await serve(plantedToken);
  vi.stubEnv("GOOGLE_APPLICATION_CREDENTIALS", "/nowhere/credentials.json");
  const provider = openProvider(origin);
  const { outcome } = await provider.send({ request, stream: false });
  expect(outcome.kind).toBe("authentication");
  expect(seen).toEqual([]);
  stubCredentials(workload(origin));
  const later = await provider.send({ request, stream: false });
  expect(later.outcome.kind).toBe("reply");
});

test("a service of tokens that does not answer is a matter of the network", async () => {
  const { origin } = await serve(plantedToken);
  stubCredentials({ ...workload(origin), token_url: "http://127.0.0.1:1/token" });
  const baseUrl = `${origin}/v1/projects/p/locations/global/publishers/anthropic`;
  const provider = createProvider({
    protocol: vertexAnthropic,
    baseUrl,
    credentials: {},
    signing: { cloud: "google", region: null },
    retries: { attemptsMax: 1 },
  });
  onTestFinished(() => provider.close());
  const { outcome } = await provider.send({ request, stream: false });
  expect(outcome.kind).toBe("unreachable");
});
