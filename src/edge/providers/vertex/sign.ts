// Gives requests to Vertex an access token of Google, which Google's own library finds and renews.
import { loadOptional } from "../load-optional.ts";
import type { Sign } from "../sign-request.ts";

/** Header names whose values are secrets. */
export const googleSecretHeaders: readonly string[] = ["authorization"];

export interface GoogleSigning {
  /** Where the credentials are; by default where Google's own programs find them. */
  readonly keyFile?: string;
}

export function createGoogleSign({ keyFile }: GoogleSigning = {}): Sign {
  let opened: Promise<FindHeaders> | null = null;
  return async ({ origin }) => {
    opened ??= openHeaders(keyFile);
    try {
      const find = await opened;
      return Object.fromEntries(await find(origin));
    } catch (error) {
      // Credentials that come later must be found.
      opened = null;
      throw error;
    }
  };
}

/** The token, and the project that pays where the credentials name one. */
type FindHeaders = (url: string) => Promise<Iterable<readonly [name: string, value: string]>>;

async function openHeaders(keyFile: string | undefined): Promise<FindHeaders> {
  const { GoogleAuth } = await loadOptional(() => import("google-auth-library"), {
    names: ["google-auth-library"],
    purpose: "requests to Vertex are sent with Google credentials",
    otherwise: "give an access token as the provider's key",
  });
  const auth = new GoogleAuth({ scopes: scope, ...(keyFile === undefined ? {} : { keyFile }) });
  return (url) => auth.getRequestHeaders(url);
}

const scope = "https://www.googleapis.com/auth/cloud-platform";
