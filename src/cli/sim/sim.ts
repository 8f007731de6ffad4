// strata sim: a provider on this machine, until it is stopped.
import { once } from "node:events";
import { StrataError } from "../../core/strata-error.ts";
import * as sim from "../../simulator/index.ts";
import { parseBillingOptions, type BillingOptions } from "../../simulator/billing/options.ts";
import { createCallReport, renderTotals } from "./call-report.ts";
import { renderWelcome } from "./welcome.ts";
import type { CommandBody, CommandInput } from "../command.ts";

export const run: CommandBody = async (input, io) => {
  const { values, switches } = input;
  const isQuiet = switches.has("json");
  const seed = readNumber(values, "seed", Number.MAX_SAFE_INTEGER);
  const latencyMs = readNumber(values, "latency", 3_600_000) ?? 0;
  const port = readNumber(values, "port", 65_535) ?? 4141;
  const name = modelName(input);
  const calls = createCallReport(switches.has("verbose"), isQuiet, io);
  const simulator = sim.createSimulator({
    model: await createModel(name, values.get("script"), seed),
    clock: switches.has("virtual-clock") ? "virtual" : "real",
    control: switches.has("control"),
    latency: { firstByteMs: latencyMs },
    billing: readBilling(values.get("billing")),
    onCall: calls.add,
    ...(seed === undefined ? {} : { seed }),
  });
  const stopped = Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
  const server = await simulator.listen({ port, host: values.get("host") ?? "127.0.0.1" });
  io.out(
    isQuiet ? `${JSON.stringify({ url: server.url })}\n` : renderWelcome(server.url, name, input),
  );
  await stopped;
  await server.close();
  if (!isQuiet) io.out(renderTotals(calls.totals()));
  return 0;
};

function readBilling(text: string | undefined): Partial<BillingOptions> {
  if (text === undefined) return {};
  try {
    return parseBillingOptions(JSON.parse(text), "--billing");
  } catch (error) {
    if (error instanceof StrataError) throw usage(error.message, error.hint);
    throw usage("--billing is not JSON", `for example '{"graceMs": 10000}'`);
  }
}

const modelNames = ["echo", "agent", "scripted", "summariser"] as const;
type ModelName = (typeof modelNames)[number];

function modelName({ values }: CommandInput): ModelName {
  const given = values.get("model") ?? (values.has("script") ? "scripted" : "echo");
  const name = modelNames.find((each) => each === given);
  if (name === undefined) {
    throw usage(`there is no model "${given}"`, `choose one of ${modelNames.join(", ")}`);
  }
  if ((name === "scripted") === values.has("script")) return name;
  throw name === "scripted"
    ? usage("the scripted model needs a script", "add --script FILE")
    : usage(`the model ${name} takes no script`, "use --model scripted, or leave --script out");
}

async function createModel(
  name: ModelName,
  script: string | undefined,
  seed: number | undefined,
): Promise<sim.Model> {
  switch (name) {
    case "echo":
      return sim.createEcho();
    case "agent":
      return sim.createAgent(seed === undefined ? {} : { seed });
    case "scripted":
      return sim.createScripted(await sim.loadScript(script ?? ""));
    case "summariser":
      return sim.createSummariser();
  }
}

function readNumber(
  values: CommandInput["values"],
  name: string,
  most: number,
): number | undefined {
  const text = values.get(name);
  if (text === undefined) return undefined;
  const number = Number(text);
  if (/^\d+$/.test(text) && number <= most) return number;
  throw usage(`--${name} is ${text}`, `give a whole number from 0 to ${most}`);
}

function usage(message: string, hint: string): StrataError {
  return new StrataError("usage", message, `${hint}; see: strata sim --help`);
}
