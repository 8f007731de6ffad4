// strata.yaml and variables of the environment, as texts and as files; routing with what they say.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import {
  plantedKey,
  plantedOpenaiKey,
  plantedPassword,
  plantedToken,
  plantedUrl,
} from "../../../harness/planted-key.ts";
import type { Random } from "../../../harness/random-message.ts";
import { describeProblem, type ConfigProblem } from "../../../src/core/config/config-problem.ts";
import type { Environment } from "../../../src/core/config/environment.ts";
import { readConfig, type ReadConfig } from "../../../src/core/config/read-config.ts";
import { describeSettings } from "../../../src/core/config/settings.ts";
import { findModel } from "../../../src/core/models/resolve-model.ts";
import { decideRoute, type RouteTurn } from "../../../src/core/routing/decide-route.ts";
import { loadConfig } from "../../../src/edge/config/load-config.ts";
import { openConfig } from "../../../src/edge/config/open-config.ts";
import { parseYaml } from "../../../src/edge/config/parse-yaml.ts";
import type { OpenDoor, Outcome, Refusal } from "../door.ts";
import {
  keysIn,
  mutateJson,
  mutateText,
  oddJson,
  oddText,
  pick,
  size,
  some,
  type Json,
} from "../mutate.ts";
import { canaryFile, putOddFile } from "../odd-files.ts";

const sample = `llm:
  context_optimization:
    prompt_cache:
      enabled: true
    compaction:
      enabled: true
      compact_at_pct: 0.7
agents:
  bob:
    policy: tail-1h
    context_optimization:
      prompt_cache: false
models:
  default: claude-sonnet-5-5
  aliases:
    fast: claude-haiku-4-5
providers:
  anthropic:
    api_key: ${plantedKey}
  garage:
    kind: openai-compatible
    base_url: https://garage.example:8000/v1
    api_key: ${plantedOpenaiKey}
    headers:
      x-team: search
      x-secret: ${plantedToken}
    timeouts:
      first_byte_ms: 30000
ledger:
  store: "${plantedUrl}"
routing:
  rules:
    - when: { has_images: true, tokens_min: 100000 }
      model: claude-opus-5-5
  patterns:
    - match: "^/deep\\\\b"
      model: claude-opus-5-5
  workspace_default: claude-sonnet-5-5
tools:
  toolset: full
  confirm: [write, execute]
sub_agents:
  enabled: true
memory:
  mode: snapshot-delta
skills:
  global_root: /srv/skills
gateway:
  keys:
    ana:
      sha256: ${"0f".repeat(32)}
      models: [claude-sonnet-5-5]
      budget: { day_usd: 5, month_usd: 60.5 }
      rate: { requests_per_minute: 60, concurrent: 4 }
    ben: { key_env: BEN_KEY, other_requests: true }
  upstreams:
    anthropic: { key_file: keys/anthropic.key }
`;

/** With secrets where they do not belong. */
const careless = sample
  .replace("https://garage", `https://ana:${encodeURIComponent(plantedPassword)}@garage`)
  .replace("8000/v1", `8000/v1?token=${plantedToken}`)
  .replace(/sha256: \w+/, `sha256: ${plantedKey}`);

const value: Json = parse(sample);
const settings = describeSettings();
const known = [...new Set([...keysIn(value), ...settings.flatMap(({ path }) => path.split("."))])];
const variables = settings
  .filter(({ isInEnvironment }) => isInEnvironment)
  .map(({ path }) => `STRATA_${path.toUpperCase().replaceAll(".", "__")}`);

export function openTexts(): OpenDoor {
  return {
    attempt: (random) => {
      const files = [makeText(random), ...(random() < 0.2 ? [makeText(random)] : [])].map(
        (text, index) => parseYaml(text, { file: `${index}/strata.yaml`, isFound: random() < 0.3 }),
      );
      const roots = files.flatMap(({ root }) => root ?? []);
      const env = makeEnvironment(random);
      const read = readConfig({ files: roots, env, homeFolder: "/home/ana" });
      return judge(random, read, [...files.flatMap(({ problems }) => problems), ...read.problems]);
    },
  };
}

function makeText(random: Random): string {
  const kind = random();
  if (kind < 0.4) return withWholeSecrets(mutateJson(random, value, known));
  if (kind < 0.65) return withWholeSecrets(mutateText(random, random() < 0.7 ? sample : careless));
  if (kind < 0.8) return settingLines(random);
  if (kind < 0.85) return sample;
  if (kind < 0.9) return oddJson(random, known);
  if (kind < 0.93) return patternText(random);
  return bomb(random);
}

const secrets = [plantedKey, plantedOpenaiKey, plantedToken, encodeURIComponent(plantedPassword)];

/** Removes pieces of a secret that was cut: nothing can know them among other words. */
function withWholeSecrets(text: string): string {
  const marked = secrets.reduce(
    (rest, secret, at) => rest.replaceAll(secret, `\u241e${at}\u241e`),
    text,
  );
  const rest = secrets.reduce(
    (left, secret) => left.replaceAll(secret.slice(-8), "").replaceAll(secret.slice(0, 8), ""),
    marked.replaceAll(word, ""),
  );
  return rest.replace(/\u241e(\d)\u241e/g, (_, at: string) => secrets[Number(at)] ?? "");
}

/** The word that planted secrets repeat. */
const word = plantedToken.slice(0, plantedToken.length / 4);

/** Settings by their real paths, with odd values. */
function settingLines(random: Random): string {
  const lines = some(random, 5, () => {
    const { path } = pick(random, settings);
    const parts = path
      .split(".")
      .map((part) =>
        part === "NAME" ? pick(random, ["bob", "garage", "__proto__", oddText(random)]) : part,
      );
    const text =
      random() < 0.5
        ? oddJson(random, known)
        : pick(random, ["true", "1e12", "0.5", "-1", "fast", plantedKey]);
    return `${parts.map((part) => `{${JSON.stringify(part)}: `).join("")}${text}${"}".repeat(parts.length)}`;
  });
  return lines[0] ?? "";
}

/** Regular expressions that take exponential time where they are matched by trying. */
const bombs = [
  "(a+)+$",
  ".*.*.*.*zqxj",
  "(x+x+)+y",
  "^(\\\\w+\\\\s?)*$",
  "(a|aa)+$",
  "(.*a){20}",
  "(?:a?){30}a{30}",
  "[",
  "(?<=a+)b",
  "\\\\p{L}+\\\\d{1,9999}",
];

function patternText(random: Random): string {
  const patterns = some(
    random,
    4,
    () => `    - { match: "${pick(random, bombs)}", model: claude-opus-5-5 }`,
  );
  return `routing:\n  patterns:\n${patterns.join("\n")}\n`;
}

function bomb(random: Random): string {
  const many = size(random, 3000);
  return pick(random, [
    `a: &a [x,x,x]\nb: &b [*a,*a,*a]\nc: [*b,*b,*b]\n`,
    "# comment\n".repeat(many),
    `${"[".repeat(many)}${"]".repeat(many)}`,
    `${"{a: ".repeat(many)}${"}".repeat(many)}`,
    `${"- ".repeat(many)}x`,
    Array.from({ length: many }, (_, at) => `k${at}: ${at}`).join("\n"),
    `models:\n  aliases:\n${Array.from({ length: many }, (_, at) => `    a${at}: a${at + 1}`).join("\n")}`,
    `? ${"? ".repeat(many)}x`,
    `a: !!js/function "x"\n--- second\n`,
    `"${"\\\\u0041".repeat(many)}": 1`,
    `a: |\n${"  x\n".repeat(many)}`,
    `${" ".repeat(many)}a: 1\n\tb: 2`,
  ]);
}

function makeEnvironment(random: Random): Environment {
  const named = some(random, random() < 0.6 ? 0 : 3, () => {
    const name = random() < 0.8 ? pick(random, variables) : `STRATA_${oddText(random)}`;
    return [
      name.replace("NAME", pick(random, ["BOB", "GARAGE", ""])),
      random() < 0.5 ? oddText(random) : pick(random, ["true", "1e12", "read-only", plantedUrl]),
    ] as const;
  });
  return {
    ANTHROPIC_API_KEY: plantedKey,
    OPENAI_API_KEY: plantedOpenaiKey,
    ...(random() < 0.1
      ? { ANTHROPIC_BASE_URL: `https://u:${plantedToken}@${oddText(random)}` }
      : {}),
    ...(random() < 0.1 ? { STRATA_STORE: plantedUrl + oddText(random) } : {}),
    ...Object.fromEntries(named),
  };
}

function judge(
  random: Random,
  read: Pick<ReadConfig, "config" | "settings">,
  problems: readonly ConfigProblem[],
): Outcome {
  const refusals = problems.map(({ severity, message, hint }): Refusal => ({
    code: message === "" ? undefined : severity,
    hint,
  }));
  const outputs = [...problems.map(describeProblem), JSON.stringify(read.settings)];
  if (read.config === null) return { isAccepted: false, outputs, refusals };
  const wishes = {
    message: null,
    sticky: null,
    routing: read.config.routing,
    delegate: null,
    globalDefault: null,
    isChosen: false,
  };
  const facts = {
    find: (name: string) => findModel(name)?.facts ?? null,
    isReachable: () => true,
    isCurrent: () => false,
    isTooSmall: () => false,
    cachesPrompts: () => true,
    failed: () => null,
  };
  decideRoute(
    { ...turn, words: `${pick(random, ["a", "x", "word "]).repeat(size(random, 3000))}!` },
    wishes,
    facts,
  );
  return { isAccepted: true, outputs, refusals };
}

const turn: RouteTurn = {
  agent: "bob",
  role: "unified",
  words: "",
  hasImages: false,
  hasEarlierImages: false,
  promptTokens: 10,
  needsTools: false,
  needsSystemPrompt: false,
  needsStructuredOutput: false,
};

export function openFiles(folder: string): OpenDoor {
  const path = join(folder, "strata.yaml");
  const canary = canaryFile(folder);
  const plain = sample.slice(0, sample.indexOf("providers:"));
  return {
    reset: () => rmSync(path, { recursive: true, force: true }),
    attempt: async (random) => {
      const files = [{ path, isFound: random() < 0.5, isNamed: random() < 0.3 }];
      const env = makeEnvironment(random);
      const reported: ConfigProblem[] = [];
      if (random() < 0.95)
        putOddFile(
          random,
          path,
          pick(random, [sample, careless, plain, plain]),
          canary,
          withWholeSecrets,
        );
      if (random() < 0.5) {
        const loaded = await loadConfig({ files, env });
        return judge(random, loaded, loaded.problems);
      }
      const seen: string[] = [];
      const live = await openConfig({
        files,
        env,
        onProblem: (problem) => seen.push(problem.message, problem.hint),
      });
      putOddFile(random, path, sample, canary, withWholeSecrets);
      await live.current();
      const judged = judge(random, live.latest(), reported);
      return {
        ...judged,
        outputs: [...judged.outputs, ...seen],
        refusals: seen.map((hint) => ({ code: "reported", hint })),
      };
    },
  };
}
