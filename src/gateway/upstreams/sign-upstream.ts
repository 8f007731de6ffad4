// Signs requests to a cloud with this machine's credentials, where a client leaves that to the gateway.
import { messageOf } from "../../core/strata-error.ts";
import type { Cloud } from "../../core/wire/read-vendors.ts";
import { signingBy } from "../../edge/providers/wire-effects.ts";

export interface UnsignedUpstreamRequest {
  readonly method: string;
  readonly origin: string;
  readonly path: string;
  /** Names and values alternate. */
  readonly headers: readonly string[];
  readonly body: Buffer | null;
}

/** Returns the headers with a signature or a token. Rejects with `SigningFailed`. */
export type SignUpstream = (request: UnsignedUpstreamRequest) => Promise<string[]>;

/** There are no credentials, or a library that finds them is not installed. */
export class SigningFailed extends Error {}

export function createUpstreamSign(cloud: Cloud, region: string | null): SignUpstream {
  const { sign } = signingBy({}, { cloud, region });
  return async ({ method, origin, path, headers, body }) => {
    // Only what the provider reads as the content is signed, so other headers may pass as the client wrote them.
    const at = headers.findIndex((name, index) => index % 2 === 0 && isContentType(name));
    const signed = at === -1 ? {} : { "content-type": headers[at + 1] ?? "" };
    const pieces = body === null ? [] : [body];
    try {
      const more = await sign?.({
        method: toMethod(method),
        origin,
        path,
        headers: signed,
        pieces,
      });
      return [...headers, ...Object.entries(more ?? {}).flat()];
    } catch (error) {
      throw new SigningFailed(messageOf(error), { cause: error });
    }
  };
}

function isContentType(name: string): boolean {
  return name.toLowerCase() === "content-type";
}

function toMethod(method: string): "POST" | "GET" | "DELETE" | "PATCH" {
  if (method === "GET" || method === "DELETE" || method === "PATCH") return method;
  return "POST";
}

/** A client's own signature is for the gateway's name, not for the provider's. */
const ofSignature: ReadonlySet<string> = new Set([
  "authorization",
  "x-amz-content-sha256",
  "x-amz-date",
  "x-amz-security-token",
]);

/** Which of the client's headers do not pass to an upstream that signs; null if the client sends a key that does. */
export function replacedBySigning(
  headers: Readonly<Record<string, string>>,
): ReadonlySet<string> | null {
  const { authorization } = headers;
  const isSignature = authorization?.startsWith("AWS4-HMAC-SHA256") === true;
  return authorization === undefined || isSignature ? ofSignature : null;
}
