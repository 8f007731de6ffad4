// Checks AWS Signature Version 4: the canonical request is built again from what arrived, and signed with the secret.
import { createHmac, hash, timingSafeEqual } from "node:crypto";
import type { SimRequest } from "../surface.ts";
import { AwsRefusal } from "./refusal.ts";

export interface AwsKey {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** The pair that AWS prints in its documents. */
export const exampleAwsKey: AwsKey = {
  accessKeyId: "AKIAIOSFODNN7EXAMPLE",
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
};

export const signingScheme = "AWS4-HMAC-SHA256";

interface Scope {
  readonly accessKeyId: string;
  readonly day: string;
  readonly region: string;
  readonly service: string;
}

/** Who signed, and for which region. Throws the provider's refusal. */
export function checkSignature(
  request: SimRequest,
  { keys, nowMs }: { readonly keys: readonly AwsKey[]; readonly nowMs: number | null },
): Pick<Scope, "accessKeyId" | "region"> {
  const { headers } = request;
  const { scope, signedHeaders, signature } = readAuthorization(headers.get("authorization") ?? "");
  const date = headers.get("x-amz-date") ?? "";
  if (!/^\d{8}T\d{6}Z$/.test(date))
    throw incomplete(
      "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header.",
    );
  const { accessKeyId, day, region, service } = scope;
  if (service !== "bedrock")
    throw mismatch("Credential should be scoped to correct service: 'bedrock'. ");
  if (day !== date.slice(0, 8))
    throw mismatch(
      `Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: '${day}' != '${date.slice(0, 8)}', from '${date}'.`,
    );
  if (nowMs !== null) checkDate(date, nowMs);
  const key = keys.find((each) => each.accessKeyId === accessKeyId);
  if (key === undefined)
    throw new AwsRefusal(
      "UnrecognizedClientException",
      "The security token included in the request is invalid.",
    );
  const canonical = canonicalRequest(request, signedHeaders);
  const credentials = [day, region, service, "aws4_request"];
  const toSign = [signingScheme, date, credentials.join("/"), hash("sha256", canonical)].join("\n");
  const signingKey = credentials.reduce<Buffer>(sign, Buffer.from(`AWS4${key.secretAccessKey}`));
  const expected = sign(signingKey, toSign);
  if (signature.length !== expected.length || !timingSafeEqual(signature, expected))
    throw mismatch(
      "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method. Consult the service documentation for details.",
    );
  return { accessKeyId, region };
}

function sign(key: Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}

function mismatch(message: string): AwsRefusal {
  return new AwsRefusal("InvalidSignatureException", message);
}

function incomplete(message: string): AwsRefusal {
  return new AwsRefusal("IncompleteSignatureException", message);
}

function readAuthorization(text: string): {
  readonly scope: Scope;
  readonly signedHeaders: readonly string[];
  readonly signature: Buffer;
} {
  const parts = new Map(
    text
      .slice(signingScheme.length)
      .split(",")
      .map((part) => part.trim())
      .map(
        (part) => [part.slice(0, part.indexOf("=")), part.slice(part.indexOf("=") + 1)] as const,
      ),
  );
  const need = (name: string): string => {
    const value = parts.get(name);
    if (value !== undefined && value !== "") return value;
    throw incomplete(`Authorization header requires '${name}' parameter.`);
  };
  const credential = need("Credential").split("/");
  const [accessKeyId, day, region, service, end] = credential;
  if (
    accessKeyId === undefined ||
    day === undefined ||
    region === undefined ||
    service === undefined ||
    end !== "aws4_request" ||
    credential.length !== 5
  )
    throw incomplete(
      `Credential must have exactly 5 slash-delimited elements, e.g. keyid/date/region/service/term, got '${credential.join("/")}'`,
    );
  return {
    scope: { accessKeyId, day, region, service },
    signedHeaders: need("SignedHeaders").split(";"),
    signature: Buffer.from(need("Signature"), "hex"),
  };
}

const skewMs = 5 * 60_000;

function checkDate(date: string, nowMs: number): void {
  const sentMs = Date.parse(
    date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"),
  );
  const [now, oldest, newest] = [nowMs, nowMs - skewMs, nowMs + skewMs].map(stamp);
  if (!(sentMs >= nowMs - skewMs - 1000))
    throw mismatch(`Signature expired: ${date} is now earlier than ${oldest} (${now} - 5 min.)`);
  if (sentMs > nowMs + skewMs)
    throw mismatch(
      `Signature not yet current: ${date} is still later than ${newest} (${now} + 5 min.)`,
    );
}

function stamp(ms: number): string {
  return new Date(ms).toISOString().replace(/[-:]|\.\d+/g, "");
}

function canonicalRequest(
  { method, path, query, headers, bodyText }: SimRequest,
  signedHeaders: readonly string[],
): string {
  const lines = signedHeaders.map((name) => {
    // HTTP/2 has the host under another name, and AWS's client signs it so.
    const value =
      headers
        .get(name === ":authority" ? "host" : name)
        ?.trim()
        .replace(/\s+/g, " ") ?? "";
    return `${name}:${value}\n`;
  });
  return [
    method,
    canonicalPath(path),
    canonicalQuery(query),
    lines.join(""),
    signedHeaders.join(";"),
    hash("sha256", bodyText),
  ].join("\n");
}

/** The path as sent is encoded once more, so that `%3A` is signed as `%253A`. */
function canonicalPath(path: string): string {
  const segments: string[] = [];
  for (const segment of path.split("/")) {
    if (segment === "" || segment === ".") continue;
    if (segment === "..") segments.pop();
    else segments.push(encode(segment));
  }
  const end = path.endsWith("/") && segments.length > 0 ? "/" : "";
  return `/${segments.join("/")}${end}`;
}

function canonicalQuery(query: URLSearchParams): string {
  return [...query]
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .toSorted((left, right) => (left < right ? -1 : 1))
    .join("&");
}

/** As RFC 3986: all but letters, digits and -_.~ */
function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
