// gateway: what `strata serve` listens at, and where it sends requests.
import { repairNames, type RepairName } from "../../wire/foreign/foreign-reader.ts";
import { clouds, type Cloud } from "../../wire/read-vendors.ts";
import { protocolKinds, vendors } from "../../wire/protocols.ts";
import { nodeAt, type Origin } from "../config-node.ts";
import {
  choice,
  flag,
  optionalChoice,
  optionalNumber,
  someOf,
  text,
  texts,
  whole,
} from "../leaves.ts";
import { group, named, section, type Surroundings } from "../sections.ts";
import { joinPath, reportError, type Spec } from "../spec.ts";
import { path } from "./places.ts";
import { checkHeaderNames, headersSpec } from "./provider-headers.ts";
import { gatewayKeys, type GatewayKeyConfig } from "./gateway-keys.ts";
import { variable, webAddress } from "./providers.ts";

export interface GatewayConfig {
  readonly port: number;
  /** Null for this machine. */
  readonly host: string | null;
  readonly tokenFile: string | null;
  readonly tls: { readonly certFile: string | null; readonly keyFile: string | null };
  /** The gateway's own keys by name; none if clients bring those of the upstreams. */
  readonly keys: ReadonlyMap<string, GatewayKeyConfig>;
  readonly upstreams: ReadonlyMap<string, UpstreamConfig>;
  readonly websocket: "relay" | "refuse";
  readonly optimize: OptimizeConfig;
  readonly limits: GatewayLimits;
  readonly timeouts: GatewayTimeouts;
}

export interface OptimizeConfig {
  /** Percent of the conversations; 0 for none. */
  readonly share: number;
  /** Percent of those: left as they are, to compare. */
  readonly holdout: number;
  /** Names; empty for those that are known to take our markers. */
  readonly upstreams: readonly string[];
  /** Names of programs; empty for all. */
  readonly clients: readonly string[];
  readonly logins: boolean;
  readonly repairs: readonly RepairName[];
  readonly keepWarm: { readonly usdPerHour: number | null; readonly logins: boolean };
  readonly waitMs: number;
  readonly fanOutMs: number;
  readonly diagnose: boolean;
}

export interface UpstreamConfig {
  /** Empty for a vendor's own, or if it is missing, which was reported. */
  readonly baseUrl: string;
  /** A kind of provider, for its protocol; null to recognise it. */
  readonly protocol: string | null;
  /** Sent in place of the client's. They may hold secrets. */
  readonly headers: ReadonlyMap<string, string>;
  /** The cloud whose credentials of this machine sign what clients do not; absent for none. */
  readonly credentials?: Cloud | null;
  /** Where the address names none; absent for the environment's. */
  readonly region?: string | null;
  /** Where the key is that is sent for clients with a key of the gateway; absent for the vendor's own variable. */
  readonly key?: { readonly env: string } | { readonly file: string };
}

export interface GatewayLimits {
  readonly connectionsMax: number;
  readonly headerBytesMax: number;
  /** A longer request is forwarded without being read. */
  readonly bodyReadBytesMax: number;
}

export interface GatewayTimeouts {
  readonly headMs: number;
  readonly bodyIdleMs: number;
  readonly bodyMs: number;
  readonly keepAliveMs: number;
  readonly connectMs: number;
  readonly firstByteMs: number;
  readonly drainMs: number;
}

/** The longest wait of a timer. */
const msMax = 2_147_483_647;

const limits: Spec<GatewayLimits> = group("what it takes from clients", {
  connectionsMax: whole({ usual: 10_000, min: 1 }, "open connections; further ones are closed"),
  headerBytesMax: whole(
    { usual: 65_536, min: 1024, max: 16_777_216 },
    "the headers of a request; longer ones are answered 431",
  ),
  bodyReadBytesMax: whole(
    { usual: 67_108_864, min: 0 },
    "a longer request is forwarded without being read",
  ),
});

const timeouts: Spec<GatewayTimeouts> = group("how long it waits", {
  headMs: whole({ usual: 30_000, min: 1, max: msMax }, "for the headers of a request"),
  bodyIdleMs: whole({ usual: 300_000, min: 1, max: msMax }, "for more of a request's body"),
  bodyMs: whole(
    { usual: 3_600_000, min: 1, max: msMax },
    "for the whole of a request, however steadily it arrives",
  ),
  keepAliveMs: whole(
    { usual: 75_000, min: 1, max: msMax },
    "for the next request on a connection; longer than clients keep theirs",
  ),
  connectMs: whole({ usual: 10_000, min: 1, max: msMax }, "for a connection to an upstream"),
  firstByteMs: whole(
    { usual: 900_000, min: 1, max: msMax },
    "for an answer to begin; then the client gets 504",
  ),
  drainMs: whole({ usual: 30_000, min: 0, max: msMax }, "for open streams when it is stopped"),
});

const upstream: Spec<UpstreamConfig> = section(
  "one upstream",
  {
    base_url: webAddress("its address, with the path before /messages or /chat/completions"),
    protocol: optionalChoice(protocolKinds, "the API that it speaks; default: recognised"),
    headers: headersSpec,
    credentials: optionalChoice(
      clouds,
      "the cloud whose credentials, found on this machine by its own library, sign requests that have no key: Bedrock and Vertex, where the client skips it",
    ),
    region: text("the region of a signature, where the address names none; default: AWS_REGION"),
    key_env: variable(
      "the variable with its key, for clients that have a key of the gateway; default: the vendor's own",
    ),
    key_file: path("a file with that key; only its owner may read it"),
  },
  (get, around) => {
    const headers = get("headers");
    checkHeaderNames(around, headers);
    checkAddress(around);
    const [env, file] = [get("key_env"), get("key_file")];
    const key = env !== null ? { env } : file !== null ? { file } : undefined;
    return {
      baseUrl: get("base_url") ?? "",
      protocol: get("protocol"),
      headers,
      credentials: get("credentials"),
      region: get("region"),
      ...(key === undefined ? {} : { key }),
    };
  },
);

export const gateway: Spec<GatewayConfig> = group("the gateway of strata serve", {
  port: whole({ usual: 8787, min: 0, max: 65_535 }, "the port to listen at; 0: any free one"),
  host: text(
    "the address to listen at; default: this machine only. Any other address needs a token",
  ),
  tokenFile: path(
    "a file with the token that clients send as x-strata-token; only its owner may read it. STRATA_GATEWAY_TOKEN is stronger",
  ),
  tls: group("encryption towards clients; both files, or none", {
    certFile: path("the certificate with its chain, in PEM"),
    keyFile: path("its private key, in PEM"),
  }),
  keys: gatewayKeys,
  upstreams: checkedNames(
    named(
      "servers by name, for paths that begin with /NAME; one with a vendor's name replaces the vendor's own address",
      upstream,
    ),
  ),
  websocket: choice(
    ["relay", "refuse"],
    "relay",
    "whether WebSockets are relayed unread, or answered 426, after which Codex uses HTTP",
  ),
  optimize: group("cache markers in place of the client's, where they are expected to cost less", {
    share: whole(
      { usual: 0, min: 0, max: 100 },
      "percent of the conversations; 0: none, or all with --optimize",
    ),
    holdout: whole(
      { usual: 10, min: 0, max: 100 },
      "percent of those: left as they are, to compare",
    ),
    upstreams: texts(
      [],
      "only these; default: vendors' own addresses, and servers to which the client itself sends markers",
    ),
    clients: texts([], "only these programs, such as claude-code; default: all"),
    logins: flag(false, "whether calls that a subscription's login pays are changed, too"),
    repairs: someOf(
      repairNames,
      "changes besides markers that keep a request's meaning, from a conversation's first call on; default: none",
    ),
    keepWarm: group(
      "calls of the gateway's own that keep or write a cache, where that saves money",
      {
        usdPerHour: optionalNumber(
          "a number of dollars above 0, at most 1000000",
          (dollars) => dollars > 0 && dollars <= 1_000_000,
          "the most that they may cost in an hour, in this process; default: off",
        ),
        logins: flag(false, "whether a subscription's login may be used for them, too"),
      },
    ),
    waitMs: whole(
      { usual: 50, min: 1, max: msMax },
      "how long a request may wait for its markers; then it is sent as it is",
    ),
    diagnose: flag(
      false,
      "whether Anthropic's own API is asked why its cache missed, by a member of the request that is outside the prompt",
    ),
    fanOutMs: whole(
      { usual: 0, min: 0, max: 600_000 },
      "how long a conversation's first request may wait for the answer to another one with the same new prefix to begin, to read what that one writes; 0: not at all",
    ),
  }),
  limits,
  timeouts,
});

function checkAddress({ node, context }: Surroundings): void {
  if (!context.isWhole || nodeAt(node, ["base_url"]) !== undefined) return;
  const isVendor = vendors.some(({ name }) => joinPath("gateway.upstreams", name) === context.path);
  if (isVendor && nodeAt(node, ["protocol"]) === undefined) return;
  const place: Origin = node?.origin ?? { kind: "default" };
  const hint = "add base_url, as https://llm.example.com/v1";
  reportError(context, place, `${context.path} has no base_url`, hint);
}

/** A name is the first part of a path. */
function checkedNames<Value>(
  spec: Spec<ReadonlyMap<string, Value>>,
): Spec<ReadonlyMap<string, Value>> {
  return {
    ...spec,
    read: (node, context) => {
      for (const entry of node?.kind === "map" ? node.entries : []) {
        const { key, origin } = entry;
        if (/^[a-z0-9][a-z0-9._-]*$/.test(key) && !/^(?:u|strata|v\d.*)$/.test(key)) continue;
        reportError(
          context,
          origin,
          `${joinPath(context.path, key)} cannot be the beginning of a path`,
          "use lower-case letters, digits, dots and dashes; u, strata, and names such as v1 are taken",
        );
      }
      return spec.read(node, context);
    },
  };
}
