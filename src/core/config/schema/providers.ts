// providers: who answers calls, where, with which key. A name of one's own for each.
import { protocolKinds, protocols } from "../../wire/protocols.ts";
import { nodeAt, type Origin } from "../config-node.ts";
import { leaf, optionalChoice, text, whole } from "../leaves.ts";
import { maskAddress, maskText } from "../mask-secrets.ts";
import { named, ownOnly, section, type Surroundings } from "../sections.ts";
import { reportError, type Spec } from "../spec.ts";
import { checkHeaderNames, headersSpec, hide } from "./provider-headers.ts";

/** What every protocol is called here, and one that needs no provider at all. */
const providerKinds: readonly string[] = [...protocolKinds, "simulator"];

export interface ProviderConfig {
  readonly kind: string;
  /** Null for the kind's own. */
  readonly baseUrl: string | null;
  /** Never to be printed. */
  readonly apiKey: string | null;
  /** Sent with every request; they may hold secrets, too. */
  readonly headers: ReadonlyMap<string, string>;
  /** What it calls models, by any spelling of theirs. */
  readonly modelNames: ReadonlyMap<string, string>;
  readonly timeouts: TimeoutsConfig;
  readonly retries: RetriesConfig;
}

export interface TimeoutsConfig {
  readonly connectMs: number;
  readonly firstByteMs: number;
  readonly idleMs: number;
  readonly totalMs: number;
}

export interface RetriesConfig {
  readonly attemptsMax: number;
  readonly backoffMsBase: number;
  readonly backoffMsMax: number;
  readonly retryAfterMsMax: number;
}

/** The longest a timer can wait. */
const msMax = 2_147_483_647;

const timeouts: Spec<TimeoutsConfig> = section(
  "how long a call waits",
  {
    connect_ms: whole({ usual: 10_000, min: 1, max: msMax }, "until the connection stands"),
    first_byte_ms: whole({ usual: 600_000, min: 1, max: msMax }, "until the answer begins"),
    idle_ms: whole({ usual: 300_000, min: 1, max: msMax }, "between two arrivals of bytes"),
    total_ms: whole({ usual: 3_600_000, min: 1, max: msMax }, "for the call with all its attempts"),
  },
  (get) => ({
    connectMs: get("connect_ms"),
    firstByteMs: get("first_byte_ms"),
    idleMs: get("idle_ms"),
    totalMs: get("total_ms"),
  }),
);

const retries: Spec<RetriesConfig> = section(
  "when a failed attempt is followed by another",
  {
    attempts_max: whole({ usual: 4, min: 1, max: 100 }, "attempts, with the first one"),
    backoff_ms_base: whole(
      { usual: 500, min: 0, max: msMax },
      "longest wait after the first attempt; it doubles with each",
    ),
    backoff_ms_max: whole({ usual: 30_000, min: 0, max: msMax }, "where doubling ends"),
    retry_after_ms_max: whole(
      { usual: 60_000, min: 0, max: msMax },
      "a provider that asks for a longer wait is not waited for",
    ),
  },
  (get) => ({
    attemptsMax: get("attempts_max"),
    backoffMsBase: get("backoff_ms_base"),
    backoffMsMax: get("backoff_ms_max"),
    retryAfterMsMax: get("retry_after_ms_max"),
  }),
);

const provider: Spec<ProviderConfig> = section(
  "one provider",
  {
    kind: optionalChoice(providerKinds, "which API it speaks"),
    base_url: text("where it is; the API's own address without it", {
      allowed: "an address of http or https without a name or a password in it",
      isFit: isPlainAddress,
      show: (address) => (isPlainAddress(address) ? maskAddress(address) : hide(address)),
    }),
    api_key: text("the key itself; better in a variable", {
      allowed: "a key without spaces or line breaks",
      isFit: (key) => /^[\x21-\x7e]+$/.test(key),
      show: hide,
    }),
    api_key_env: text("the variable that holds the key", {
      allowed: "the name of a variable",
      isFit: isVariable,
      // Somebody may have written the key itself there.
      show: (name) => (isVariable(name) ? maskText(name) : hide(name)),
    }),
    headers: headersSpec,
    model_names: named("what it calls models, where that is not their id", modelName()),
    timeouts,
    retries,
  },
  (get, around) => {
    const [kind, baseUrl, headers] = [get("kind"), get("base_url"), get("headers")];
    // Its value has taken the place of `api_key` already, where there is one.
    get("api_key_env");
    if (around.context.isWhole) checkWhole(around, kind);
    checkHeaderNames(around, headers);
    return {
      // One without a kind is an error that was reported.
      kind: kind ?? "",
      baseUrl,
      apiKey: get("api_key"),
      headers,
      modelNames: get("model_names"),
      timeouts: get("timeouts"),
      retries: get("retries"),
    };
  },
);

export const providers: Spec<ReadonlyMap<string, ProviderConfig>> = ownOnly(
  named(
    "who answers calls, by a name of your own; anthropic, openai and simulator are there",
    provider,
  ),
);

function isVariable(name: string): boolean {
  return /^[A-Za-z_]\w*$/.test(name);
}

function isPlainAddress(address: string): boolean {
  const parts = /^https?:\/\/([^/?#\s]+)(?:[/?#]\S*)?$/i.exec(address);
  return parts !== null && !address.includes("@");
}

function modelName(): Spec<string> {
  return leaf({
    meaning: "its name for the model",
    allowed: "a name without line breaks, of at most 200 characters",
    usual: "",
    accept: (value) =>
      typeof value === "string" && /^[^\p{Cc}]{1,200}$/u.test(value) ? value : undefined,
    shape: { usual: null, fromText: (given) => given },
  });
}

function checkWhole({ node, context }: Surroundings, kind: string | null): void {
  const place: Origin = node?.origin ?? { kind: "default" };
  if (kind === null && nodeAt(node, ["kind"]) === undefined) {
    const kinds = providerKinds.join(", ");
    reportError(context, place, `${context.path} has no kind`, `add kind: one of ${kinds}`);
  }
  const isElsewhere = protocols.some(({ access }) => access.compatibleKind === kind);
  if (kind !== null && isElsewhere && nodeAt(node, ["base_url"]) === undefined) {
    reportError(
      context,
      place,
      `${context.path} is ${kind} and has no base_url`,
      "add base_url, as http://localhost:8000/v1",
    );
  }
}
