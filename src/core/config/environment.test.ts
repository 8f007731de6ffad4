import { describe, expect, test } from "vitest";
import { configOf, problemsOf, read } from "../../edge/config/test-kit.ts";
import { variableOf } from "./environment.ts";
import { describeSettings, originOf } from "./settings.ts";

describe("a variable for every setting", () => {
  test("STRATA_ and the path in upper case, with two underscores between its parts", () => {
    const env = { STRATA_LLM__CONTEXT_OPTIMIZATION__COMPACTION__ENABLED: "true" };
    expect(configOf("", { env }).compaction.isEnabled).toBe(true);
  });

  test("texts, numbers, switches and lists are read by what the setting is", () => {
    const config = configOf("", {
      env: {
        STRATA_MODELS__DEFAULT: "claude-opus-5-5",
        STRATA_LLM__CONTEXT_OPTIMIZATION__COMPACTION__COMPACT_AT_PCT: "0.5",
        STRATA_TOOLS__BASH: "TRUE",
        STRATA_TOOLS__CONFIRM: "write, execute",
        STRATA_ROUTING__STICKY: "false",
      },
    });
    expect(config.models.default).toBe("claude-opus-5-5");
    expect(config.compaction.compactAtShare).toBe(0.5);
    expect(config.tools).toMatchObject({ isBashAllowed: true, confirmed: ["write", "execute"] });
    expect(config.routing.isSticky).toBe(false);
  });

  test("each setting that documents list as such can be given by its variable", () => {
    const listed = describeSettings().filter(({ isInEnvironment }) => isInEnvironment);
    expect(listed.length).toBeGreaterThan(60);
    for (const { path } of listed) {
      const name = variableOf(path.replace("NAME", "ANTHROPIC"));
      const { settings } = read("", { env: { [name]: "1" } });
      expect(settings.map(originOf)).toContain(`environment ${name}`);
    }
  });

  test("names with dashes are found among those of the files; a new one is in lower case", () => {
    const yaml = "providers: { My-Garage.2: { kind: openai-compatible, base_url: 'http://x' } }";
    const env = {
      STRATA_PROVIDERS__MY_GARAGE_2__RETRIES__ATTEMPTS_MAX: "1",
      STRATA_PROVIDERS__NEW__KIND: "simulator",
    };
    const { providers } = configOf(yaml, { env });
    expect(providers.get("My-Garage.2")?.retries.attemptsMax).toBe(1);
    expect(providers.get("new")?.kind).toBe("simulator");
  });

  test("a misspelt one is an error with the nearest; an empty one is none", () => {
    const env = {
      STRATA_LLM__CONTEXT_OPTIMISATION__COMPACTION__ENABLED: "true",
      STRATA_LLM__CONTEXT_OPTIMIZATION__COMPACTION: "true",
      STRATA_MODELS__ADD: "{}",
      STRATA_MODELS__DEFAULT__X: "1",
      STRATA_TOOLS__BASH: "",
      STRATA_LEDGER_STORE: "/srv/l.db",
      STRATA_QQQQQQQQQQQQ: "1",
      STRATA_CONFIG: "/srv/strata.yaml",
      STRATA_DATA_DIR: "/srv",
    };
    expect(problemsOf("", { env })).toEqual([
      "STRATA_LLM__CONTEXT_OPTIMISATION__COMPACTION__ENABLED: is not a setting; did you mean STRATA_LLM__CONTEXT_OPTIMIZATION?",
      "STRATA_LLM__CONTEXT_OPTIMIZATION__COMPACTION: is not a setting; name one of enabled, compact_at_pct, timing, early, tail_keep_tokens, tool_result_max_pct, summarizer_model, summary_shape, summary_pct, summary_max_tokens, user_words_max_tokens, lock_ttl_seconds, use_provider, memory_flush, micro, auto after it",
      "STRATA_MODELS__ADD: is not a setting; models.add can only be set in a file",
      "STRATA_MODELS__DEFAULT__X: is not a setting; STRATA_MODELS__DEFAULT is as far as it goes",
      "STRATA_LEDGER_STORE: is not a setting; did you mean STRATA_LEDGER__STORE?",
      "STRATA_QQQQQQQQQQQQ: is not a setting; known: STRATA_CONFIG, STRATA_DATA_DIR, STRATA_GATEWAY_TOKEN, STRATA_STORE, and paths",
    ]);
  });

  test("a wrong value is reported with the variable's name", () => {
    expect(problemsOf("", { env: { STRATA_TOOLS__BASH: "yes" } })).toEqual([
      'STRATA_TOOLS__BASH: tools.bash is "yes", but must be true or false; correct it, or remove it for false',
    ]);
  });
});

test("of two variables for one setting, the one with a name of its own holds", () => {
  const env = { STRATA_STORE: "/srv/a.db", STRATA_LEDGER__STORE: "/srv/b.db" };
  const { config, settings } = read("", { env });
  expect(config?.ledger.store).toBe("/srv/a.db");
  const store = settings.find(({ path }) => path === "ledger.store");
  expect(store).toMatchObject({ value: "/srv/a.db", origin: { name: "STRATA_STORE" } });
});

describe("variables that others know, too", () => {
  test("give keys and addresses where no file does", () => {
    const env = {
      ANTHROPIC_API_KEY: " key-1 ",
      ANTHROPIC_BASE_URL: "http://a",
      OPENAI_API_KEY: "",
    };
    const { providers } = configOf("", { env });
    expect(providers.get("anthropic")).toMatchObject({ apiKey: "key-1", baseUrl: "http://a" });
    expect(providers.get("openai")?.apiKey).toBeNull();
    const yaml = "providers: { anthropic: { api_key: own, base_url: 'http://b' } }";
    const own = configOf(yaml, { env }).providers.get("anthropic");
    expect(own).toMatchObject({ apiKey: "own", baseUrl: "http://b" });
  });

  test("say where a cloud is and whose credentials it takes, by the strongest one that is set", () => {
    const aws = {
      AWS_DEFAULT_REGION: "us-east-1",
      AWS_REGION: "eu-central-1",
      AWS_PROFILE: "work",
    };
    const google = { CLOUD_ML_REGION: "global", ANTHROPIC_VERTEX_PROJECT_ID: "p" };
    const { providers } = configOf("", { env: { ...aws, ...google } });
    expect(providers.get("bedrock")).toMatchObject({
      places: new Map([["region", "eu-central-1"]]),
      credentials: "aws",
      apiKey: null,
      baseUrl: null,
    });
    expect(providers.get("vertex")).toMatchObject({
      places: new Map([
        ["project", "p"],
        ["location", "global"],
      ]),
      credentials: null,
    });
    const yaml = "providers: { bedrock: { places: { region: ap-south-1 }, credentials: } }";
    expect(configOf(yaml, { env: aws }).providers.get("bedrock")).toMatchObject({
      places: new Map([["region", "ap-south-1"]]),
    });
  });

  test("a provider names the variable its key is in", () => {
    const yaml =
      "providers: { garage: { kind: openai-compatible, base_url: 'http://x', api_key_env: GARAGE } }";
    const { config, settings } = read(yaml, { env: { GARAGE: "key-2" } });
    expect(config?.providers.get("garage")?.apiKey).toBe("key-2");
    const setting = settings.find(({ path }) => path === "providers.garage.api_key");
    expect(setting).toMatchObject({
      value: "***",
      origin: { kind: "environment", name: "GARAGE" },
    });
  });

  test("the beta headers of caching win over files, also when they are empty (N-13)", () => {
    const yaml = "context_optimization: { prompt_cache: { beta_header: from-file } }";
    expect(configOf(yaml).promptCache.betas).toEqual(["from-file"]);
    const env = { ANTHROPIC_CACHE_BETA: "a, b", ANTHROPIC_CACHE_LONG_TTL_BETA: "c" };
    expect(configOf(yaml, { env }).promptCache).toMatchObject({
      betas: ["a", "b"],
      longTtlBetas: ["c"],
    });
    expect(configOf(yaml, { env: { ANTHROPIC_CACHE_BETA: "" } }).promptCache.betas).toEqual([]);
  });
});
