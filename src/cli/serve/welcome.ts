// What to set in each client so that it talks to the gateway.
import { styleText } from "node:util";

export interface Welcome {
  readonly url: string;
  readonly urls: readonly string[];
  readonly isSimulated: boolean;
  readonly needsToken: boolean;
  readonly dashboard: (url: string) => string;
  readonly keyNames: readonly string[];
}

interface Recipe {
  readonly client: string;
  /** Where it is set, if not before the command. */
  readonly place?: string;
  readonly lines: (url: string) => readonly string[];
}

const recipes: readonly Recipe[] = [
  {
    client: "Claude Code",
    lines: (url) => [
      `ANTHROPIC_BASE_URL=${url} ENABLE_TOOL_SEARCH=true CLAUDE_CODE_ENABLE_FINE_GRAINED_TOOL_STREAMING=1 claude`,
      "A base URL of its own turns off the search for MCP tools and fine-grained tool streaming, among others; the two",
      "variables turn them on again. docs/gateway.md lists the rest.",
    ],
  },
  {
    client: "Codex",
    place: "~/.codex/config.toml",
    lines: (url) => [
      `openai_base_url = "${url}/v1"`,
      "It tries a WebSocket first, which passes without being observed. gateway.websocket: refuse makes it use HTTP.",
    ],
  },
  {
    client: "gemini-cli",
    lines: (url) => [`GOOGLE_GEMINI_BASE_URL=${url} npx @google/gemini-cli`],
  },
  {
    client: "opencode",
    place: "opencode.json",
    lines: (url) => [
      `{"provider":{"anthropic":{"options":{"baseURL":"${url}/v1"}},"openai":{"options":{"baseURL":"${url}/v1"}}}}`,
    ],
  },
  {
    client: "pi",
    place: "~/.pi/agent/models.json",
    lines: (url) => [
      `{"providers":{"anthropic":{"baseUrl":"${url}"},"openai":{"baseUrl":"${url}/v1"}}}`,
    ],
  },
  {
    client: "SDKs",
    lines: (url) => [
      `new Anthropic({ baseURL: "${url}" })`,
      `new OpenAI({ baseURL: "${url}/v1" })`,
      `createAnthropic({ baseURL: "${url}/v1" })`,
    ],
  },
];

export function renderWelcome(welcome: Welcome): string {
  const { url, urls, isSimulated, needsToken, keyNames, dashboard } = welcome;
  const hasKeys = keyNames.length > 0;
  return [
    `${strong("Dashboard")}: ${dashboard(url)}`,
    "",
    `${strong(urls.join(" and "))}: ${isSimulated ? `the simulator answers.${hasKeys ? "" : " Any key works."}` : `requests go to the providers.${hasKeys ? "" : " Clients bring their own keys."}`}`,
    ...(hasKeys
      ? [
          `Clients need a key of the gateway, in the place of the provider's: ${keyNames.join(", ")}.`,
        ]
      : []),
    ...(needsToken ? ["Every request needs the token in the header x-strata-token."] : []),
    "",
    ...recipes.flatMap(({ client, place, lines }) => [
      `${strong(client)}${place === undefined ? "" : `, in ${place}`}`,
      ...lines(url).map((line) => `  ${line}`),
    ]),
    `${strong("Other providers")}: their name before the path, as ${url}/openrouter/v1`,
    `${strong("State")}: ${url}/strata/health`,
    apiLine(url),
    "",
    "Stop it with Ctrl-C.",
    "",
  ].join("\n");
}

export function renderOnlyApi({ url, urls, needsToken, dashboard }: Welcome): string {
  return [
    `${strong("Dashboard")}: ${dashboard(url)}`,
    `${strong(urls.join(" and "))} answers questions about the ledger, and forwards nothing.`,
    ...(needsToken ? ["Every request needs the token in the header x-strata-token."] : []),
    apiLine(url),
    "",
    "Stop it with Ctrl-C.",
    "",
  ].join("\n");
}

function apiLine(url: string): string {
  return `${strong("Questions over HTTP")}: ${url}/strata/v1/openapi.json`;
}

function strong(text: string): string {
  return styleText("bold", text);
}
