// Gives requests to Vertex an access token of Google, which Google's own library finds and renews.
import { loadOptional } from "../load-optional.ts";
import type { Sign } from "../sign-request.ts";

/** Header names whose values are secrets. */
export const googleSecretHeaders: readonly string[] = ["authorization"];

export function createGoogleSign(): Sign {
  let opened: Promise<FindHeaders> | null = null;
  return async ({ origin, path }) => {
    opened ??= openHeaders(projectIn(path));
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

function projectIn(path: string): string | null {
  return /\/projects\/([^/]+)\//.exec(path)?.[1] ?? null;
}

/** The token, and the project that pays where the credentials name one. */
type FindHeaders = (url: string) => Promise<Iterable<readonly [name: string, value: string]>>;

/** The library asks Google for the project of the credentials unless it is told one. */
async function openHeaders(projectId: string | null): Promise<FindHeaders> {
  const { GoogleAuth } = await loadOptional(() => import("google-auth-library"), {
    names: ["google-auth-library"],
    purpose: "requests to Vertex are sent with Google credentials",
    otherwise: "give an access token as the provider's key",
  });
  const auth = new GoogleAuth({ scopes: scope, ...(projectId === null ? {} : { projectId }) });
  return (url) => auth.getRequestHeaders(url);
}

const scope = "https://www.googleapis.com/auth/cloud-platform";
