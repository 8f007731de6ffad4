// The standard variables of OpenTelemetry as settings. They are meant for all programs, so what does not fit here is no error.
import type { ConfigNode, Origin, ScalarValue } from "./config-node.ts";
import { nodeWith } from "./config-node.ts";
import { canBeSent } from "./schema/provider-headers.ts";

export function telemetryIn(
  env: Readonly<Record<string, string | undefined>>,
): readonly ConfigNode[] {
  const nodes: ConfigNode[] = [];
  const read = (name: string, use: (value: string, origin: Origin) => void): void => {
    const value = env[name]?.trim() ?? "";
    if (value !== "") use(value, { kind: "environment", name });
  };
  const set = (key: string, value: ScalarValue, origin: Origin): void => {
    nodes.push(nodeWith(["telemetry", key], { kind: "scalar", origin, value }));
  };
  for (const [name, key] of texts) read(name, (value, origin) => set(key, value, origin));
  for (const [name, key] of counts) {
    read(name, (value, origin) => {
      if (/^[1-9]\d{0,5}$/.test(value)) set(key, Number(value), origin);
    });
  }
  for (const [name, key] of signals) {
    read(name, (value, origin) => {
      if (!value.split(",").some((each) => each.trim() === "otlp")) set(key, false, origin);
    });
  }
  read("OTEL_SDK_DISABLED", (value, origin) => {
    if (value.toLowerCase() === "true") set("enabled", false, origin);
  });
  for (const [name, key] of lists) {
    read(name, (value, origin) => {
      for (const [member, text] of pairsIn(value)) {
        if (key === "headers" && !canBeSent(member, text)) continue;
        nodes.push(nodeWith(["telemetry", key, member], { kind: "scalar", origin, value: text }));
      }
    });
  }
  return nodes;
}

/** Where two name one setting, the later one counts. */
const texts: readonly (readonly [name: string, key: string])[] = [
  ["OTEL_EXPORTER_OTLP_ENDPOINT", "endpoint"],
  ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "traces_endpoint"],
  ["OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "metrics_endpoint"],
  ["OTEL_EXPORTER_OTLP_PROTOCOL", "protocol"],
  ["OTEL_SERVICE_NAME", "service_name"],
];

const counts: typeof texts = [
  ["OTEL_BSP_SCHEDULE_DELAY", "span_delay_ms"],
  ["OTEL_BSP_MAX_QUEUE_SIZE", "queue_max"],
  ["OTEL_METRIC_EXPORT_INTERVAL", "metrics_every_ms"],
];

const signals: typeof texts = [
  ["OTEL_TRACES_EXPORTER", "traces"],
  ["OTEL_METRICS_EXPORTER", "metrics"],
];

const lists: typeof texts = [
  ["OTEL_EXPORTER_OTLP_HEADERS", "headers"],
  ["OTEL_RESOURCE_ATTRIBUTES", "resource"],
];

/** For `strata config`, which names the variables that hold. */
export const telemetryVariables: readonly string[] = [
  "OTEL_SDK_DISABLED",
  ...[...texts, ...counts, ...signals, ...lists].map(([name]) => name),
];

/** `name=value,name=value`, with values as in a URL. */
function pairsIn(text: string): readonly (readonly [string, string])[] {
  return text.split(",").flatMap((pair) => {
    const at = pair.indexOf("=");
    const name = pair.slice(0, at).trim();
    if (at < 1 || name === "" || name.length > 200) return [];
    return [[name, decoded(pair.slice(at + 1).trim())] as const];
  });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
