// What `strata sim` prints first: how each client is pointed at it.
import { styleText } from "node:util";
import * as sim from "../../simulator/index.ts";
import type { CommandInput } from "../command.ts";

export function renderWelcome(url: string, model: string, { switches }: CommandInput): string {
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
