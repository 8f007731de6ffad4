// strata sim: a provider on this machine, until it is stopped.
import { once } from "node:events";
import { styleText } from "node:util";
import { StrataError } from "../core/strata-error.ts";
import * as sim from "../simulator/index.ts";
import { parseBillingOptions, type BillingOptions } from "../simulator/billing/options.ts";
import type { CommandBody, CommandInput, Io } from "./command.ts";

export const run: CommandBody = async (input, io) => {
  const { values, switches } = input;
  const isQuiet = switches.has("json");
  const seed = readNumber(values, "seed", Number.MAX_SAFE_INTEGER);
  const latencyMs = readNumber(values, "latency", 3_600_000) ?? 0;
  const port = readNumber(values, "port", 65_535) ?? 4141;
  const name = modelName(input);
  const simulator = sim.createSimulator({
    model: await createModel(name, values.get("script"), seed),
    clock: switches.has("virtual-clock") ? "virtual" : "real",
    control: switches.has("control"),
    latency: { firstByteMs: latencyMs },
    billing: readBilling(values.get("billing")),
    onCall: (call) => report(call, switches.has("verbose"), isQuiet, io),
    ...(seed === undefined ? {} : { seed }),
  });
  const stopped = Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
  const server = await simulator.listen({ port, host: values.get("host") ?? "127.0.0.1" });
  io.out(
    isQuiet ? `${JSON.stringify({ url: server.url })}\n` : renderWelcome(server.url, name, input),
  );
  await stopped;
  await server.close();
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

/** Problems are always printed; other calls only with --verbose. */
function report(call: sim.Call, isVerbose: boolean, isQuiet: boolean, io: Io): void {
  if (call.problem !== null) io.error(`${sim.describeCall(call)}\n`);
  else if (isVerbose) (isQuiet ? io.error : io.out)(`${sim.describeCall(call)}\n`);
}

function renderWelcome(url: string, model: string, { switches }: CommandInput): string {
  const hasControl = switches.has("control");
  const clock = switches.has("virtual-clock")
    ? [`The clock stands still${hasControl ? "" : ", and nothing can move it without --control"}.`]
    : [];
  return [
    `${strong(url)} answers like Anthropic, OpenAI, Gemini, Bedrock, Vertex, OpenRouter and others. Model: ${model}. Any key works.`,
    ...clock,
    "",
    strong("Claude Code"),
    `  ANTHROPIC_BASE_URL=${url} ANTHROPIC_API_KEY=x claude -p "What is in this folder?"`,
    strong("Codex") + ", in ~/.codex/config.toml",
    `  model = "gpt-6.1-sol"`,
    `  model_provider = "sim"`,
    `  [model_providers.sim]`,
    `  name = "sim"`,
    `  base_url = "${url}/v1"`,
    `  env_key = "SIM_KEY"`,
    `  wire_api = "responses"`,
    `then: SIM_KEY=x codex exec "What is in this folder?"`,
    strong("gemini-cli"),
    `  GOOGLE_GEMINI_BASE_URL=${url} GEMINI_API_KEY=x npx @google/gemini-cli -p "What is in this folder?"`,
    strong("pi") + ", in ~/.pi/agent/models.json",
    `  {"providers":{"anthropic":{"baseUrl":"${url}"},"openai":{"baseUrl":"${url}/v1"}}}`,
    strong("SDKs"),
    `  new Anthropic({ baseURL: "${url}", apiKey: "x" })`,
    `  new OpenAI({ baseURL: "${url}/v1", apiKey: "x" })`,
    `  new AnthropicBedrock({ baseURL: "${url}", apiKey: "x" })`,
    `  new BedrockRuntimeClient({ endpoint: "${url}", region: "us-east-1" }), and AWS_BEARER_TOKEN_BEDROCK=x`,
    `  new AnthropicVertex({ baseURL: "${url}/v1", authClient, projectId: "p", region: "global" })`,
    `  createAnthropic({ baseURL: "${url}/v1", apiKey: "x" })`,
    `  new GoogleGenAI({ apiKey: "x", httpOptions: { baseUrl: "${url}" } })`,
    strong("OpenRouter, DeepSeek, Ollama") +
      " and the other vendors, each with its own path after its name",
    `  OPENROUTER_BASE_URL=${url}/api/v1 OPENROUTER_API_KEY=x strata chat --model openrouter/claude-sonnet-5-5`,
    `  DEEPSEEK_BASE_URL=${url}${sim.vendorPath("deepseek")}/v1 OLLAMA_BASE_URL=${url}${sim.vendorPath("ollama")}/v1`,
    ...(hasControl ? [strong("Control"), `  curl ${url}/_sim/ledger`] : []),
    "",
    "Stop it with Ctrl-C.",
    "",
  ].join("\n");
}

function strong(text: string): string {
  return styleText("bold", text);
}

function usage(message: string, hint: string): StrataError {
  return new StrataError("usage", message, `${hint}; see: strata sim --help`);
}
