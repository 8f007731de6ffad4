// telemetry: where OpenTelemetry spans and metrics go.
import { nodeAt, type ConfigNode } from "../config-node.ts";
import { flag, leaf, someOf, text, whole } from "../leaves.ts";
import { maskAddress, maskText } from "../mask-secrets.ts";
import { named, section } from "../sections.ts";
import type { Spec } from "../spec.ts";
import { checkHeaderNames, headersSpec, hide } from "./provider-headers.ts";
import { isPlainAddress } from "./providers.ts";

export interface TelemetryConfig {
  readonly isEnabled: boolean;
  /** The collector's address without the path of a signal; null for none. */
  readonly endpoint: string | null;
  /** The whole address of one signal, in place of the collector's. */
  readonly tracesEndpoint: string | null;
  readonly metricsEndpoint: string | null;
  /** `http/protobuf`, or what a variable for other programs says. */
  readonly protocol: string;
  /** They may hold secrets. */
  readonly headers: ReadonlyMap<string, string>;
  readonly serviceName: string;
  readonly resource: ReadonlyMap<string, string>;
  readonly hasTraces: boolean;
  readonly hasMetrics: boolean;
  readonly compat: readonly "openinference"[];
  readonly spanDelayMs: number;
  readonly metricsEveryMs: number;
  readonly queueMax: number;
  /** Whether only a variable that other programs read names a collector, so that it may not be meant for this one. */
  readonly isShared: boolean;
}

export const onlyProtocol = "http/protobuf";

export const telemetry: Spec<TelemetryConfig> = section(
  "where OpenTelemetry spans and metrics of calls, turns and tools go",
  {
    enabled: flag(true, "false: nothing is sent, whatever else is set"),
    endpoint: collector(
      "the collector, as http://127.0.0.1:4318; v1/traces and v1/metrics are added. Default: nothing is sent",
    ),
    traces_endpoint: collector("the whole address for spans, in place of the collector's"),
    metrics_endpoint: collector("the whole address for metrics, in place of the collector's"),
    protocol: protocol(),
    headers: headersSpec,
    service_name: text("service.name of all that is sent; default: strata"),
    resource: named("further attributes of this process", attribute()),
    traces: flag(true, "whether spans are sent"),
    metrics: flag(true, "whether metrics are sent"),
    compat: someOf(
      ["openinference"],
      "names of other conventions that spans have beside the current ones; default: none",
    ),
    span_delay_ms: whole(
      { usual: 5000, min: 1, max: 3_600_000 },
      "how long a finished span waits for others",
    ),
    metrics_every_ms: whole({ usual: 60_000, min: 1, max: 3_600_000 }, "between two reports"),
    queue_max: whole(
      { usual: 10_000, min: 1, max: 1_000_000 },
      "calls, events and spans that may wait; further ones are dropped and counted",
    ),
  },
  (get, around) => {
    const headers = get("headers");
    checkHeaderNames(around, headers);
    return {
      isEnabled: get("enabled"),
      endpoint: get("endpoint"),
      tracesEndpoint: get("traces_endpoint"),
      metricsEndpoint: get("metrics_endpoint"),
      protocol: get("protocol"),
      headers,
      serviceName: get("service_name") ?? "strata",
      resource: get("resource"),
      hasTraces: get("traces"),
      hasMetrics: get("metrics"),
      compat: get("compat").filter((each) => each !== null),
      spanDelayMs: get("span_delay_ms"),
      metricsEveryMs: get("metrics_every_ms"),
      queueMax: get("queue_max"),
      isShared: isShared(around.node),
    };
  },
);

/** What a variable for other programs says is judged where it is used. */
function collector(meaning: string): Spec<string | null> {
  return leaf<string | null>({
    meaning,
    allowed: "an address of http or https without a user name or a password",
    usual: null,
    accept: (value, node) => {
      if (typeof value !== "string") return undefined;
      if (value === "") return null;
      return isPlainAddress(value) || isOfOthers(node) ? value : undefined;
    },
    shape: {
      usual: null,
      fromText: (given) => given,
      show: (address) => (isPlainAddress(address) ? maskAddress(address) : hide(address)),
    },
  });
}

function protocol(): Spec<string> {
  return leaf({
    meaning: "how it is spoken to",
    allowed: onlyProtocol,
    usual: onlyProtocol,
    accept: (value, node) =>
      typeof value === "string" && (value === onlyProtocol || isOfOthers(node)) ? value : undefined,
    shape: { usual: onlyProtocol, fromText: (given) => given, show: maskText },
  });
}

function attribute(): Spec<string> {
  return leaf({
    meaning: "the value of the attribute",
    allowed: "text",
    usual: "",
    accept: (value) => (typeof value === "string" ? value : undefined),
    shape: { usual: null, fromText: (given) => given, show: maskText },
  });
}

function isShared(node: ConfigNode | undefined): boolean {
  const places = ["endpoint", "traces_endpoint", "metrics_endpoint"].flatMap((key) => {
    const found = nodeAt(node, [key]);
    return found === undefined ? [] : [found];
  });
  return places.length > 0 && places.every(isOfOthers);
}

function isOfOthers({ origin }: ConfigNode): boolean {
  return origin.kind === "environment" && origin.name.startsWith("OTEL_");
}
