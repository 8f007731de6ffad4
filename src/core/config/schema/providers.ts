// providers: the APIs that answer calls, with their addresses and keys. The user chooses their names.
import {
  findAddress,
  findProtocolOfKind,
  protocolKinds,
  protocols,
  vendors,
} from "../../wire/protocols.ts";
import { nodeAt, type Origin } from "../config-node.ts";
import { flag, leaf, optionalChoice, optionalFlag, text, whole } from "../leaves.ts";
import { maskAddress, maskText } from "../mask-secrets.ts";
import { group, named, section, type Surroundings } from "../sections.ts";
import { joinPath, reportError, type Spec } from "../spec.ts";
import { checkHeaderNames, headersSpec, hide } from "./provider-headers.ts";
import * as wire from "../../models/wire-rules.ts";
import { clouds, type Cloud } from "../../wire/read-vendors.ts";

/** One for every protocol, and the simulator. */
const providerKinds: readonly string[] = [...protocolKinds, "simulator"];

export interface ProviderConfig {
  readonly kind: string;
  /** Null for the kind's own. */
  readonly baseUrl: string | null;
  /** What stands in the vendor's address, such as a region, by name. */
  readonly places: ReadonlyMap<string, string>;
  /** The cloud whose credentials, as its own library finds them, are used without a key; null for none. */
  readonly credentials: Cloud | null;
  /** Never to be printed. */
  readonly apiKey: string | null;
  /** Sent with every request. They may hold secrets too. */
  readonly headers: ReadonlyMap<string, string>;
  /** Its names for models, by any spelling of them. */
  readonly modelNames: ReadonlyMap<string, string>;
  /** What its server takes. */
  readonly wire: WireConfig;
  /** Whether to ask it why its cache missed. */
  readonly diagnose: boolean;
  readonly timeouts: TimeoutsConfig;
  readonly retries: RetriesConfig;
}

export interface TimeoutsConfig {
  /** Until the connection is open, with its encryption. */
  readonly connectMs: number;
  /** From the start of an attempt to the answer's headers. Without streaming, the whole reply is generated before them. */
  readonly firstByteMs: number;
  /** Between two arrivals of bytes. */
  readonly idleMs: number;
  /** The whole call with every attempt and every wait. */
  readonly totalMs: number;
}

export interface RetriesConfig {
  /** Includes the first attempt. */
  readonly attemptsMax: number;
  /** The longest wait after the first attempt; it doubles with each further one. */
  readonly backoffMsBase: number;
  readonly backoffMsMax: number;
  /** A longer wait than this ends the attempts. */
  readonly retryAfterMsMax: number;
}

/** The longest wait of a timer. */
const msMax = 2_147_483_647;

const timeouts: Spec<TimeoutsConfig> = group("time limits of a call", {
  connectMs: whole({ usual: 10_000, min: 1, max: msMax }, "until the connection is open"),
  firstByteMs: whole({ usual: 600_000, min: 1, max: msMax }, "until the answer begins"),
  idleMs: whole({ usual: 300_000, min: 1, max: msMax }, "between two arrivals of bytes"),
  totalMs: whole({ usual: 3_600_000, min: 1, max: msMax }, "for the call with all its attempts"),
});

const retries: Spec<RetriesConfig> = group("when a failed attempt is repeated", {
  attemptsMax: whole({ usual: 4, min: 1, max: 100 }, "attempts, including the first"),
  backoffMsBase: whole(
    { usual: 500, min: 0, max: msMax },
    "longest wait after the first attempt; it doubles with each",
  ),
  backoffMsMax: whole({ usual: 30_000, min: 0, max: msMax }, "the longest wait after doubling"),
  retryAfterMsMax: whole(
    { usual: 60_000, min: 0, max: msMax },
    "if a provider asks for a longer wait, the call fails",
  ),
});

/** Null for a rule that stays as it is. */
type WireConfig = { readonly like: string | null } & Required<wire.WireChanges>;

const wireSpec: Spec<WireConfig> = group<WireConfig>(
  "what its server takes, for Chat Completions; default: by its name, else by the model's route",
  {
    like: optionalChoice(wire.wireNames, "take the rules of this server"),
    systemRole: optionalChoice(wire.systemRoles, "the role of system text"),
    systemMessages: optionalChoice(wire.systemPlaces, "where system messages may stand"),
    outputLimit: optionalChoice(wire.outputLimits, "the member that limits a reply"),
    content: optionalChoice(wire.contents, "plain text as a list of parts or as one string"),
    streamUsage: optionalFlag("whether to ask for the usage of a streamed reply"),
    cacheKey: optionalFlag("whether to send prompt_cache_key"),
    effort: optionalChoice(wire.efforts, "the member for the effort"),
    outputSchema: optionalChoice(wire.outputSchemas, "whether the schema of a reply is taken"),
    thinking: optionalChoice(wire.thinkings, "what becomes of thinking in later calls"),
    toolIds: optionalChoice(wire.toolIdForms, "the form of a tool call's id"),
    afterTools: optionalChoice(wire.afterToolForms, "what must follow the results of tools"),
  },
);

const placeNames: readonly string[] = [
  ...new Set(vendors.flatMap(({ listed }) => [...(listed?.places.keys() ?? [])])),
];

const places: Spec<ReadonlyMap<string, string>> = section(
  "what stands in its address, for vendors whose address is not the same for everybody",
  Object.fromEntries(
    placeNames.map((name) => [
      name,
      text(`the ${name} in its address`, {
        allowed: "letters, digits, dots, colons, dashes and underscores",
        isFit: (value) => /^[\w.:-]+$/.test(value),
      }),
    ]),
  ),
  (get) =>
    new Map(
      placeNames.flatMap((name): readonly (readonly [string, string])[] => {
        const value = get(name);
        return value === null ? [] : [[name, value]];
      }),
    ),
);

const provider: Spec<ProviderConfig> = section(
  "one provider",
  {
    kind: optionalChoice(providerKinds, "the API that it speaks"),
    base_url: webAddress("its address; default: the API's own"),
    places,
    credentials: optionalChoice(
      clouds,
      "the cloud whose credentials sign requests without a key, found by its own library",
    ),
    api_key: text("the key itself; a variable is safer", {
      allowed: "a key without spaces or line breaks",
      isFit: (key) => /^[\x21-\x7e]+$/.test(key),
      show: hide,
    }),
    api_key_env: variable("the variable that holds the key"),
    headers: headersSpec,
    model_names: named("its names for models, where they are not their ids", modelName()),
    wire: wireSpec,
    diagnose: flag(
      false,
      "whether each call asks why its cache missed; sent only where the API is known to take it",
    ),
    timeouts,
    retries,
  },
  (get, around) => {
    const [kind, baseUrl, headers] = [get("kind"), get("base_url"), get("headers")];
    // Its value already replaced `api_key`.
    get("api_key_env");
    if (around.context.isWhole) checkWhole(around, kind);
    checkHeaderNames(around, headers);
    return {
      // A missing kind was reported.
      kind: kind ?? "",
      baseUrl,
      places: get("places"),
      credentials: get("credentials"),
      apiKey: get("api_key"),
      headers,
      modelNames: get("model_names"),
      wire: get("wire"),
      diagnose: get("diagnose"),
      timeouts: get("timeouts"),
      retries: get("retries"),
    };
  },
);

export const providers: Spec<ReadonlyMap<string, ProviderConfig>> = named(
  "providers by name; simulator and the vendors that docs/configuration.md lists are built in",
  provider,
);

export function webAddress(meaning: string): Spec<string | null> {
  return text(meaning, {
    allowed: "an address of http or https without a user name or a password",
    isFit: isPlainAddress,
    show: (address) => (isPlainAddress(address) ? maskAddress(address) : hide(address)),
  });
}

export function variable(meaning: string): Spec<string | null> {
  return text(meaning, {
    allowed: "the name of a variable",
    isFit: isVariable,
    // The key itself may be written here by mistake.
    show: (name) => (isVariable(name) ? maskText(name) : hide(name)),
  });
}

function isVariable(name: string): boolean {
  return /^[A-Za-z_]\w*$/.test(name);
}

export function isPlainAddress(address: string): boolean {
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
  if (
    kind !== null &&
    needsAddress(context.path, kind) &&
    nodeAt(node, ["base_url"]) === undefined
  ) {
    reportError(
      context,
      place,
      `${context.path} is ${kind} and has no base_url`,
      "add base_url, as http://localhost:8000/v1",
    );
  }
}

/** Without one, a key could go to the vendor whose protocol it is. */
function needsAddress(path: string, kind: string): boolean {
  const protocol = findProtocolOfKind(kind);
  if (protocol === undefined) return false;
  const vendor = vendors.find(({ name }) => joinPath("providers", name) === path);
  if (vendor !== undefined && findAddress(vendor.name, protocol) !== undefined) return false;
  const isListed = (vendor?.listed ?? null) !== null;
  return (
    isListed ||
    protocol.access.isExample === true ||
    protocols.some(({ access }) => access.compatibleKind === kind)
  );
}
