// gateway.keys: who may use the gateway, and for what. The keys themselves are elsewhere; here are their hashes or places.
import { nodeAt } from "../config-node.ts";
import { flag, optionalWhole, text, texts } from "../leaves.ts";
import { group, named, section, type Surroundings } from "../sections.ts";
import { reportError, type Spec } from "../spec.ts";
import { path } from "./places.ts";
import { hide } from "./provider-headers.ts";
import { variable } from "./providers.ts";
import { dollars } from "./spending.ts";

export interface GatewayKeyConfig {
  /** Null if it is missing, which was reported. */
  readonly source: KeySource | null;
  readonly user: string | null;
  readonly team: string | null;
  /** In any spelling; empty for all. */
  readonly models: readonly string[];
  /** Names; empty for all. */
  readonly upstreams: readonly string[];
  /** Whether what is no model call passes, too. */
  readonly otherRequests: boolean;
  readonly budget: KeyBudgetConfig;
  readonly rate: KeyRateConfig;
}

export type KeySource =
  | { readonly kind: "hash"; readonly sha256: string }
  | { readonly kind: "variable"; readonly name: string }
  | { readonly kind: "file"; readonly path: string };

/** Null for no limit. */
export interface KeyBudgetConfig {
  readonly dayUsd: number | null;
  readonly monthUsd: number | null;
  readonly totalUsd: number | null;
}

export interface KeyRateConfig {
  readonly requestsPerMinute: number | null;
  readonly tokensPerMinute: number | null;
  readonly concurrent: number | null;
}

const budget: Spec<KeyBudgetConfig> = group(
  "what its calls may cost; a call that might pass it is not sent",
  {
    dayUsd: dollars("since midnight UTC"),
    monthUsd: dollars("since the first of the month, UTC"),
    totalUsd: dollars("ever"),
  },
);

const rate: Spec<KeyRateConfig> = group("how much it may ask of one gateway", {
  requestsPerMinute: optionalWhole({ min: 1 }, "requests per minute"),
  tokensPerMinute: optionalWhole({ min: 1 }, "tokens of prompts and answers per minute"),
  concurrent: optionalWhole({ min: 1 }, "requests at a time"),
});

const key: Spec<GatewayKeyConfig> = section(
  "one key",
  {
    sha256: text("the key's SHA-256, as strata keys new prints it", {
      allowed: "64 hexadecimal digits",
      isFit: (digits) => /^[0-9a-f]{64}$/i.test(digits),
      // The key itself may be written here by mistake.
      show: hide,
    }),
    key_env: variable("the variable that holds the key"),
    key_file: path("a file with the key; only its owner may read it"),
    user: name("whose key it is, for figures by user"),
    team: name("whose team it is, for figures by team"),
    models: texts([], "the models it may call, in any spelling; default: all"),
    upstreams: texts([], "the names of the upstreams it may use; default: all"),
    other_requests: flag(
      false,
      "whether it may also send what is no model call, such as files, batches and stored answers, which all clients of an upstream's key share",
    ),
    budget,
    rate,
  },
  (get, around) => {
    const models = get("models");
    const spent = get("budget");
    const otherRequests = get("other_requests");
    const isLimited = models.length > 0 || Object.values(spent).some((each) => each !== null);
    if (otherRequests && isLimited) reportUncounted(around);
    return {
      source: toSource(around, get("sha256"), get("key_env"), get("key_file")),
      user: get("user"),
      team: get("team"),
      models,
      upstreams: get("upstreams"),
      otherRequests,
      budget: spent,
      rate: get("rate"),
    };
  },
);

export const gatewayKeys: Spec<ReadonlyMap<string, GatewayKeyConfig>> = named(
  "keys that clients send in place of an upstream's, by name; with one, every request needs one",
  key,
);

function name(meaning: string): Spec<string | null> {
  return text(meaning, {
    allowed: "a name without line breaks, of at most 128 characters",
    isFit: (given) => /^[^\p{Cc}\p{Zl}\p{Zp}]{1,128}$/u.test(given),
  });
}

function toSource(
  { node, context }: Surroundings,
  sha256: string | null,
  variableName: string | null,
  file: string | null,
): KeySource | null {
  const sources: readonly KeySource[] = [
    ...(sha256 === null ? [] : [{ kind: "hash", sha256: sha256.toLowerCase() } as const]),
    ...(variableName === null ? [] : [{ kind: "variable", name: variableName } as const]),
    ...(file === null ? [] : [{ kind: "file", path: file } as const]),
  ];
  const [source = null] = sources;
  const written = ["sha256", "key_env", "key_file"].filter(
    (each) => nodeAt(node, [each]) !== undefined,
  );
  if (context.isWhole && written.length !== 1) {
    reportError(
      context,
      node?.origin ?? { kind: "default" },
      `${context.path} has ${written.length === 0 ? "no" : "more than one"} key`,
      "give one of sha256, key_env and key_file; strata keys new makes one",
    );
  }
  return source;
}

function reportUncounted({ node, context }: Surroundings): void {
  reportError(
    context,
    nodeAt(node, ["other_requests"])?.origin ?? { kind: "default" },
    `${context.path}.other_requests cannot be true beside models or budget`,
    "what is no model call has no model and no known cost: remove it, or give it a key of its own",
  );
}
