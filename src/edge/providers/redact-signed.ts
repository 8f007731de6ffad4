// Removes from what is recorded also the secrets that signing adds to requests, such as an access token that was fetched.
import type { Redact } from "../../core/events/redact-secrets.ts";
import { createRedact } from "./redact.ts";
import type { WireEffects } from "./wire-effects.ts";

export interface RedactedEffects {
  /** The same effects; `redact` learns from each signature. */
  readonly effects: WireEffects;
  readonly redact: Redact;
}

/** A replaced token stays a secret: an answer to an earlier request may still repeat it. */
export function redactSigned(
  credentials: Readonly<Record<string, string>>,
  effects: WireEffects,
): RedactedEffects {
  const { sign, secretHeaders = [] } = effects;
  let redact = createRedact(credentials);
  if (sign === undefined || secretHeaders.length === 0) {
    return { effects, redact };
  }
  let recent: readonly string[] = [];
  const learning: WireEffects = {
    ...effects,
    sign: async (request) => {
      const signed = await sign(request);
      const values = secretHeaders.flatMap((name) => signed[name] ?? []);
      const fresh = values.filter((value) => !recent.includes(value));
      if (fresh.length > 0) {
        recent = [...fresh, ...recent].slice(0, recentMax);
        const named = recent.map((value, index) => [`signed-${index}`, value] as const);
        redact = createRedact({ ...credentials, ...Object.fromEntries(named) });
      }
      return signed;
    },
  };
  return { effects: learning, redact: (text) => redact(text) };
}

/** Answers to older requests have ended long ago. */
const recentMax = 4;
