// Signs requests to Bedrock with AWS credentials, which AWS's own library finds.
import { createHash, createHmac, type Hash, type Hmac } from "node:crypto";
import { StrataError } from "../../../core/strata-error.ts";
import type { Sign, UnsignedRequest } from "../sign-request.ts";
import { loadOptional } from "../load-optional.ts";

export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export interface AwsSigning {
  /** Where the host names none. */
  readonly region: string | null;
  /** Those of this machine by default, as AWS's own programs find them. */
  readonly credentials?: () => Promise<AwsCredentials>;
  readonly nowMs?: () => number;
}

/** Header names whose values are secrets. */
export const awsSecretHeaders: readonly string[] = ["x-amz-security-token"];

export function createAwsSign({ region, credentials, nowMs = () => Date.now() }: AwsSigning): Sign {
  let found = credentials;
  return async (request) => {
    const { SignatureV4 } = await loadOptional(() => import("@smithy/signature-v4"), packages);
    found ??= await openChain();
    const signer = new SignatureV4({
      service: "bedrock",
      region: regionOf(request.origin) ?? region ?? refuseWithoutRegion(request.origin),
      credentials: found,
      sha256: Sha256,
    });
    const url = new URL(`${request.origin}${request.path}`);
    const [path = "/"] = request.path.split("?");
    const signed = await signer.sign(
      {
        method: request.method,
        protocol: url.protocol,
        hostname: url.hostname,
        // As it is sent: the signature encodes it once more.
        path,
        query: Object.fromEntries(url.searchParams),
        headers: { ...request.headers, host: url.host, "x-amz-content-sha256": hashOf(request) },
      },
      { signingDate: new Date(nowMs()) },
    );
    const own = Object.entries(signed.headers).filter(([name]) => !(name in request.headers));
    return Object.fromEntries(own.filter(([name]) => name !== "host"));
  };
}

const packages = {
  names: ["@smithy/signature-v4", "@aws-sdk/credential-provider-node"],
  purpose: "requests to Bedrock are signed with AWS credentials",
  otherwise: "set AWS_BEARER_TOKEN_BEDROCK to a Bedrock API key",
} as const;

async function openChain(): Promise<() => Promise<AwsCredentials>> {
  const { defaultProvider } = await loadOptional(
    () => import("@aws-sdk/credential-provider-node"),
    packages,
  );
  return defaultProvider();
}

/** As in `bedrock-runtime.eu-central-1.amazonaws.com`. */
function regionOf(origin: string): string | undefined {
  const host = new URL(origin).hostname;
  return /(?:^|\.)bedrock-runtime(?:-fips)?\.([a-z0-9-]+)\.(?:vpce\.)?amazonaws\.com(?:\.cn)?$/.exec(
    host,
  )?.[1];
}

function refuseWithoutRegion(origin: string): never {
  throw new StrataError(
    "config-invalid",
    `no region is known for the signature of requests to ${origin}`,
    "set AWS_REGION, or places.region of the provider in your strata.yaml",
  );
}

/** The pieces are not joined for it. */
function hashOf({ pieces }: UnsignedRequest): string {
  const hash = createHash("sha256");
  for (const piece of pieces) hash.update(piece);
  return hash.digest("hex");
}

/** In the form that the signer takes; with a secret it is an HMAC. */
class Sha256 {
  readonly #hash: Hash | Hmac;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash =
      secret === undefined ? createHash("sha256") : createHmac("sha256", toBytes(secret));
  }

  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(toBytes(data));
  }

  digest(): Promise<Uint8Array> {
    return Promise.resolve(new Uint8Array(this.#hash.digest()));
  }

  reset(): void {
    throw new Error("a hash is used once");
  }
}

function toBytes(data: string | ArrayBuffer | ArrayBufferView): Uint8Array {
  if (typeof data === "string") return new TextEncoder().encode(data);
  return ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data);
}
