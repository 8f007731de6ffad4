// The secrets that are taken out of what tools give back: those of the configuration, of the environment and of the store.
import type { Environment } from "../core/config/environment.ts";
import type { StrataConfig } from "../core/config/schema.ts";
import { secretsIn, secretsInAddress, type NamedSecret } from "../core/config/secrets.ts";
import { createSecretRedact, secretLengthMin, type Redact } from "../core/events/redact-secrets.ts";
import { vendors } from "../core/wire/protocols.ts";

export interface SecretPlaces {
  /** The current configuration. */
  readonly now: () => StrataConfig;
  readonly env: Environment;
  /** The address of the store. */
  readonly store?: string | undefined;
  readonly onNotice: (notice: string) => void;
}

/** Follows the configuration. A secret that was replaced stays one: a tool may still find the old one. */
export function followSecrets({ now, env, store, onNotice }: SecretPlaces): Redact {
  const fixed = [
    ...vendors.map(({ keyVariable: name }) => ({ name, value: env[name]?.trim() ?? "" })),
    { name: "STRATA_GATEWAY_TOKEN", value: env["STRATA_GATEWAY_TOKEN"] ?? "" },
    ...(store === undefined ? [] : secretsInAddress("the address of the store", store)),
  ];
  const known = new Set<string>();
  let read: StrataConfig | null = null;
  let redact = createSecretRedact([]);
  const refresh = (): void => {
    const config = now();
    if (config === read) return;
    read = config;
    const found = [...secretsIn(config), ...fixed].filter(
      ({ value }) => value !== "" && !known.has(value),
    );
    if (found.length === 0) return;
    for (const secret of found) {
      if (secret.value.length < secretLengthMin && !known.has(secret.value))
        onNotice(tooShort(secret));
      known.add(secret.value);
    }
    redact = createSecretRedact([...known]);
  };
  refresh();
  return (text) => {
    refresh();
    return redact(text);
  };
}

function tooShort({ name, value }: NamedSecret): string {
  return `${name} has ${value.length} characters. A secret of fewer than ${secretLengthMin} is not taken out of what tools print: use a longer one.`;
}
