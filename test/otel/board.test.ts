// Goal: the Grafana board and the alerts of examples/ ask for nothing that is not there. Method: every metric and label that their
// expressions name, against what a running `strata serve` answers on /metrics.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { plantedKey } from "../../harness/planted-key.ts";
import { startServe } from "../gateway/start-serve.ts";
import { listMetrics } from "../../src/edge/exporters/metric-specs.ts";

interface Board {
  readonly panels: readonly {
    readonly id: number;
    readonly title: string;
    readonly targets?: readonly { readonly expr: string }[];
  }[];
  readonly templating: { readonly list: readonly { readonly definition?: string }[] };
}

interface Alerts {
  readonly groups: readonly {
    readonly rules: readonly {
      readonly alert: string;
      readonly expr: string;
      readonly annotations: { readonly summary: string; readonly description: string };
    }[];
  }[];
}

const board = JSON.parse(readFileSync("examples/operations/grafana-board.json", "utf8")) as Board;
const alerts = parse(readFileSync("examples/operations/alerts.yaml", "utf8")) as Alerts;
const rules = alerts.groups.flatMap(({ rules: each }) => each);

const expressions = [
  ...board.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
  ...board.templating.list.flatMap(({ definition }) => definition ?? []),
  ...rules.map(({ expr }) => expr),
];

test("every metric that the board and the alerts name is one that strata serve answers", async () => {
  const serve = await startServe(["--sim"], {
    OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9",
    OTEL_METRICS_EXPORTER: "none",
  });
  const asked = await fetch(`${serve.url}/v1/messages`, {
    method: "POST",
    headers: { "x-api-key": plantedKey, "anthropic-version": "2023-06-01" },
    body: JSON.stringify({
      model: "claude-sonnet-5-5",
      max_tokens: 20,
      messages: [{ role: "user", content: "hi" }],
    }),
  });
  expect(asked.status).toBe(200);
  const text = await (await fetch(`${serve.url}/metrics`)).text();
  const served = new Set(
    [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = "", kind]) =>
      kind === "histogram" ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
    ),
  );
  const named = [...new Set(expressions.flatMap(metricsIn))];
  expect(named.length).toBeGreaterThan(15);
  expect(named.filter((name) => !served.has(name))).toEqual([]);
});

test("every label that they group or select by is one of the metric", () => {
  const labels = new Map<string, readonly string[]>([
    ...listMetrics().map(({ name, labels: own }): [string, readonly string[]] => [name, own]),
    ["strata_gateway_exchanges_total", ["outcome"]],
    ["strata_telemetry_spans_total", ["outcome"]],
    ["strata_telemetry_dropped_total", ["cause"]],
  ]);
  const wrong = expressions.flatMap((expr) => {
    const of = metricsIn(expr).map((name) => name.replace(/_bucket$/, ""));
    return labelsIn(expr).filter(
      (label) => label !== "le" && !of.some((name) => labels.get(name)?.includes(label)),
    );
  });
  expect(wrong).toEqual([]);
});

test("the alerts watch the miss rate, the cost of an hour and providers that lose writes", () => {
  expect(rules.map(({ alert }) => alert)).toEqual(
    expect.arrayContaining(["StrataMissRate", "StrataCostPerHour", "StrataProviderLosesWrites"]),
  );
  for (const { annotations } of rules) {
    expect(annotations.summary.length).toBeGreaterThan(20);
    expect(annotations.description.length).toBeGreaterThan(20);
  }
});

test("each panel has an id of its own and says what it shows", () => {
  const ids = board.panels.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
});

function metricsIn(expr: string): readonly string[] {
  return expr.match(/\b(?:llm|agent|workspace|strata)_[a-z0-9_]+\b(?!\s*=)/g) ?? [];
}

function labelsIn(expr: string): readonly string[] {
  const grouped = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, names = ""]) =>
    names.split(","),
  );
  const selected = [...expr.matchAll(/[{,]\s*([a-z_]+)\s*(?:=~|!=|!~|=)/g)].map(
    ([, name = ""]) => name,
  );
  return [...grouped, ...selected].map((name) => name.trim());
}
