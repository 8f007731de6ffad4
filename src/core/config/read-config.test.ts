import { describe, expect, test } from "vitest";
import { configOf, problemsOf, read, treeOf } from "../../edge/config/test-kit.ts";
import { plantedKey } from "../../../harness/planted-key.ts";
import { describeProblem, toConfigError } from "./config-problem.ts";
import { readConfig } from "./read-config.ts";
import { originOf } from "./settings.ts";

describe("the defaults", () => {
  const config = configOf("");

  test("is what the documents Strata began with say (N-01 to N-04)", () => {
    expect(config.promptCache).toEqual({
      isEnabled: true,
      longTtlProviders: ["anthropic", "vertex"],
      betas: [],
      longTtlBetas: [],
    });
    expect(config.compaction).toEqual({
      isEnabled: false,
      compactAtShare: 0.75,
      timing: "when it pays",
      early: { fromShare: 2 / 3, fromTokensMax: 256_000, gainFactorMin: 8 },
      tailKeepTokens: 20_000,
      toolResultShareMax: 0.3,
      summarizerModel: null,
      summaryShape: "message",
      summaryShareMax: 0.2,
      summaryTokensMax: 12_000,
      userWordsTokensMax: 2000,
      lockSeconds: null,
      mayUseProvider: false,
      flushesMemory: false,
      clearing: { thresholdBytes: 16_384, model: null, summaryCharsMax: null },
      auto: {
        tokenShare: null,
        ageMinutesMax: null,
        bufferTokens: 13_000,
        turnsBetweenMin: 5,
        consecutiveFailuresMax: 3,
      },
    });
    expect(config.tokenCounter).toEqual({ isEnabled: true, backend: "auto", cacheCapacity: 1024 });
    expect(config.workspaceCache).toEqual({ isEnabled: true, watchDebounceMs: 500, maxAgeMs: 0 });
  });

  test("has a provider for each key that is usual, and the simulator", () => {
    const listed =
      "deepseek qwen minimax moonshot xai groq mistral zai openrouter ollama vllm llama.cpp lm-studio".split(
        " ",
      );
    const kinds = [...config.providers].map(([name, { kind, apiKey }]) => [name, kind, apiKey]);
    expect(kinds).toEqual([
      ["anthropic", "anthropic", null],
      ["openai", "openai-responses", null],
      ["google", "gemini", null],
      ...listed.slice(0, 9).map((name) => [name, "openai-compatible", null]),
      ["bedrock", "bedrock", null],
      ["vertex", "vertex-anthropic", null],
      ...listed.slice(9).map((name) => [name, "openai-compatible", null]),
      ["simulator", "simulator", null],
    ]);
  });

  test("lists no settings of vendors of which nothing is written", () => {
    expect(shown({})).toEqual(["anthropic", "openai", "google", "simulator"]);
    const env = { DEEPSEEK_API_KEY: plantedKey, OLLAMA_BASE_URL: "http://127.0.0.1:9/v1" };
    expect(shown(env)).toEqual([
      "anthropic",
      "openai",
      "google",
      "deepseek",
      "ollama",
      "simulator",
    ]);
    expect(shown({ AWS_REGION: "eu-central-1" })).toEqual([
      "anthropic",
      "openai",
      "google",
      "simulator",
    ]);
    const aws = { AWS_REGION: "eu-central-1", AWS_PROFILE: "work" };
    expect(shown(aws)).toEqual(["anthropic", "openai", "google", "bedrock", "simulator"]);
  });

  test("is told as default", () => {
    expect(new Set(read("").settings.map(originOf))).toEqual(new Set(["default"]));
  });

  test("holds for empty sections, too", () => {
    expect(configOf("llm:\nagents:\nproviders:\n  anthropic:\nmodels:\n")).toEqual(config);
  });
});

describe("spellings of one thing", () => {
  const belowLlm = "llm:\n  context_optimization:\n    compaction: { compact_at_pct: 0.6 }\n";
  const atRoot = "context_optimization:\n  compaction: { compact_at_pct: 0.6 }\n";

  test("context_optimization may stand below llm or by itself", () => {
    expect(configOf(belowLlm).compaction.compactAtShare).toBe(0.6);
    expect(configOf(atRoot)).toEqual(configOf(belowLlm));
    expect(configOf(`llm:\n${atRoot}`)).toEqual(configOf(belowLlm));
  });

  test("both at once is an error, in the place of the second", () => {
    expect(problemsOf(`${atRoot}${belowLlm}`)).toEqual([
      "4:3: context_optimization is written both by itself and below llm; keep one of the two",
    ]);
  });

  test("agents may be a list with ids or a map", () => {
    const list = "agents:\n- id: ana\n  model: claude-opus-5-5\n- id: bob\n";
    const map = "agents:\n  ana: { model: claude-opus-5-5 }\n  bob:\n";
    expect(configOf(list)).toEqual(configOf(map));
    expect([...configOf(list).agents.keys()]).toEqual(["ana", "bob"]);
  });

  test("an item of the list without an id, with a number as id, or with one that is taken, is an error", () => {
    expect(problemsOf("agents:\n- id: ana\n- model: x\n- id: 7\n- id: ana\n- 5\n")).toEqual([
      "3:3: an item of agents has no id; begin the item with - id: NAME",
      "4:3: the id of an agent must be text; begin the item with - id: NAME",
      '5:3: the agent "ana" is written twice; write its settings together',
      "6:3: an item of agents is not a group of settings; begin the item with - id: NAME",
    ]);
  });

  test("a small model for cleared results is refused with the reason, and an empty one is none (N-28)", () => {
    const refused =
      "context_optimization: { compaction: { micro: { provider: haiku, summary_max_chars: 9 } } }";
    const why =
      "no model writes a text for a cleared result: a fixed line replaces it, and history_read returns all of it";
    expect(problemsOf(refused)).toEqual([
      `1:58: llm.context_optimization.compaction.micro.provider is refused: ${why}; name no model here`,
      `1:84: llm.context_optimization.compaction.micro.summary_max_chars is refused: ${why}; give no length here`,
    ]);
    expect(problemsOf('context_optimization: { compaction: { micro: { provider: "" } } }')).toEqual(
      [],
    );
  });

  test("auto is on as soon as it is written, with its own defaults (N-02)", () => {
    const { auto } = configOf("context_optimization: { compaction: { auto: {} } }").compaction;
    expect(auto).toEqual({
      tokenShare: 0.8,
      ageMinutesMax: 120,
      bufferTokens: 13_000,
      turnsBetweenMin: 5,
      consecutiveFailuresMax: 3,
    });
  });
});

describe("mistakes", () => {
  test("of a file are all reported together, each with line, column and a hint", () => {
    const yaml = [
      "llm:",
      "  context_optimization:",
      "    prompt_cach: { enabled: true }",
      "    compaction:",
      "      enabled: yes",
      "      compact_at_pct: 1.5",
      "      tail_keep_tokens: 2e4.1",
      "    compact_at_pct: 0.5",
      "agents: { ana: { context_optimization: { compaction: { enabled: true } } } }",
      "policies: { default: adaptve }",
      "tools: [bash]",
    ].join("\n");
    expect(problemsOf(yaml)).toEqual([
      "3:5: llm.context_optimization.prompt_cach is not a setting; did you mean prompt_cache?",
      '5:16: llm.context_optimization.compaction.enabled is "yes", but must be true or false; correct it, or remove it for false',
      "6:23: llm.context_optimization.compaction.compact_at_pct is 1.5, but must be a number above 0, at most 1; correct it, or remove it for 0.75",
      '7:25: llm.context_optimization.compaction.tail_keep_tokens is "2e4.1", but must be a whole number from 0; correct it, or remove it for 20000',
      "8:5: llm.context_optimization.compact_at_pct is not a setting; did you mean llm.context_optimization.compaction.compact_at_pct?",
      "9:54: agents.ana.context_optimization.compaction is a group of settings, but must be true or false, or nothing to inherit; correct it, or remove it",
      '10:22: policies.default is "adaptve", but must be one of adaptive, metis, nexo, hermes, nexus, tail-5m, tail-1h, automatic, latest-user, last-n, system-only, none; correct it, or remove it for adaptive',
      "11:8: tools is a list, but must be a group of settings; write its settings below it, indented, as name: value",
    ]);
  });

  test("become one error, which lists them", () => {
    const { problems, config } = read("tols: 1\nmodls: 2\n");
    expect(config).toBeNull();
    const { code, message } = toConfigError(problems);
    expect(code).toBe("config-invalid");
    expect(message).toBe(
      "the configuration has 2 problems:\n" +
        "  /srv/ana/strata.yaml:1:1: tols is not a setting; did you mean tools?\n" +
        "  /srv/ana/strata.yaml:2:1: modls is not a setting; did you mean models?",
    );
  });

  test.each(["NaN", ".nan", ".inf", "-1", "1.5", "'5'", "true", "[]", "9007199254740993"])(
    "%s is not a count",
    (value) => {
      expect(problemsOf(`ledger: { lease_seconds: ${value} }`)).toHaveLength(1);
    },
  );

  test("a mistake counts even if another file hides it", () => {
    const files = [
      treeOf("tools: { bash: maybe }", "/srv/ana/strata.yaml"),
      treeOf("tools: { bash: true }", "/srv/strata.yaml"),
    ];
    expect(readConfig({ files }).problems.map(describeProblem)).toEqual([
      '/srv/ana/strata.yaml:1:16: tools.bash is "maybe", but must be true or false; correct it, or remove it for false',
    ]);
  });

  test("an unknown counter is a warning, and tiktoken counts (N-03)", () => {
    const { config, problems } = read(
      "context_optimization: { token_counter: { backend: llama } }",
    );
    expect(config?.tokenCounter.backend).toBe("tiktoken");
    expect(problems.map(({ severity, hint }) => [severity, hint])).toEqual([
      ["warning", "tiktoken is used instead"],
    ]);
  });

  test("an unknown model is a warning with the nearest known one", () => {
    const { config, problems } = read("models: { default: claude-sonnet-5-6 }");
    expect(config).not.toBeNull();
    expect(problems.map(describeProblem)).toEqual([
      '/srv/ana/strata.yaml:1:20: models.default names the model "claude-sonnet-5-6", which is unknown; ' +
        "did you mean claude-sonnet-5-5? Your own models are described under models.add",
    ]);
  });

  test("facts about models are checked as the catalogue checks them", () => {
    const known = "models: { override: { claude-opus-5-5: { window: 1000 } } }";
    expect(configOf(known).models.override).toEqual({ "claude-opus-5-5": { window: 1000 } });
    expect(problemsOf("models: { override: { claude-opus-9: {} } }")).toEqual([
      expect.stringMatching(
        /^1:38: models: claude-opus-9 overrides a model that is not known; did/,
      ),
    ]);
  });

  test("a provider needs a kind, and a compatible one an address", () => {
    expect(
      problemsOf("providers:\n  a: { base_url: 'http://x' }\n  b: { kind: openai-compatible }"),
    ).toEqual([
      "2:6: providers.a has no kind; add kind: one of anthropic, openai-chat, openai-responses, gemini, bedrock, bedrock-invoke, vertex-anthropic, openai-compatible, vertex-gemini, simulator",
      "3:6: providers.b is openai-compatible and has no base_url; add base_url, as http://localhost:8000/v1",
    ]);
  });

  test("an alias stands for a model, not for another alias", () => {
    const yaml = "models: { aliases: { fast: claude-haiku-4-5, quick: fast } }";
    expect(problemsOf(yaml)).toEqual([
      "1:53: models.aliases.quick stands for fast, which is another alias; write claude-haiku-4-5",
    ]);
  });

  test("a rule needs a model and a condition, a pattern an expression that can be read", () => {
    const yaml =
      "routing:\n  rules:\n  - model: claude-opus-5-5\n  patterns:\n  - model: claude-opus-5-5\n    match: '('\n";
    expect(problemsOf(yaml)).toEqual([
      "3:5: routing.rules.0.when is missing; add when",
      '6:12: routing.patterns.0.match is "(", but must be text that is a regular expression of RE2, of at most 500 characters: no lookahead, lookbehind or backreferences, and no huge repetitions; correct it, or remove it',
    ]);
  });

  test.each([
    "(?=a)b",
    "(?<=a)b",
    "(a)\\1",
    "((a{30}){30}){30}",
    `${"(.{0,31}){0,31}".repeat(5)}x`,
    "x".repeat(501),
  ])("the pattern %s is refused, as it cannot be matched in linear time", (match) => {
    const pattern = { model: "claude-opus-5-5", match };
    expect(problemsOf(`routing: { patterns: [${JSON.stringify(pattern)}] }`)).toEqual([
      expect.stringContaining("must be text that is a regular expression of RE2"),
    ]);
  });
});

describe("several sources", () => {
  const user = treeOf(
    "models: { default: claude-opus-5-5 }\ntools: { confirm: [write] }\nagents: { ana: { policy: nexo } }",
    "/srv/ana/.config/strata/strata.yaml",
  );
  const second = treeOf(
    "models: { default: claude-sonnet-5-5 }\nagents: { ana: { model: claude-haiku-4-5 }, bob: {} }\nskills: { skills_max: 9 }",
    "/repo/strata.yaml",
  );

  test("are merged setting by setting; the later one wins, and each value has its origin", () => {
    const { config, settings } = readConfig({
      files: [user, second],
      env: { STRATA_SKILLS__SKILLS_MAX: "7", STRATA_POLICIES__DEFAULT: "tail-1h" },
      options: [{ name: "--policy", path: ["policies", "default"], value: "none" }],
    });
    expect(config?.agents.get("ana")).toMatchObject({ policy: "nexo", model: "claude-haiku-4-5" });
    const origins = settings.filter(({ origin }) => origin.kind !== "default");
    expect(origins.map((setting) => [setting.path, setting.value, originOf(setting)])).toEqual([
      ["agents.ana.model", "claude-haiku-4-5", "/repo/strata.yaml:2"],
      ["agents.ana.policy", "nexo", "/srv/ana/.config/strata/strata.yaml:3"],
      ["models.default", "claude-sonnet-5-5", "/repo/strata.yaml:1"],
      ["policies.default", "none", "option --policy"],
      ["skills.skills_max", 7, "environment STRATA_SKILLS__SKILLS_MAX"],
      ["tools.confirm", ["write"], "/srv/ana/.config/strata/strata.yaml:2"],
    ]);
  });

  test("null counts as not written", () => {
    const nothing = treeOf(
      "models: { default: ~ }\nagents: { ana: { policy: null } }",
      "/x/strata.yaml",
    );
    const { config } = readConfig({ files: [user, nothing] });
    expect(config?.models.default).toBe("claude-opus-5-5");
    expect(config?.agents.get("ana")?.policy).toBe("nexo");
  });

  test("a name such as __proto__ is a name like any other", () => {
    const config = configOf("agents: { __proto__: { policy: none }, constructor: {} }");
    expect([...config.agents.keys()]).toEqual(["__proto__", "constructor"]);
    expect(problemsOf("__proto__: { x: 1 }\nconstructor: 1")).toHaveLength(2);
  });
});

describe("models that the user describes", () => {
  test("a mistake has its line", () => {
    const yaml = `models:
  add:
    mine:
      provider: garage
    other:
      provider: garage
      window: many
`;
    expect(problemsOf(yaml)).toEqual([expect.stringMatching(/^7:15: models: other\.window /)]);
    const odd = "models:\n  override:\n    claude-haiku-4-5:\n      status: dead\n  add: {}\n";
    expect(problemsOf(odd)).toEqual([expect.stringMatching(/^4:15: models: claude-haiku-4-5\./)]);
  });

  test("an alias for itself or in a circle is an error", () => {
    expect(problemsOf("models: { aliases: { fast: fast } }")).toEqual([
      "1:28: models.aliases.fast stands for fast, which is itself; name a model",
    ]);
    expect(problemsOf("models: { aliases: { a: b, b: a } }")).toEqual([
      "1:25: models.aliases.a stands for b, which is another alias; name a model",
      "1:31: models.aliases.b stands for a, which is another alias; name a model",
    ]);
  });
});

describe("headers", () => {
  test.each(["béta☃", "a b", "a\nb", "x;y", "a, b c"])("%j is not a list of betas", (beta) => {
    for (const key of ["beta_header", "long_ttl_beta_header"]) {
      const yaml = `context_optimization: { prompt_cache: { ${key}: ${JSON.stringify(beta)} } }`;
      expect(problemsOf(yaml)).toEqual([
        expect.stringContaining("must be beta names of letters, digits, dashes, dots and colons"),
      ]);
    }
  });

  test.each(["transfer-encoding", "Upgrade", "keep-alive", "Connection", "content-length", "host"])(
    "%s cannot be set",
    (name) => {
      const yaml = `providers: { a: { kind: anthropic, headers: { ${name}: x } } }`;
      expect(problemsOf(yaml)).toEqual([
        expect.stringContaining(`providers.a.headers.${name} is a header of the connection`),
      ]);
    },
  );
});

describe("paths", () => {
  test("are relative to the file's folder, or to home", () => {
    const more = { homeFolder: "/srv/ana" };
    expect(configOf("ledger: { store: ./x/ledger.db }").ledger.store).toBe("/srv/ana/x/ledger.db");
    expect(configOf("ledger: { store: ~/l.db }", more).ledger.store).toBe("/srv/ana/l.db");
    expect(configOf("ledger: { store: /l.db }").ledger.store).toBe("/l.db");
    const url = "postgres://u:p@h:5432/d";
    expect(configOf(`ledger: { store: '${url}' }`).ledger.store).toBe(url);
  });

  test.each(["mysql://u:secret-word@h/d", ":memory:", "host=h password=secret-word"])(
    "%s is not a place for a ledger, and its password is not repeated",
    (store) => {
      const [problem = ""] = problemsOf(`ledger: { store: '${store}' }`);
      expect(problem).toMatch(/must be a path or a PostgreSQL connection string/);
      expect(problem).not.toContain("secret-word");
    },
  );

  test("in a variable are absolute: it is read in every folder", () => {
    expect(configOf("", { env: { STRATA_STORE: "/l.db" } }).ledger.store).toBe("/l.db");
    expect(problemsOf("", { env: { STRATA_STORE: "l.db" } })).toEqual([
      "STRATA_STORE: ledger.store must be a path or a PostgreSQL connection string; correct it, or remove it",
    ]);
  });
});

test("a name of sixty thousand characters is reported without a pause, and many guidances with few warnings", () => {
  // Each problem below the name repeats its path: finding the last part of it must not try every place.
  const name = "a".repeat(60_000);
  expect(problemsOf(`agents: { ${name}: { model: [1], role: [1] } }`).length).toBeGreaterThan(1);
  const many = Array.from({ length: 500 }, (_, at) => `    m${at}: x\n`).join("");
  expect(problemsOf(`models:\n  guidance:\n${many}`)).toHaveLength(20);
});

/** The providers whose settings are listed. */
function shown(env: Record<string, string>): readonly string[] {
  const paths = read("", { env }).settings.map(({ path }) => path);
  const ofProviders = paths.filter((path) => path.startsWith("providers."));
  return [...new Set(ofProviders.map((path) => path.split(".")[1] ?? ""))];
}
