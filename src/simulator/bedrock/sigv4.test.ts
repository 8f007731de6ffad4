// Goal: only who knows the secret gets in. Method: AWS's own signer signs, and requests are changed after it.
import { createHash, createHmac, type Hash, type Hmac } from "node:crypto";
import { SignatureV4 } from "@smithy/signature-v4";
import { expect, test } from "vitest";
import { plantedPassword } from "../../../harness/planted-key.ts";
import { matchRoute, type SimRequest } from "../surface.ts";
import { jsonOf, startMs } from "../test-kit.ts";
import { createBedrockSurface, type BedrockOptions } from "./index.ts";

class Sha256 {
  readonly #hash: Hash | Hmac;
  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash =
      secret === undefined
        ? createHash("sha256")
        : createHmac(
            "sha256",
            typeof secret === "string" ? secret : Buffer.from(secret as Uint8Array),
          );
  }
  update(data: Uint8Array): void {
    this.#hash.update(data);
  }
  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.#hash.digest());
  }
  reset(): void {}
}

const accessKeyId = "AKIDTEST";
const keys = [{ accessKeyId, secretAccessKey: plantedPassword }];

interface Signing {
  readonly path?: string;
  readonly secret?: string;
  readonly service?: string;
  readonly region?: string;
  readonly atMs?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
}

async function sign(signing: Signing = {}): Promise<SimRequest> {
  const { path = "/model/us.anthropic.claude-opus-5/converse", query = {} } = signing;
  const bodyText = '{"messages":"é"}';
  const signer = new SignatureV4({
    credentials: { accessKeyId, secretAccessKey: signing.secret ?? plantedPassword },
    region: signing.region ?? "eu-west-1",
    service: signing.service ?? "bedrock",
    sha256: Sha256,
  });
  const { headers } = await signer.sign(
    {
      method: "POST",
      protocol: "http:",
      hostname: "127.0.0.1",
      path,
      query,
      headers: { host: "127.0.0.1:4141", "content-type": "application/json", ...signing.headers },
      body: bodyText,
    },
    { signingDate: new Date(signing.atMs ?? startMs) },
  );
  return {
    method: "POST",
    path,
    params: {},
    query: new URLSearchParams(query),
    headers: new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
    bodyText,
  };
}

function enter(request: SimRequest, options: BedrockOptions = {}): unknown {
  const surface = createBedrockSurface({ keys, ...options });
  const result = surface.authenticate(request, { newId: () => "id", nowMs: startMs });
  if ("key" in result) return result.key;
  const { status, headers } = result.refusal;
  const { message } = jsonOf(result.refusal);
  return { status, type: headers["x-amzn-errortype"]?.split(":")[0], message };
}

test.each<[string, Signing]>([
  ["a plain path", {}],
  ["a version in the id", { path: "/model/anthropic.claude-haiku-4-5-20251001-v1%3A0/converse" }],
  [
    "an ARN, with a slash in it",
    { path: "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ainference-profile%2Fus.a/invoke" },
  ],
  ["signs that URLs leave alone", { path: "/model/a!b'c(d)*e~f/converse" }],
  ["an empty segment and a dot in the path", { path: "/model//x/./y/../converse" }],
  ["a query", { query: { "b b": "2", a: "ü/" } }],
  ["a header with wide spaces", { headers: { "x-amzn-note": "  a   b " } }],
])("what AWS's signer signs is accepted: %s", async (_name, signing) => {
  expect(enter(await sign(signing))).toBe("AKIDTEST in eu-west-1");
});

const wrong = {
  status: 403,
  type: "InvalidSignatureException",
  message:
    "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method. Consult the service documentation for details.",
};

test.each<[string, (request: SimRequest) => SimRequest]>([
  ["body", (request) => ({ ...request, bodyText: `${request.bodyText} ` })],
  ["path", (request) => ({ ...request, path: "/model/other/converse" })],
  ["method", (request) => ({ ...request, method: "PUT" })],
  ["query", (request) => ({ ...request, query: new URLSearchParams({ a: "1" }) })],
  ["signed header", (request) => withHeader(request, "content-type", "text/plain")],
  ["host", (request) => withHeader(request, "host", "another:4141")],
  [
    "signature",
    (request) =>
      withHeader(
        request,
        "authorization",
        request.headers.get("authorization")?.replace(/Signature=../, "Signature=zz") ?? "",
      ),
  ],
])("a changed %s is refused", async (_name, change) => {
  expect(enter(change(await sign()))).toEqual(wrong);
});

test("a wrong secret is refused", async () => {
  expect(enter(await sign({ secret: "another" }))).toEqual(wrong);
});

test("a header that is not signed may change on the way", async () => {
  const request = withHeader(await sign(), "x-forwarded-for", "10.0.0.1");
  expect(enter(request)).toBe("AKIDTEST in eu-west-1");
});

test("a key that is not known is refused before its signature is looked at", async () => {
  expect(enter(await sign(), { keys: [] })).toEqual({
    status: 403,
    type: "UnrecognizedClientException",
    message: "The security token included in the request is invalid.",
  });
});

test("a signature for another service is refused", async () => {
  expect(enter(await sign({ service: "s3" }))).toEqual({
    status: 403,
    type: "InvalidSignatureException",
    message: "Credential should be scoped to correct service: 'bedrock'. ",
  });
});

test("a signature holds for five minutes, before and after", async () => {
  const minutes = 60_000;
  expect(enter(await sign({ atMs: startMs - 5 * minutes }))).toBe("AKIDTEST in eu-west-1");
  expect(enter(await sign({ atMs: startMs + 5 * minutes }))).toBe("AKIDTEST in eu-west-1");
  expect(enter(await sign({ atMs: startMs - 6 * minutes }))).toEqual({
    status: 403,
    type: "InvalidSignatureException",
    message:
      "Signature expired: 20261115T115400Z is now earlier than 20261115T115500Z (20261115T120000Z - 5 min.)",
  });
  expect(enter(await sign({ atMs: startMs + 6 * minutes }))).toEqual({
    status: 403,
    type: "InvalidSignatureException",
    message:
      "Signature not yet current: 20261115T120600Z is still later than 20261115T120500Z (20261115T120000Z + 5 min.)",
  });
  const early = await sign({ atMs: startMs - 60 * minutes });
  expect(enter(early, { checksDates: false })).toBe("AKIDTEST in eu-west-1");
});

test("a request without a signature is refused, and one with half of it", async () => {
  const request = await sign();
  const authorization = request.headers.get("authorization") ?? "";
  expect(enter({ ...request, headers: new Map() })).toEqual({
    status: 403,
    type: "MissingAuthenticationTokenException",
    message: "Missing Authentication Token",
  });
  const half = authorization.replace(/, Signature=.*/, "");
  expect(enter(withHeader(request, "authorization", half))).toEqual({
    status: 403,
    type: "IncompleteSignatureException",
    message: "Authorization header requires 'Signature' parameter.",
  });
});

test("an API key needs no signature", async () => {
  const request = withHeader(await sign(), "authorization", "Bearer some-key");
  expect(enter(request)).toBe("some-key");
});

test("all operations are routes, with the id decoded", () => {
  const { routes } = createBedrockSurface();
  for (const operation of [
    "converse",
    "converse-stream",
    "invoke",
    "invoke-with-response-stream",
    "count-tokens",
  ])
    expect(matchRoute(routes, "POST", `/model/a.b%3A0/${operation}`)?.params).toEqual({
      model: "a.b:0",
    });
  expect(matchRoute(routes, "POST", "/model/a/b/converse")).toBeNull();
});

function withHeader(request: SimRequest, name: string, value: string): SimRequest {
  return { ...request, headers: new Map([...request.headers, [name, value]]) };
}
