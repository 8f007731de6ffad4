// What to set in each client so that it talks to the gateway.
import { styleText } from "node:util";

export interface Welcome {
  readonly url: string;
  readonly urls: readonly string[];
  readonly isSimulated: boolean;
  readonly needsToken: boolean;
}

export function renderWelcome({ url, urls, isSimulated, needsToken }: Welcome): string {
  const key = isSimulated ? " ANTHROPIC_API_KEY=x" : "";
  return [
    `${strong(urls.join(" and "))} ${isSimulated ? "stands before the simulator. Any key works." : "forwards to the providers. Clients bring their own keys."}`,
    ...(needsToken ? ["Every request needs the token in the header x-strata-token."] : []),
    "",
    strong("Claude Code"),
    `  ANTHROPIC_BASE_URL=${url}${key} ENABLE_TOOL_SEARCH=true CLAUDE_CODE_ENABLE_FINE_GRAINED_TOOL_STREAMING=1 claude`,
    "  A base URL of one's own turns off, among others, the search for MCP tools and fine-grained tool streaming; the two",
    "  variables turn them on again. docs/gateway.md lists what else changes.",
    `${strong("Codex")}, in ~/.codex/config.toml`,
    `  openai_base_url = "${url}/v1"`,
    strong("gemini-cli"),
    `  GOOGLE_GEMINI_BASE_URL=${url}/gemini gemini`,
    `${strong("opencode")}, in opencode.json`,
    `  {"provider":{"anthropic":{"options":{"baseURL":"${url}/v1"}},"openai":{"options":{"baseURL":"${url}/v1"}}}}`,
    `${strong("pi")}, in ~/.pi/agent/models.json`,
    `  {"providers":{"anthropic":{"baseUrl":"${url}"},"openai":{"baseUrl":"${url}/v1"}}}`,
    strong("SDKs"),
    `  new Anthropic({ baseURL: "${url}" })`,
    `  new OpenAI({ baseURL: "${url}/v1" })`,
    `  createAnthropic({ baseURL: "${url}/v1" })`,
    `${strong("Any other provider")}: put its name before the path, as ${url}/openrouter/v1. State: ${url}/strata/health`,
    "",
    "Stop it with Ctrl-C.",
    "",
  ].join("\n");
}

function strong(text: string): string {
  return styleText("bold", text);
}
