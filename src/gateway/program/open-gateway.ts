// The gateway as an object of a program, with plain options instead of a strata.yaml.
import type { Environment } from "../../core/config/environment.ts";
import type { UpstreamConfig } from "../../core/config/schema/gateway.ts";
import { onlyPresent } from "../../core/message/fields.ts";
import { StrataError } from "../../core/strata-error.ts";
import { findProtocolOfKind, protocolKinds } from "../../core/wire/protocols.ts";
import type { GatewayKey, GatewayKeys } from "../admission/gateway-key.ts";
import * as whole from "../open-gateway.ts";
import { toUpstreamTable } from "../upstreams/configured.ts";
import type { UpstreamTable } from "../upstreams/upstream-table.ts";

/** Clients of a gateway, and where their requests go. */
export interface GatewayRoutes {
  /** Servers by name, for paths that begin with /NAME. One with a vendor's name replaces its address; all vendors are known. */
  readonly upstreams?: Readonly<Record<string, UpstreamOptions>>;
  /** Without any, clients bring the providers' keys, and these pass through. */
  readonly keys?: readonly GatewayKey[];
  /** What upstreams get for clients with a key of the gateway, by name. */
  readonly upstreamKeys?: Readonly<Record<string, string>>;
}

export interface UpstreamOptions {
  /** With the path before /messages or /chat/completions. */
  readonly baseUrl: string;
  /** A kind of provider, such as `anthropic` or `openai-compatible`, for its protocol; by default it is recognised. */
  readonly protocol?: string;
  /** Sent in place of the client's. */
  readonly headers?: Readonly<Record<string, string>>;
}

type Passed = Pick<
  whole.GatewayOptions,
  "store" | "host" | "port" | "token" | "tls" | "limits" | "websocket" | "onCall" | "onProblem"
>;

/** `port`: any free one by default. `host`: this machine by default; any other address needs keys or a token. */
export interface GatewayOptions extends GatewayRoutes, Passed {
  /** The variables of the process, which may name proxies; none by default. */
  readonly env?: Environment;
}

export interface Gateway extends AsyncDisposable {
  /** What clients set as their base URL. */
  readonly url: string;
  readonly urls: readonly string[];
  readonly port: number;
  /** New requests follow these routes; what is left out is as it is by default. */
  use(routes: GatewayRoutes): void;
  /** What of the calls is in the ledger. */
  stats(): ReturnType<whole.Gateway["stats"]>;
  /** Takes no new requests, waits for open ones as long as it may (30 s by default), and writes what is left. */
  close(drainMs?: number): Promise<void>;
}

/** Opens a gateway before the providers, as `strata serve` does. Close it. */
export async function openGateway(options: GatewayOptions): Promise<Gateway> {
  const { upstreams, keys, upstreamKeys, env = {}, ...passed } = options;
  const routes = onlyPresent({ upstreams, keys, upstreamKeys });
  const gateway = await whole.openGateway({
    ...passed,
    env,
    table: toTable(routes),
    keys: toKeys(routes),
  });
  const close = (drainMs = 30_000): Promise<void> => gateway.close(drainMs);
  return {
    url: gateway.urls[0] ?? "",
    urls: gateway.urls,
    port: gateway.port,
    use: (next) => gateway.use(toTable(next), toKeys(next)),
    stats: () => gateway.stats(),
    close,
    [Symbol.asyncDispose]: () => close(),
  };
}

function toTable({ upstreams = {} }: GatewayRoutes): UpstreamTable {
  const configs = Object.entries(upstreams).map(([name, options]): [string, UpstreamConfig] => [
    name,
    toConfig(name, options),
  ]);
  return toUpstreamTable(new Map(configs));
}

function toConfig(
  name: string,
  { baseUrl, protocol, headers = {} }: UpstreamOptions,
): UpstreamConfig {
  if (!/^https?:$/.test(URL.parse(baseUrl)?.protocol ?? "")) {
    throw invalid(
      `the upstream ${name} has no address`,
      "give baseUrl, as https://llm.example.com/v1",
    );
  }
  if (protocol !== undefined && findProtocolOfKind(protocol) === undefined) {
    const known = protocolKinds.join(", ");
    throw invalid(`the upstream ${name} has an unknown protocol`, `give one of ${known}`);
  }
  return { baseUrl, protocol: protocol ?? null, headers: new Map(Object.entries(headers)) };
}

function toKeys({ keys = [], upstreamKeys = {} }: GatewayRoutes): GatewayKeys {
  return { keys, upstreamKeys: new Map(Object.entries(upstreamKeys)) };
}

function invalid(message: string, hint: string): StrataError {
  return new StrataError("config-invalid", message, hint);
}
