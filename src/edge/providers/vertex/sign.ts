// Gives requests to Vertex an access token of Google, which Google's own library finds and renews.
import type { Sign } from "../wire-effects.ts";
import { loadOptional } from "../load-optional.ts";

/** Header names whose values are secrets. */
export const googleSecretHeaders: readonly string[] = ["authorization"];

const scope = "https://www.googleapis.com/auth/cloud-platform";

const packages = {
  names: ["google-auth-library"],
  purpose: "requests to Vertex are sent with Google credentials",
  otherwise: "give an access token as the provider's key",
} as const;

export function createGoogleSign(): Sign {
  type Headers = () => Promise<Readonly<Record<string, string>>>;
  let opening: Promise<Headers> | null = null;
  const open = async (): Promise<Headers> => {
    const load = (): Promise<typeof import("google-auth-library")> => import("google-auth-library");
    const { GoogleAuth } = await loadOptional(load, packages);
    const auth = new GoogleAuth({ scopes: scope });
    return async () => Object.fromEntries(await auth.getRequestHeaders());
  };
  return async () => {
    opening ??= open();
    return (await opening)();
  };
}
