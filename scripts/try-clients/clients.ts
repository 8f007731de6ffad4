// The clients: how each is told of a base URL, started with a prompt, and told to go on. As in docs/gateway.md.

export interface Place {
  /** The client's home: its configuration and its sessions are here only. */
  readonly home: string;
  readonly workspace: string;
  /** Of the gateway, without a path. */
  readonly url: string;
}

export interface Client {
  /** The folder it is installed in, and what the gateway should call it. */
  readonly name: string;
  readonly package: string;
  readonly program: string;
  /** A kind of sub-agent that it knows; null if it was not seen to have any. */
  readonly subAgent: string | null;
  readonly env: (place: Place) => Readonly<Record<string, string>>;
  /** By path under the home. */
  readonly files: (place: Place) => Readonly<Record<string, string>>;
  readonly first: (prompt: string, place: Place) => readonly string[];
  readonly again: (prompt: string, place: Place) => readonly string[];
}

const key = "any-key-will-do";

export const clients: readonly Client[] = [
  {
    name: "claude-code",
    package: "@anthropic-ai/claude-code@2.1.325",
    program: "claude",
    subAgent: "general-purpose",
    env: ({ url }) => ({
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: key,
      ENABLE_TOOL_SEARCH: "true",
      CLAUDE_CODE_ENABLE_FINE_GRAINED_TOOL_STREAMING: "1",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      // Root is refused without it.
      IS_SANDBOX: "1",
    }),
    files: () => ({}),
    first: (prompt) => ["-p", prompt, ...claudeFlags],
    again: (prompt) => ["--continue", "-p", prompt, ...claudeFlags],
  },
  {
    name: "codex",
    package: "@openai/codex@0.166.0",
    program: "codex",
    subAgent: null,
    env: () => ({ STRATA_TRY_KEY: key }),
    files: ({ url }) => ({
      ".codex/config.toml": [
        'model = "gpt-6.1-sol"',
        'model_provider = "strata"',
        "[model_providers.strata]",
        'name = "strata"',
        `base_url = "${url}/v1"`,
        'env_key = "STRATA_TRY_KEY"',
        'wire_api = "responses"',
        "",
      ].join("\n"),
    }),
    first: (prompt) => ["exec", ...codexFlags, prompt],
    again: (prompt) => ["exec", "resume", "--last", ...codexFlags, prompt],
  },
  {
    name: "opencode",
    package: "opencode-ai@1.18.33",
    program: "opencode",
    subAgent: "general",
    env: ({ url }) => ({
      OPENCODE_CONFIG_CONTENT: JSON.stringify({
        provider: { anthropic: { options: { baseURL: `${url}/v1`, apiKey: key } } },
        model: "anthropic/claude-sonnet-4-5",
        small_model: "anthropic/claude-haiku-4-5",
        permission: { "*": "allow" },
        share: "disabled",
        autoupdate: false,
      }),
    }),
    files: () => ({}),
    first: (prompt) => ["run", "--model", "anthropic/claude-sonnet-4-5", prompt],
    again: (prompt) => ["run", "-c", "--model", "anthropic/claude-sonnet-4-5", prompt],
  },
  {
    name: "pi",
    package: "@earendil-works/pi-coding-agent@0.87.1",
    program: "pi",
    subAgent: null,
    env: () => ({ ANTHROPIC_API_KEY: key, PI_OFFLINE: "1" }),
    files: ({ url }) => ({
      ".pi/agent/models.json": JSON.stringify({
        providers: { anthropic: { baseUrl: url }, openai: { baseUrl: `${url}/v1` } },
      }),
    }),
    first: (prompt) => ["-p", "--model", "anthropic/claude-sonnet-4-5", prompt],
    again: (prompt) => ["-c", "-p", "--model", "anthropic/claude-sonnet-4-5", prompt],
  },
  {
    name: "gemini-cli",
    package: "@google/gemini-cli@0.61.0",
    program: "gemini",
    subAgent: "codebase_investigator",
    env: ({ url }) => ({
      GOOGLE_GEMINI_BASE_URL: url,
      GEMINI_API_KEY: key,
      GEMINI_CLI_TRUST_WORKSPACE: "true",
    }),
    files: () => ({
      ".gemini/settings.json": JSON.stringify({
        security: { auth: { selectedType: "gemini-api-key" } },
      }),
    }),
    first: (prompt) => [...geminiFlags, "-p", prompt],
    again: (prompt) => ["--resume", "latest", ...geminiFlags, "-p", prompt],
  },
  {
    name: "letta",
    package: "@letta-ai/letta-code@0.25.9",
    program: "letta",
    subAgent: null,
    env: ({ home }) => ({
      LETTA_LOCAL_BACKEND_EXPERIMENTAL: "1",
      LETTA_LOCAL_BACKEND_DIR: `${home}/letta`,
    }),
    files: ({ url }) => ({
      "letta/providers/auth.json": JSON.stringify({
        version: 1,
        providers: { "lc-anthropic": { auth: { type: "api", key }, base_url: url } },
      }),
    }),
    first: (prompt) => ["-p", prompt, "--new-agent", ...lettaFlags],
    again: (prompt) => ["-p", prompt, ...lettaFlags],
  },
  {
    name: "openclaw",
    package: "openclaw@2026.9.6",
    program: "openclaw",
    subAgent: null,
    env: ({ home }) => ({ OPENCLAW_CONFIG_PATH: `${home}/openclaw.json` }),
    files: ({ url, workspace }) => ({
      "openclaw.json": JSON.stringify({
        models: {
          providers: {
            strata: {
              baseUrl: url,
              apiKey: key,
              api: "anthropic-messages",
              models: [{ id: "claude-sonnet-4-5", name: "Claude Sonnet 4.5" }],
            },
          },
        },
        agents: { defaults: { workspace, model: { primary: "strata/claude-sonnet-4-5" } } },
      }),
    }),
    first: (prompt) => ["agent", ...openclawFlags, "--message", prompt],
    again: (prompt) => ["agent", ...openclawFlags, "--message", prompt],
  },
];

const claudeFlags: readonly string[] = [
  "--dangerously-skip-permissions",
  "--output-format",
  "json",
];
const codexFlags: readonly string[] = [
  "--skip-git-repo-check",
  "--dangerously-bypass-approvals-and-sandbox",
  "--json",
];
const geminiFlags: readonly string[] = [
  "-m",
  "gemini-2.5-pro",
  "--approval-mode",
  "yolo",
  "--output-format",
  "json",
];
const lettaFlags: readonly string[] = [
  "--backend",
  "local",
  "--model",
  "anthropic/claude-sonnet-4-6",
  "--output-format",
  "json",
  "--yolo",
];
const openclawFlags: readonly string[] = [
  "--local",
  "--agent",
  "main",
  "--session-id",
  "s1",
  "--json",
];
